// Any bytes are either a pickle of tensors or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "libs/checkpoint/pickle.h"
#include "samlet/error.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using samlet::ErrorCode;
  try {
    for (const auto& tensor : samlet::checkpoint::read_pickle({data, size})) {
      if (tensor.shape.size() != tensor.strides.size() || tensor.storage_offset < 0) std::abort();
    }
  } catch (const samlet::Error& error) {
    if (error.code() != ErrorCode::kModelDamaged && error.code() != ErrorCode::kModelUnsupported)
      std::abort();
  }
  return 0;
}
