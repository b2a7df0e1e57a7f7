#include "models/sam3/arch/staging_folder.h"

#include <cstdlib>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void cannot(std::string_view what, const fs::path& path, const std::error_code& why) {
  throw Error(ErrorCode::kIo, fmt::format("cannot {} '{}': {}", what, path_to_utf8(path), why.message()));
}

/// "models/sam3/" names the same folder as "models/sam3".
fs::path without_trailing_slash(const fs::path& path) {
  return path.has_filename() ? path : path.parent_path();
}

/// Whether an export writes files of that name.
bool is_exported_name(const std::string& name) {
  const bool graph = name.starts_with("sam3_") && (name.ends_with(".onnx") || name.ends_with(".onnx.data"));
  return graph || name == kManifestFile;
}

/// Something in the folder that no export wrote, which must not go away with it; empty when there is nothing.
fs::path foreign_entry(const fs::path& folder) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    std::error_code ignored;
    if (!entry.is_regular_file(ignored) || !is_exported_name(path_bytes(entry.path().filename())))
      return entry.path();
  }
  if (failed) cannot("read the folder", folder, failed);
  return {};
}

/// A new, empty, private folder beside `target`.
fs::path make_beside(const fs::path& target) {
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  std::error_code failed;
  fs::create_directories(parent, failed);
  if (failed) cannot("make the folder", parent, failed);
  std::string name = path_bytes(parent / ".samlet-export-XXXXXX");
  if (::mkdtemp(name.data()) == nullptr) cannot("write in", parent, {errno, std::generic_category()});
  return name;
}

/// A folder that cannot be renamed over, which would show only when all is done.
void refuse_fixed_folder(const fs::path& folder) {
  std::error_code failed;
  const fs::path here = fs::canonical(folder, failed);
  const bool is_fixed = fs::equivalent(folder, fs::current_path(failed), failed) ||
                        here == here.root_path() ||
                        stamp_of(here).device != stamp_of(here.parent_path()).device;
  if (!is_fixed) return;
  throw Error(
      ErrorCode::kIo,
      fmt::format(
          "'{}' is the current folder or a mount point, which an export cannot take the place of; name a "
          "folder in it, for example '{}'",
          path_to_utf8(folder), path_to_utf8(folder / "sam3")));
}

}  // namespace

void refuse_taken_folder(const fs::path& target, bool overwrite) {
  if (target.empty()) throw Error(ErrorCode::kUsage, "no folder to export to was named; give --out FOLDER");
  std::error_code failed;
  const fs::path folder = without_trailing_slash(target);
  constexpr std::size_t kLongestName = 255;  // of all usual file systems
  if (path_bytes(folder.filename()).size() > kLongestName) {
    throw Error(ErrorCode::kIo, fmt::format("the folder's name has {} bytes, {} are the most there can be",
                                            path_bytes(folder.filename()).size(), kLongestName));
  }
  const fs::file_status status = fs::symlink_status(folder, failed);
  if (!fs::exists(status)) return;
  if (fs::is_symlink(status)) {
    throw Error(ErrorCode::kIo, fmt::format("'{}' is a link; name the folder itself", path_to_utf8(folder)));
  }
  if (!fs::is_directory(status)) {
    throw Error(ErrorCode::kIo,
                fmt::format("'{}' exists and is no folder; choose another name", path_to_utf8(folder)));
  }
  refuse_fixed_folder(folder);
  if (fs::is_empty(folder, failed)) return;
  if (overwrite) {
    const fs::path foreign = foreign_entry(folder);
    if (foreign.empty()) return;
    throw Error(ErrorCode::kIo,
                fmt::format("'{}' holds '{}', which no export wrote; --overwrite replaces model folders "
                            "only, so choose another folder",
                            path_to_utf8(folder), path_to_utf8(foreign.filename())));
  }
  throw Error(ErrorCode::kIo,
              fmt::format("the folder '{}' exists already; choose another one, or give --overwrite to "
                          "replace it with all that is in it",
                          path_to_utf8(folder)));
}

StagingFolder::StagingFolder(const fs::path& target, bool overwrite)
    : target_(without_trailing_slash(target)), overwrite_(overwrite) {
  refuse_taken_folder(target_, overwrite_);
  path_ = make_beside(target_);
}

StagingFolder::~StagingFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

void StagingFolder::give_name(const CancelToken& cancel) {
  refuse_taken_folder(target_, overwrite_);
  cancel.check();
  std::error_code failed;
  // mkdtemp's folder is for its owner alone; the export is a folder like any other.
  fs::permissions(path_,
                  fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                      fs::perms::others_read | fs::perms::others_exec,
                  failed);
  fs::path aside;  // where a folder that is replaced waits
  if (overwrite_ && fs::exists(target_, failed)) {
    aside = make_beside(target_);
    fs::rename(target_, aside / "replaced", failed);
    if (failed) {
      std::error_code ignored;
      fs::remove(aside, ignored);
      cannot("replace", target_, failed);
    }
  }
  fs::rename(path_, target_, failed);
  if (failed) {
    std::error_code ignored;
    if (!aside.empty()) {
      fs::rename(aside / "replaced", target_, ignored);
      fs::remove(aside, ignored);  // not what is in it, should it not have come back
    }
    cannot("make the folder", target_, failed);
  }
  path_ = aside;  // what is removed at the end
}

}  // namespace samlet::sam3
