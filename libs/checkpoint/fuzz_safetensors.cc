// Any bytes are either the tensors of a safetensors file, which can be read to their ends, or refused.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "libs/checkpoint/safetensors.h"
#include "samlet/error.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using samlet::ErrorCode;
  try {
    for (const auto& tensor : samlet::checkpoint::read_safetensors({data, size})) {
      if (tensor.bytes() != tensor.data.size()) std::abort();
      if (tensor.type.name.starts_with('f') && tensor.type.dtype) {
        (void)samlet::checkpoint::floats_of(tensor, nullptr).values();
      }
    }
  } catch (const samlet::Error& error) {
    if (error.code() != ErrorCode::kModelDamaged && error.code() != ErrorCode::kModelUnsupported)
      std::abort();
  }
  return 0;
}
