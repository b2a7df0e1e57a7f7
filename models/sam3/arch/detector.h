// The concept detector's parts, each a function from values to values. B = prompts, N = box slots, K = 32 + N
// + 1 prompt tokens, L = g*g image tokens, Q = queries, D = width. Tensors with batch 1 serve every prompt.
#pragma once

#include <optional>

#include "libs/nn/blocks.h"
#include "models/sam3/arch/dimensions.h"

namespace samlet::sam3 {

/// What the parts have in common.
struct DetectorContext {
  nn::Context nn;
  nn::WeightSource& weights;
  const DetectorDimensions& dimensions;
  std::int64_t grid = 0;  // g
};

/// Prompt tokens with the additive bias that hides the unused ones.
struct Prompt {
  onnx::Value tokens;    // f32 [B, K, D]
  onnx::Value masked;    // bool [B, K], True = unused
  onnx::Value key_bias;  // f32 [B, 1, 1, K]
};

/// Exemplar boxes as the graph takes them.
struct BoxInputs {
  onnx::Value coords;  // f32 [B, N, 4] cx, cy, w, h in 0..1
  onnx::Value labels;  // i64 [B, N] 1 positive, 0 negative
  onnx::Value unused;  // bool [B, N]
};

/// The image as every part sees it: backbone_fpn_2 as tokens and as a map, and its position map.
struct ImageTokens {
  onnx::Value tokens;    // f32 [1, L, D]
  onnx::Value map;       // [1, D, g, g]
  onnx::Value position;  // f32 [1, L, D]
};

/// The geometry encoder: one token a box, then the class token, which is there for every prompt. Fixed slots
/// and a mask stand in for the compaction of Meta's code; nothing depends on the order of prompt tokens.
/// Returns tokens [B, N + 1, D] and their mask [B, N + 1].
struct GeometryTokens {
  onnx::Value tokens;
  onnx::Value masked;
};
GeometryTokens geometry_encoder(const DetectorContext& context, const BoxInputs& boxes,
                                const ImageTokens& image);

/// Text features f32 [B, 32, D] and mask bool [B, 32], then geometry tokens.
Prompt join_prompt(const DetectorContext& context, const onnx::Value& text, const onnx::Value& text_masked,
                   const GeometryTokens& geometry);

/// Fusion layer 0 up to and with its self-attention, which no prompt has a part in: f32 [1, L, D].
onnx::Value fusion_embed(const DetectorContext& context, const ImageTokens& image);
/// The rest of the fusion encoder: memory f32 [B, L, D].
onnx::Value fusion_encoder(const DetectorContext& context, const onnx::Value& embed, const ImageTokens& image,
                           const Prompt& prompt);

struct Detections {
  onnx::Value states;    // f32 [B, Q, D], the last layer's queries after the output norm
  onnx::Value boxes;     // f32 [B, Q, 4] cx, cy, w, h in 0..1
  onnx::Value presence;  // f32 [B, 1], probability
};
Detections detector_decoder(const DetectorContext& context, const onnx::Value& memory,
                            const ImageTokens& image, const Prompt& prompt);

/// sigmoid(class logit) * presence, f32 [B, Q].
onnx::Value detection_scores(const DetectorContext& context, const Detections& detections,
                             const Prompt& prompt);
/// [..., cx, cy, w, h] -> [..., x1, y1, x2, y2]
onnx::Value corners(onnx::Builder& graph, const onnx::Value& boxes);

}  // namespace samlet::sam3
