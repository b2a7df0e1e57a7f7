// Any text is either an index whose shards lie in its folder or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "libs/checkpoint/shard_index.h"
#include "samlet/error.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto index = samlet::checkpoint::read_shard_index({reinterpret_cast<const char*>(data), size});
    for (const std::string& shard : index.shards) {
      if (shard.find('/') != std::string::npos || shard == "..") std::abort();
    }
    for (const auto& [tensor, shard] : index.tensors) {
      if (shard >= index.shards.size()) std::abort();
    }
  } catch (const samlet::Error& error) {
    if (error.code() != samlet::ErrorCode::kModelDamaged) std::abort();
  }
  return 0;
}
