#include "models/sam3/folder.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "models/sam3/aliases.h"
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

/// Files that stand for nothing else: other families have image encoders and decoders too, but no pair of
/// encoders.
bool has_any(const fs::path& folder, GraphKind kind) {
  const auto names = files_of(kind);
  return std::any_of(names.begin(), names.end(),
                     [&](std::string_view name) { return is_there(folder / name); });
}

}  // namespace

std::string folder_name(const fs::path& folder) {
  std::error_code failed;
  const fs::path absolute = fs::canonical(folder, failed);
  return path_to_utf8((failed ? folder : absolute).filename());
}

bool recognises(const fs::path& folder) {
  return is_there(folder / kManifestFile) || is_there(folder / kImageEncoderFile) ||
         is_there(folder / kDecoderFile) || is_there(folder / kLanguageEncoderFile) ||
         (has_any(folder, GraphKind::kImageEncoder) && has_any(folder, GraphKind::kLanguageEncoder));
}

Folder open_folder(const fs::path& folder, const std::string& text_encoder, const fs::path& aliases) {
  if (is_there(folder / kManifestFile)) {
    if (aliases.empty()) return open_v1(folder, text_encoder);
    throw Error(ErrorCode::kUsage,
                fmt::format("'{}' has a {}, which says what its tensors are; leave the alias file out",
                            path_to_utf8(folder), kManifestFile));
  }
  // v0.3.0 has three graphs of known names; anything else has to be looked at more closely.
  const bool has_others = has_any(folder, GraphKind::kPointDecoder) ||
                          !(is_there(folder / kImageEncoderFile) && is_there(folder / kDecoderFile));
  if (!aliases.empty() || (has_others && has_any(folder, GraphKind::kImageEncoder)))
    return open_v050(folder, text_encoder, aliases);
  try {
    return open_v030(folder, text_encoder);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kModelUnsupported) throw;
    return open_v050(folder, text_encoder, aliases);
  }
}

}  // namespace samlet::sam3
