#include "models/sam3/folder.h"

#include <system_error>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "models/sam3/contract.h"
#include "models/sam3/folder_layouts.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

/// Also for a link that leads nowhere: what is wrong with it is said when it is read.
bool is_there(const fs::path& path) {
  std::error_code failed;
  const fs::file_status status = fs::symlink_status(path, failed);
  // Nothing is known of what is in a folder that may not be looked into, least of all that it is empty.
  if (failed == std::errc::permission_denied) {
    throw Error(ErrorCode::kIo, fmt::format("cannot look into the folder '{}': {}; change its permissions",
                                            path_to_utf8(path.parent_path()), failed.message()));
  }
  return fs::exists(status);
}

}  // namespace

std::string folder_name(const fs::path& folder) {
  std::error_code failed;
  const fs::path absolute = fs::canonical(folder, failed);
  return path_to_utf8((failed ? folder : absolute).filename());
}

bool recognises(const fs::path& folder) {
  return is_there(folder / kManifestFile) || is_there(folder / kImageEncoderFile) ||
         is_there(folder / kDecoderFile) || is_there(folder / kLanguageEncoderFile);
}

Folder open_folder(const fs::path& folder, const std::string& text_encoder) {
  if (is_there(folder / kManifestFile)) return open_v1(folder, text_encoder);
  return open_v030(folder, text_encoder);
}

}  // namespace samlet::sam3
