// *.safetensors.index.json: which file beside it holds which tensor.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace samlet::checkpoint {

struct ShardIndex {
  std::vector<std::string> shards;                          ///< File names, sorted, each once.
  std::map<std::string, std::size_t, std::less<>> tensors;  ///< Tensor to its shard's place in `shards`.
};

/// The largest index that is read; one of a model with 2,000 tensors has 200 KB.
inline constexpr std::size_t kMaxIndexBytes = 100'000'000;

/// Reads the text of an index. A shard is a plain file name, so that nothing outside of the folder is opened.
/// Errors: kModelDamaged. Thread-safe.
[[nodiscard]] ShardIndex read_shard_index(std::string_view text);

}  // namespace samlet::checkpoint
