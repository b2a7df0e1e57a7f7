// The segmentation head: from the memory of a prompt and the states of its queries to mask logits.
#pragma once

#include <array>

#include "models/sam3/arch/detector.h"

namespace samlet::sam3 {

/// The part of the pixel decoder that no prompt has a part in: its convolution of a feature level, with the
/// bias. Step i of the pixel decoder is conv(feature + up2(y)) = conv(feature) + conv(up2(y)), of which this
/// is the first term. `step` 0 takes level 1 (2g), step 1 level 0 (4g). [1, D, n, n] -> [1, D, n, n]
onnx::Value mask_features(const DetectorContext& context, const onnx::Value& level, int step);

/// The prompt-free terms by step, f32 or f16 [1, D, 2g, 2g] and [1, D, 4g, 4g].
using MaskFeatures = std::array<onnx::Value, 2>;

/// mask_embed of the states: f32 [..., D] -> [..., D].
onnx::Value mask_embedding(const DetectorContext& context, const onnx::Value& states);

/// The pixel decoder for prompts [B]: memory [B, L, D] -> [B, D, 16 L] (cells of the 4g x 4g grid,
/// row-major).
onnx::Value pixel_embedding(const DetectorContext& context, const onnx::Value& memory, const Prompt& prompt,
                            const MaskFeatures& features);

/// Mask logits f32 [..., n, 16 L] from mask_embedding [..., n, D] and pixel_embedding [..., D, 16 L]. The 1x1
/// convolution instance_seg_head stands between the two; since it is linear, (W y + b) . e = y . (e W) + b .
/// e, so it is applied to the few queries instead of to every pixel.
onnx::Value mask_logits(const DetectorContext& context, const onnx::Value& embedding,
                        const onnx::Value& pixels);

}  // namespace samlet::sam3
