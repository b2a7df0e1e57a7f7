// Providers that live in a library of their own beside ONNX Runtime's: CUDA, TensorRT, OpenVINO.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samlet::ort {

/// The number after ".so." of the first name that starts with `stem` + ".so." ("libcudart" in
/// {"libcudart.so.12"} gives 12); nothing when there is none.
[[nodiscard]] std::optional<int> major_of(const std::vector<std::string>& names, std::string_view stem);

/// One sentence part for a library with versions side by side: "CUDA 12 (libcudart.so.12): found 11", "...
/// found", or nothing when `needed` does not name it. Asks the system's loader for the majors around the
/// wanted one.
[[nodiscard]] std::optional<std::string> describe_dependency(const std::vector<std::string>& needed,
                                                             std::string_view stem, std::string_view title);

/// Why the provider library `file_name` beside `library` cannot be loaded: it is not there, or the loader's
/// own words
/// ("libcudnn.so.9: cannot open shared object file") with the CUDA and cuDNN majors wanted and found. Nothing
/// when it loads; it then stays loaded. Thread-safe.
[[nodiscard]] std::optional<std::string> provider_library_problem(const std::filesystem::path& library,
                                                                  std::string_view file_name,
                                                                  std::string_view package);

}  // namespace samlet::ort
