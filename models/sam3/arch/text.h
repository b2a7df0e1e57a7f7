// The language encoders: Meta's text tower, and the small LiteText students.
#pragma once

#include "libs/nn/blocks.h"
#include "models/sam3/arch/dimensions.h"
#include "models/sam3/arch/litetext_weights.h"

namespace samlet::sam3 {

/// Every decoder has this many text slots; a shorter context is filled up with masked zeros.
inline constexpr std::int64_t kTextSlots = 32;

struct TextOutputs {
  onnx::Value features;  // f32 [B, 32, D]
  onnx::Value masked;    // bool [B, 32], True = padding (token 0)
  onnx::Value embedded;  // [B, C, width], token embeddings (with Meta's tower: before the position is added)
};

/// Meta's tower: causal, pre-norm; tokens i64 [B, C]. Padding is attended to only by padding, because it
/// comes last.
TextOutputs text_encoder(const nn::Context& context, const onnx::Value& tokens, nn::WeightSource& weights,
                         const TextDimensions& dimensions, std::int64_t width);

/// A LiteText student: no mask at all, so that padding is attended to, exactly `slots` (16 or 32) tokens at a
/// time; of the position table the first `slots` rows are used, as the authors' inference does. Weights are
/// under the published names without "detector.backbone.language_backbone.".
TextOutputs litetext_encoder(const nn::Context& context, const onnx::Value& tokens, nn::WeightSource& weights,
                             const LiteTextDimensions& dimensions, std::int64_t slots);

/// Whether tokens are padding: i64 [B, C] -> bool [B, C].
onnx::Value is_padding(onnx::Builder& graph, const onnx::Value& tokens);
/// Features [B, C, D] and mask [B, C] in the 32 slots of the decoder: zeros and True behind.
TextOutputs in_slots(onnx::Builder& graph, const onnx::Value& features, const onnx::Value& masked,
                     const onnx::Value& embedded);

}  // namespace samlet::sam3
