// Finding and opening the shared library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "libs/ort/api.h"

namespace samlet::ort {

/// An opened library. It is never unloaded: ONNX Runtime leaves threads and exit handlers behind that a later unload
/// would pull the code away from.
struct Library {
  std::filesystem::path file;  ///< links resolved
  std::string version;         ///< what the library says of itself
  const OrtApiBase* base;
};

/// The API in use and its version.
struct ApiChoice {
  const OrtApi* api;
  int version;
};

/// The newest API that the library and the compiled-in header both know; a null api when that is below the minimum.
[[nodiscard]] ApiChoice newest_api(const OrtApiBase& base);

/// Folders where package managers put libraries.
[[nodiscard]] std::vector<std::filesystem::path> system_library_folders();

/// The file that `library` (a file, or a folder that holds one) names, links resolved.
/// Errors: kDeviceUnavailable.
[[nodiscard]] std::filesystem::path resolve_library(const std::filesystem::path& library);

/// Opens the first usable library: the one named in the options and no other, or the first found beside the program,
/// in the folders of the options, in the system. Errors: kDeviceUnavailable listing each place and what was wrong.
[[nodiscard]] Library open_library(const RuntimeOptions& options, const std::filesystem::path& program_folder);

}  // namespace samlet::ort
