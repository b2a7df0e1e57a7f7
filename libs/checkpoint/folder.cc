#include "libs/checkpoint/folder.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kIndexSuffix = ".safetensors.index.json";

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_one(std::string_view digits) {
  return digits.ends_with('1') && digits.find_first_not_of('0') == digits.size() - 1;
}

bool is_candidate(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kSuffixes{kIndexSuffix, ".safetensors", ".pt", ".pth"};
  return !name.starts_with('.') && !is_one_of_several(name) &&
         std::any_of(kSuffixes.begin(), kSuffixes.end(), [&](auto suffix) { return name.ends_with(suffix); });
}

}  // namespace

bool is_one_of_several(std::string_view name) {
  constexpr std::string_view kSuffix = ".safetensors";
  if (!name.ends_with(kSuffix)) return false;
  name.remove_suffix(kSuffix.size());
  const auto of = name.rfind("-of-");
  if (of == std::string_view::npos) return false;
  const std::string_view count = name.substr(of + 4);
  const auto dash = name.substr(0, of).rfind('-');
  return is_digits(count) && !is_one(count) && dash != std::string_view::npos &&
         is_digits(name.substr(dash + 1, of - dash - 1));
}

fs::path find_checkpoint_in(const fs::path& folder) {
  std::error_code error;
  std::vector<std::string> names;
  bool shards = false;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = path_bytes(it->path().filename());
    std::error_code ignored;
    if (!it->is_regular_file(ignored)) continue;
    if (is_candidate(name)) names.push_back(name);
    shards = shards || is_one_of_several(name);
  }
  const std::string shown = path_to_utf8(folder);
  if (error)
    throw Error(ErrorCode::kIo, fmt::format("cannot read the folder '{}': {}", shown, error.message()));
  if (names.size() == 1) return folder / names[0];
  if (names.empty() && shards) {
    throw Error(ErrorCode::kModelMissing,
                fmt::format("the folder '{}' has shards of a checkpoint, but not their *{}; download it too",
                            shown, kIndexSuffix));
  }
  if (names.empty()) {
    throw Error(ErrorCode::kModelMissing,
                fmt::format("the folder '{}' has no checkpoint: no .safetensors, .pt or .pth file", shown));
  }
  std::sort(names.begin(), names.end());
  for (std::string& name : names) name = path_to_utf8(name);
  throw Error(ErrorCode::kModelUnsupported,
              fmt::format("the folder '{}' has {} checkpoints ({}); name the one you mean", shown,
                          names.size(), fmt::join(names, ", ")));
}

}  // namespace samlet::checkpoint
