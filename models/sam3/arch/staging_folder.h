// A folder that gets its name when everything in it is done.
#pragma once

#include <filesystem>

#include "samlet/cancel.h"

namespace samlet::sam3 {

/// Errors: kIo when `target` exists (other than an empty folder) and must not be replaced, is no folder, or
/// holds anything that no export wrote (a checkpoint, a picture: a folder is replaced with all that is in
/// it); kUsage when the path is empty. Cheap: meant to be asked before any work.
void refuse_taken_folder(const std::filesystem::path& target, bool overwrite);

/// A hidden folder beside the target (.samlet-export-XXXXXX), removed with all that is in it unless it was
/// given the target's name. Not thread-safe.
class StagingFolder {
 public:
  /// Makes the folders above the target where they are missing. Errors: kIo; those of refuse_taken_folder.
  StagingFolder(const std::filesystem::path& target, bool overwrite);
  ~StagingFolder();
  StagingFolder(const StagingFolder&) = delete;
  StagingFolder& operator=(const StagingFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// Renames it; a folder that is to be replaced is moved aside first and comes back when that fails.
  /// Errors: kIo; kCancelled when the token is set before.
  void give_name(const CancelToken& cancel);

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  bool overwrite_;
};

}  // namespace samlet::sam3
