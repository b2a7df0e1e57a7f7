// Files that torch.save writes: a zip archive with a pickle that describes the tensors and a member for each
// storage.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libs/checkpoint/tensor_info.h"

namespace samlet::checkpoint {

/// Whether bytes begin as torch.save's files did before version 1.6.
[[nodiscard]] bool looks_like_legacy_torch(std::span<const std::uint8_t> bytes) noexcept;

/// The tensors of a whole file, in the order of its dict; their data are views into `bytes`.
/// Errors: kModelDamaged; kModelUnsupported (TorchScript, big-endian, compressed, code to run). Thread-safe.
[[nodiscard]] std::vector<TensorInfo> read_torch_file(std::span<const std::uint8_t> bytes);

}  // namespace samlet::checkpoint
