#include "libs/checkpoint/shard_index.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/checkpoint/json.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace {

/// Files of one model; the largest published ones have a few hundred.
constexpr std::size_t kMaxShards = 1000;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kModelDamaged, fmt::format("{}; download the checkpoint again", what));
}

bool is_plain_name(std::string_view name) {
  constexpr std::size_t kLongestName = 255;
  return !name.empty() && name.size() <= kLongestName && name != "." && name != ".." &&
         name.find_first_of(std::string_view("/\\:\0", 4)) == std::string_view::npos;
}

}  // namespace

ShardIndex read_shard_index(std::string_view text) {
  if (text.size() > kMaxIndexBytes) {
    damaged(
        fmt::format("the index has {} bytes, more than the {} that are read", text.size(), kMaxIndexBytes));
  }
  const Json json = parse_json(text, "the index");
  const Json* const map = json.find("weight_map");
  if (map == nullptr || !map->is(Json::Kind::kObject) || map->items.empty()) {
    damaged("the JSON file has no weight_map, so it is no index of a checkpoint's shards");
  }
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < map->items.size(); ++i) {
    const Json& shard = map->items[i];
    if (!shard.is(Json::Kind::kString)) {
      damaged(fmt::format("the index gives no file name for the tensor '{}'", printable(map->keys[i])));
    }
    if (!is_plain_name(shard.text)) {
      damaged(fmt::format("the index names the shard '{}', which is no plain name of a file in its folder",
                          printable(shard.text.substr(0, 200))));
    }
    names.insert(shard.text);
  }
  if (names.size() > kMaxShards)
    damaged(fmt::format("the index names {} shards, more than {}", names.size(), kMaxShards));
  ShardIndex index;
  index.shards.assign(names.begin(), names.end());
  for (std::size_t i = 0; i < map->items.size(); ++i) {
    const auto at = std::lower_bound(index.shards.begin(), index.shards.end(), map->items[i].text);
    index.tensors.emplace(map->keys[i], static_cast<std::size_t>(at - index.shards.begin()));
  }
  return index;
}

}  // namespace samlet::checkpoint
