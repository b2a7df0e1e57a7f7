// The image encoder's parts: ViT trunk, and the two necks on it (spec of Meta's ViT and Sam3DualViTDetNeck).
#pragma once

#include <array>

#include "libs/nn/blocks.h"
#include "models/sam3/arch/dimensions.h"

namespace samlet::sam3 {

/// Features of one neck, finest first.
struct Pyramid {
  std::array<onnx::Value, 3> levels;  // [1, *, 4g, 4g], [1, *, 2g, 2g], [1, *, g, g]
};

/// image u8 [3, S, S] -> trunk features [1, C, g, g].
///
/// Patches stay in window order ([windows, w*w, C]) from the first block to the last: window attention needs
/// no rearranging then, and global attention, which sees a set, gets its rotary tables in the same order. The
/// grey level shift (v - 127.5) / 127.5 is folded into the patch convolution: W / 127.5, bias -sum(W).
onnx::Value vision_trunk(const nn::Context& context, const onnx::Value& image, nn::WeightSource& weights,
                         const VisionDimensions& dimensions);

/// The detector's neck, each level D channels wide. Levels 0 and 1 have their 1x1 convolution folded into the
/// transposed one before it.
Pyramid detector_neck(const nn::Context& context, const onnx::Value& trunk, nn::WeightSource& weights,
                      std::int64_t width);

/// The point decoder's neck with what follows it: conv_s0 and conv_s1 folded into the last convolutions of
/// levels 0 and 1 (D/8 and D/4 channels), no_mem_embed into the bias of level 2 (D channels).
Pyramid point_neck(const nn::Context& context, const onnx::Value& trunk, nn::WeightSource& weights,
                   std::int64_t width);

}  // namespace samlet::sam3
