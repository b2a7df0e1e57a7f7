// Which ONNX Runtime libraries a machine has: for choosing one, and for saying which others are there.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "libs/ort/session.h"

namespace samlet::ort {

/// A library file that was found, not opened.
struct FoundLibrary {
  std::filesystem::path file;  ///< Links resolved.
  std::string version;         ///< As far as its name tells: "1.32.0", "1.21", or empty.
};

/// The onnxruntime/capi folders of the Pythons below a prefix (a virtual environment, a conda environment):
/// <prefix>/lib/python3*/site-packages/onnxruntime/capi, newest Python first; only those that exist. Runs
/// nothing. Thread-safe.
[[nodiscard]] std::vector<std::filesystem::path> python_site_packages(const std::filesystem::path& prefix);

/// The libonnxruntime.so* files of one folder, highest version first; empty when the folder cannot be read.
/// Links to the same file count once. Thread-safe.
[[nodiscard]] std::vector<FoundLibrary> libraries_in(const std::filesystem::path& folder);

/// The folders that are tried beside a program: its own, ../lib and ../lib/samlet. Thread-safe.
[[nodiscard]] std::vector<std::filesystem::path> folders_beside(const std::filesystem::path& program_folder);

/// The folder of the running program; empty when the system does not tell. Thread-safe.
[[nodiscard]] std::filesystem::path program_folder();

/// All libraries that a search could meet, in this order and each once: beside the running program, the
/// folders of `search`, those of `ld_library_path` (colons between, as in the environment variable), and the
/// system's. Relative and empty folders are left out. For a report; more than one is a common cause of
/// surprise. Thread-safe.
[[nodiscard]] std::vector<FoundLibrary> find_libraries(const std::vector<std::filesystem::path>& search,
                                                       std::string_view ld_library_path);

/// False for a device whose code was never run, for lack of such a machine. For a report. Thread-safe.
[[nodiscard]] bool is_tested(Device device) noexcept;

}  // namespace samlet::ort
