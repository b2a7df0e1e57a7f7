// What the two halves of the SAM 3 family share: file names and tensor names. S = side of the model's
// picture, g = S / 14, D = width of the detector (256), N = exemplar box slots, C = tokens of a phrase.
#pragma once

#include <string_view>

namespace samlet::sam3 {

inline constexpr std::string_view kFamily = "sam3";

inline constexpr std::string_view kImageEncoderFile = "sam3_image_encoder.onnx";
inline constexpr std::string_view kLanguageEncoderFile = "sam3_language_encoder.onnx";
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

}  // namespace samlet::sam3
