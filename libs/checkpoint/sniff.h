// What kind of file a checkpoint is, by its content; and what people have instead of one.
#pragma once

#include <cstdint>
#include <span>

namespace samlet::checkpoint {

enum class FileKind { kSafetensors, kTorchZip, kShardIndex };

/// Errors: kModelDamaged with a sentence that says what the bytes are instead (nothing, a Git LFS pointer, a
/// web page,
/// ...); kModelUnsupported for files of torch before 1.6 and other formats of weights. Thread-safe.
[[nodiscard]] FileKind sniff(std::span<const std::uint8_t> bytes);

}  // namespace samlet::checkpoint
