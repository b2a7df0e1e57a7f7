#include "apps/cli/picture_source.h"

#include <unistd.h>

#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet::cli {

bool is_standard_input(const std::filesystem::path& picture) {
  return picture == std::filesystem::path(kStandardInput);
}

std::string picture_name(const std::filesystem::path& picture) {
  return is_standard_input(picture) ? std::string("standard input") : path_to_utf8(picture);
}

Picture read_picture_argument(const std::filesystem::path& picture, const DecodeOptions& options) {
  if (!is_standard_input(picture)) return read_picture(picture, options);
  if (::isatty(STDIN_FILENO) == 1) {
    throw Error(
        ErrorCode::kUsage,
        "standard input is a terminal; pipe a picture into it, or name a file (./- is a file named -)");
  }
  const auto bytes = read_standard_input(options.max_bytes, options.cancel);
  try {
    return decode_picture(bytes, options);
  } catch (const Error& error) {
    throw error.with_context(picture_name(picture));
  }
}

LogSink collect_warnings(std::vector<std::string>& warnings) {
  return [&warnings](LogLevel level, std::string_view message) {
    if (level == LogLevel::kWarning) warnings.emplace_back(message);
  };
}

}  // namespace samlet::cli
