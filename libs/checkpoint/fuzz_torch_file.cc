// Any bytes are either the tensors of a torch.save file, which can be read to their ends, or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "libs/checkpoint/torch_file.h"
#include "samlet/error.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using samlet::ErrorCode;
  try {
    // Many tensors may share one storage; reading them all would only be slow.
    std::uint64_t budget = std::uint64_t{1} << 20;
    for (const auto& tensor : samlet::checkpoint::read_torch_file({data, size})) {
      if (tensor.bytes() > budget || !tensor.type.dtype || !tensor.type.name.starts_with('f')) continue;
      budget -= tensor.bytes();
      if (samlet::checkpoint::floats_of(tensor, nullptr).values().size() != tensor.count()) std::abort();
    }
  } catch (const samlet::Error& error) {
    if (error.code() != ErrorCode::kModelDamaged && error.code() != ErrorCode::kModelUnsupported)
      std::abort();
  }
  return 0;
}
