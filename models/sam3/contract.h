// What the two halves of the SAM 3 family share: file names and tensor names. S = side of the model's
// picture, g = S / 14, D = width of the detector (256), N = exemplar box slots, C = tokens of a phrase.
#pragma once

#include <string_view>

namespace samlet::sam3 {

inline constexpr std::string_view kFamily = "sam3";

inline constexpr std::string_view kImageEncoderFile = "sam3_image_encoder.onnx";
inline constexpr std::string_view kLanguageEncoderFile = "sam3_language_encoder.onnx";
/// With the student's name in it: s0, s1 or l.
inline constexpr std::string_view kLiteTextFilePrefix = "sam3_litetext_";
inline constexpr std::string_view kLiteTextFileSuffix = "_language_encoder.onnx";
inline constexpr std::string_view kDecoderFile = "sam3_decoder.onnx";
inline constexpr std::string_view kPointDecoderFile = "sam3_point_decoder.onnx";
/// Stands in folders of samlet's own export and says which contract version they follow.
inline constexpr std::string_view kManifestFile = "model.json";

/// The phrase that Meta's code asks for when only boxes are given.
inline constexpr std::string_view kVisualPhrase = "visual";

/// Tensor names of sam3-onnx v0.3.0. Its decoder keeps score > 0.5 inside the graph and gives mask
/// probabilities.
namespace v030 {
inline constexpr std::string_view kImage = "image";                         // u8 [3, S, S], RGB planes
inline constexpr std::string_view kPosition2 = "vision_pos_enc_2";          // f32 [1, D, g, g]
inline constexpr std::string_view kFeatures0 = "backbone_fpn_0";            // f32 [1, D, 4g, 4g]
inline constexpr std::string_view kFeatures1 = "backbone_fpn_1";            // f32 [1, D, 2g, 2g]
inline constexpr std::string_view kFeatures2 = "backbone_fpn_2";            // f32 [1, D, g, g]
inline constexpr std::string_view kTokens = "tokens";                       // i64 [1, C]
inline constexpr std::string_view kTextMask = "text_attention_mask";        // bool [1, C], True = padding
inline constexpr std::string_view kTextMemory = "text_memory";              // f32 [C, 1, D]
inline constexpr std::string_view kLanguageMask = "language_mask";          // <- text_attention_mask
inline constexpr std::string_view kLanguageFeatures = "language_features";  // <- text_memory
inline constexpr std::string_view kBoxCoords = "box_coords";  // f32 [N, 1, 4]: cx, cy, w, h in 0..1
inline constexpr std::string_view kBoxLabels = "box_labels";  // i64 [N, 1]: 1 positive, 0 negative
inline constexpr std::string_view kBoxMasks = "box_masks";    // bool [1, N], True = slot unused
inline constexpr std::string_view kBoxes = "boxes";           // f32 [n, 4]: x1, y1, x2, y2 in 0..1, unclamped
inline constexpr std::string_view kScores = "scores";         // f32 [n]
inline constexpr std::string_view kMasks = "masks";           // f32 [n, 1, 4g, 4g], probabilities
inline constexpr double kBakedThreshold = 0.5;
}  // namespace v030

/// Contract version 1, samlet's own graphs. B = prompts or objects of one call; N, P >= 1 (an unused slot
/// stands for "none"); feature tensors are f16 in folders of precision fp16, everything else keeps its type.
namespace v1 {
inline constexpr int kVersion = 1;
// Image encoder.
inline constexpr std::string_view kImage = "image";               // u8 [3, S, S], RGB planes
inline constexpr std::string_view kFeatures2 = "backbone_fpn_2";  // [1, D, g, g]
inline constexpr std::string_view kFusionEmbed =
    "fusion_embed";  // [1, g*g, D], fusion layer 0 after self-attention
inline constexpr std::string_view kMaskFeatures0 =
    "mask_fpn_0";  // [1, D, 4g, 4g], conv_layers.1 of backbone_fpn_0
inline constexpr std::string_view kMaskFeatures1 =
    "mask_fpn_1";  // [1, D, 2g, 2g], conv_layers.0 of backbone_fpn_1
inline constexpr std::string_view kPointFeatures0 = "point_fpn_0";  // [1, D/8, 4g, 4g]
inline constexpr std::string_view kPointFeatures1 = "point_fpn_1";  // [1, D/4, 2g, 2g]
inline constexpr std::string_view kPointEmbed = "point_embed";      // [1, D, g, g]
// Language encoder.
inline constexpr std::string_view kTokens = "tokens";                       // i64 [B, C]
inline constexpr std::string_view kLanguageFeatures = "language_features";  // f32 [B, 32, D]
inline constexpr std::string_view kLanguageMask = "language_mask";          // bool [B, 32], True = padding
// Decoder.
inline constexpr std::string_view kBoxCoords = "box_coords";            // f32 [B, N, 4]: cx, cy, w, h in 0..1
inline constexpr std::string_view kBoxLabels = "box_labels";            // i64 [B, N]: 1 positive, 0 negative
inline constexpr std::string_view kBoxMasks = "box_masks";              // bool [B, N], True = slot unused
inline constexpr std::string_view kScoreThreshold = "score_threshold";  // f32 []; dynamic form only
// Dynamic form: n kept instances in prompt, then query order. Static form: boxes [B, Q, 4], scores [B, Q],
// mask_logits [B, Q, 4g, 4g] of all queries, and no prompt_index.
inline constexpr std::string_view kBoxes = "boxes";    // f32 [n, 4]: x1, y1, x2, y2 in 0..1, unclamped
inline constexpr std::string_view kScores = "scores";  // f32 [n]
inline constexpr std::string_view kMaskLogits =
    "mask_logits";  // f32 [n, 4g, 4g]; point decoder: [B, 4, 4g, 4g]
inline constexpr std::string_view kPromptIndex = "prompt_index";  // i64 [n]
inline constexpr std::string_view kPresence = "presence";         // f32 [B], probability
// Point decoder. Of the four masks the first is the single-mask answer, the others are the candidates.
inline constexpr std::string_view kPointCoords =
    "point_coords";  // f32 [B, P, 2], x, y in pixels of the S x S input
inline constexpr std::string_view kPointLabels =
    "point_labels";  // i64 [B, P]: 1, 0, 2 and 3 box corners, -1 unused
inline constexpr std::string_view kMaskInput = "mask_input";      // f32 [B, 1, 4g, 4g], logits
inline constexpr std::string_view kHasMask = "has_mask";          // f32 [B], 1 = use mask_input, 0 = none
inline constexpr std::string_view kIou = "iou";                   // f32 [B, 4]
inline constexpr std::string_view kObjectScore = "object_score";  // f32 [B], logit
}  // namespace v1

}  // namespace samlet::sam3
