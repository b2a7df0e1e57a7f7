// Where a picture that is named on the command line comes from: a file, or standard input for "-".
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "samlet/image.h"

namespace samlet::cli {

inline constexpr std::string_view kStandardInput = "-";

[[nodiscard]] bool is_standard_input(const std::filesystem::path& picture);

/// "standard input", or the path.
[[nodiscard]] std::string picture_name(const std::filesystem::path& picture);

/// Reads and decodes it. Errors: those of read_picture; kUsage when standard input is a terminal, where
/// nobody types pictures.
[[nodiscard]] Picture read_picture_argument(const std::filesystem::path& picture,
                                            const DecodeOptions& options);

/// A log that appends each warning to `warnings`, which must outlive it.
[[nodiscard]] LogSink collect_warnings(std::vector<std::string>& warnings);

}  // namespace samlet::cli
