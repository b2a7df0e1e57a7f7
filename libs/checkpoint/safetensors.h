// safetensors: eight bytes that say how long the JSON header is, the header, the tensors' bytes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libs/checkpoint/tensor_info.h"

namespace samlet::checkpoint {

/// Whether bytes begin as a safetensors file does (a JSON file may have a '{' in the same place).
[[nodiscard]] bool looks_like_safetensors(std::span<const std::uint8_t> bytes) noexcept;

/// The tensors of a whole file, in the header's order; their data are views into `bytes`. As the format
/// demands, the tensors cover all bytes behind the header, each once. Errors: kModelDamaged;
/// kModelUnsupported for element types that are not known. Thread-safe.
[[nodiscard]] std::vector<TensorInfo> read_safetensors(std::span<const std::uint8_t> bytes);

}  // namespace samlet::checkpoint
