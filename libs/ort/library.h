// Finding and opening the shared library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "libs/ort/api.h"

namespace samlet::ort {

/// An opened library. It is never unloaded: ONNX Runtime leaves threads and exit handlers behind that a later
/// unload would pull the code away from.
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

/// The newest API that the library and the compiled-in header both know; a null api when that is below the
/// minimum.
[[nodiscard]] ApiChoice newest_api(const OrtApiBase& base);

/// Where a search looks, besides the folders of the options.
struct Places {
  std::filesystem::path program_folder;
  std::vector<std::string> system_names;              ///< for the system's loader to find
  std::vector<std::filesystem::path> system_folders;  ///< where package managers put libraries
};

/// Those of this machine.
[[nodiscard]] Places real_places();

/// The file that `library` (a file, or a folder that holds one) names, links resolved.
/// Errors: kDeviceUnavailable.
[[nodiscard]] std::filesystem::path resolve_library(const std::filesystem::path& library);

/// Opens the first usable library: the one named in the options and no other, or the first found beside the
/// program, in the absolute folders of the options, in the system. Errors: kDeviceUnavailable listing each
/// place and what was wrong.
[[nodiscard]] Library open_library(const RuntimeOptions& options, const Places& places);

}  // namespace samlet::ort
