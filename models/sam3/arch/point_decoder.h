// The interactive decoder: clicks, box corners and a previous mask to masks of one object (SAM's prompt
// encoder and mask decoder). B = objects, P = points, T = 6 + P + 1 tokens.
#pragma once

#include "libs/nn/blocks.h"
#include "models/sam3/arch/dimensions.h"

namespace samlet::sam3 {

struct PointInputs {
  onnx::Value features_0;  // [1, D/8, 4g, 4g]
  onnx::Value features_1;  // [1, D/4, 2g, 2g]
  onnx::Value embed;       // [1, D, g, g]
  onnx::Value coords;      // f32 [B, P, 2], x, y in pixels of the S x S input
  onnx::Value labels;      // i64 [B, P]: 1, 0, 2 and 3 = box corners, -1 = unused
  onnx::Value mask;        // f32 [B, 1, 4g, 4g], logits
  onnx::Value has_mask;    // f32 [B]
};

struct PointOutputs {
  onnx::Value mask_logits;   // f32 [B, 4, 4g, 4g], the single-mask answer first
  onnx::Value iou;           // f32 [B, 4]
  onnx::Value object_score;  // f32 [B], logit
};

/// Unused points are masked wherever they could be attended to, so that their number changes nothing; the one
/// closing "not a point" token of Meta's code is added here.
PointOutputs point_decoder(const nn::Context& context, nn::WeightSource& weights, const PointInputs& inputs,
                           const PointDimensions& dimensions, const VisionDimensions& vision);

}  // namespace samlet::sam3
