// Which layout a checkpoint has, by its names.
#pragma once

#include <span>

#include "libs/checkpoint/tensor_info.h"
#include "models/sam3/arch/weights.h"

namespace samlet::sam3 {

struct FoundLayout {
  CheckpointLayout layout = CheckpointLayout::kMeta;
  bool has_detector_prefix = true;  ///< Of kTransformers: false for a file of Sam3Model alone.
};

/// Errors: kModelUnsupported, naming the model that the names look like. Thread-safe.
[[nodiscard]] FoundLayout find_layout(std::span<const checkpoint::TensorInfo> tensors);

}  // namespace samlet::sam3
