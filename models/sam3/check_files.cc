#include <algorithm>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/base/sha256.h"
#include "models/sam3/check.h"
#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

/// What a file really is.
struct Found {
  std::uint64_t bytes = 0;
  std::string sha256;
};

class FileChecker {
 public:
  FileChecker(const fs::path& folder, const Manifest& manifest, const FolderCheckOptions& options)
      : folder_(folder), manifest_(manifest), options_(options) {}

  bool run() {
    for (const auto& [name, wanted] : manifest_.files) check(name, wanted);
    note_others();
    return sound_;
  }

 private:
  void say(const std::string& name, CheckStatus status, std::string message) {
    sound_ = sound_ && status != CheckStatus::kFailed;
    if (options_.found) options_.found({"files", name, status, std::move(message), {}});
  }

  void check(const std::string& name, const ManifestFile& wanted) {
    if (options_.step) options_.step(name);
    std::error_code failed;
    if (!fs::exists(folder_ / name, failed)) {
      say(name, CheckStatus::kFailed, fmt::format("is missing; {} bytes belong there", wanted.bytes));
      return;
    }
    try {
      compare(name, wanted);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kIo && error.code() != ErrorCode::kNotFound) throw;
      say(name, CheckStatus::kFailed, error.what());
    }
  }

  void compare(const std::string& name, const ManifestFile& wanted) {
    std::error_code failed;
    const std::uintmax_t size = fs::file_size(folder_ / name, failed);
    // A file of another length is told from a swapped one by its hash, if another file has that length.
    if (!failed && size != wanted.bytes && !of_length(size)) {
      say(name, CheckStatus::kFailed,
          fmt::format("has {} bytes instead of {}; it is {}", size, wanted.bytes,
                      size < wanted.bytes ? "cut, or another file" : "another file"));
      return;
    }
    const std::string hash = sha256_of_file(folder_ / name, options_.cancel);
    if (hash == wanted.sha256 && size == wanted.bytes) {
      say(name, CheckStatus::kPassed, fmt::format("{} bytes, sha256 as it should be", size));
    } else if (const auto owner = owner_of(hash)) {
      say(name, CheckStatus::kFailed,
          fmt::format("holds what belongs into {}; the files were swapped", *owner));
    } else if (size != wanted.bytes) {
      say(name, CheckStatus::kFailed, fmt::format("has {} bytes instead of {}", size, wanted.bytes));
    } else {
      say(name, CheckStatus::kFailed,
          fmt::format("was changed: its sha256 is {} instead of {}", hash, wanted.sha256));
    }
  }

  [[nodiscard]] bool of_length(std::uint64_t bytes) const {
    return std::any_of(manifest_.files.begin(), manifest_.files.end(),
                       [&](const auto& row) { return row.second.bytes == bytes; });
  }

  [[nodiscard]] std::optional<std::string> owner_of(const std::string& hash) const {
    const auto at = std::find_if(manifest_.files.begin(), manifest_.files.end(),
                                 [&](const auto& row) { return row.second.sha256 == hash; });
    return at == manifest_.files.end() ? std::nullopt : std::optional(at->first);
  }

  /// Files that model.json knows nothing of are never read by samlet.
  void note_others() {
    std::vector<std::string> names;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder_, failed)) {
      const std::string name = path_to_utf8(entry.path().filename());
      if (name != kManifestFile && !manifest_.files.contains(name)) names.push_back(name);
    }
    std::sort(names.begin(), names.end());
    for (const std::string& name : names)
      say(name, CheckStatus::kNote, fmt::format("is not named by {}", kManifestFile));
  }

  const fs::path& folder_;
  const Manifest& manifest_;
  const FolderCheckOptions& options_;
  bool sound_ = true;
};

}  // namespace

bool check_files(const fs::path& folder, const Manifest& manifest, const FolderCheckOptions& options) {
  return FileChecker(folder, manifest, options).run();
}

}  // namespace samlet::sam3
