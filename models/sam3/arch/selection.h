// From detections to the kept instances, inside the graph.
#pragma once

#include <functional>

#include "models/sam3/arch/mask_head.h"

namespace samlet::sam3 {

/// The instances of all prompts whose score is above the threshold, in prompt, then query order.
struct Kept {
  onnx::Value boxes;         // f32 [n, 4], x1, y1, x2, y2 in 0..1
  onnx::Value scores;        // f32 [n]
  onnx::Value prompt_index;  // i64 [n]
  onnx::Value states;        // f32 [n, D]
  onnx::Value prompts;       // i64 [m], the prompts that kept something
};

/// `threshold` is f32 [].
Kept keep_above(const DetectorContext& context, const Detections& detections, const onnx::Value& scores,
                const onnx::Value& threshold);

/// Gives the mask features inside of the loop: values of the outer graph, or nodes of the loop's body.
using MakeMaskFeatures = std::function<MaskFeatures(const DetectorContext& context)>;

/// Mask logits of the kept instances, f32 [n, 4g, 4g]. A loop runs the mask head once for each prompt that
/// kept something, so that memory does not grow with the prompts, and not at all when nothing was kept.
onnx::Value masks_of_kept(const DetectorContext& context, const Kept& kept, const onnx::Value& memory,
                          const Prompt& prompt, const MakeMaskFeatures& features);

}  // namespace samlet::sam3
