#include "models/sam3/aliases.h"

#include <algorithm>

#include "models/sam3/contract.h"

namespace samlet::sam3 {
namespace {

using enum GraphKind;
using enum Direction;
using enum Accepted;

constexpr std::array<std::string_view, 5> kImageFiles{kImageEncoderFile, "image_encoder.onnx",
                                                      "sam3_vision_encoder.onnx", "vision_encoder.onnx",
                                                      "vision-encoder.onnx"};
constexpr std::array<std::string_view, 5> kLanguageFiles{kLanguageEncoderFile, "language_encoder.onnx",
                                                         "sam3_text_encoder.onnx", "text_encoder.onnx",
                                                         "text-encoder.onnx"};
constexpr std::array<std::string_view, 4> kDecoderFiles{kDecoderFile, "sam3_detector.onnx", "decoder.onnx",
                                                        "detector.onnx"};
constexpr std::array<std::string_view, 6> kPointFiles{
    kPointDecoderFile,          "point_decoder.onnx",
    "sam3_prompt_decoder.onnx", "sam3_interactive_decoder.onnx",
    "sam3_mask_decoder.onnx",   "prompt_encoder_mask_decoder.onnx"};

// Features have the same names where they are made and where they are taken.
constexpr std::string_view kPosition2 =
    "fpn_pos_2 pos_enc_2 pos_2 position_2 vision_pos_2 vision_pos_enc.2 vision_position_encoding_2 "
    "fpn_position_encoding.2";
constexpr std::string_view kFpn0 =
    "fpn_feat_0 fpn_0 feat_0 image_features_0 detector_fpn_0 vision_features_0 backbone_fpn.0 "
    "fpn_hidden_states.0";
constexpr std::string_view kFpn1 =
    "fpn_feat_1 fpn_1 feat_1 image_features_1 detector_fpn_1 vision_features_1 backbone_fpn.1 "
    "fpn_hidden_states.1";
constexpr std::string_view kFpn2 =
    "fpn_feat_2 fpn_2 feat_2 image_features_2 detector_fpn_2 vision_features_2 backbone_fpn.2 "
    "fpn_hidden_states.2";
constexpr std::string_view kPointFpn0 =
    "high_res_feats_0 high_res_features_0 high_res_features1 sam2_fpn_0 sam2_backbone_fpn_0 tracker_fpn_0 "
    "interactive_fpn_0 point_features_0 image_embeddings.0";
constexpr std::string_view kPointFpn1 =
    "high_res_feats_1 high_res_features_1 high_res_features2 sam2_fpn_1 sam2_backbone_fpn_1 tracker_fpn_1 "
    "interactive_fpn_1 point_features_1 image_embeddings.1";
constexpr std::string_view kPointFpn2 =
    "image_embed image_embeddings image_embedding sam2_fpn_2 sam2_backbone_fpn_2 tracker_fpn_2 "
    "interactive_fpn_2 "
    "point_features_2 point_fpn_2 image_embeddings.2";

constexpr std::array kRoles{
    Role{kImageEncoder, kInput, v030::kImage, kPixels, 3, 4, true, true,
         "pixel_values images input_image pixels input x"},
    Role{kImageEncoder, kOutput, v030::kPosition2, kFeature, 4, 4, false, true, kPosition2},
    Role{kImageEncoder, kOutput, v030::kFeatures0, kFeature, 4, 4, false, true, kFpn0},
    Role{kImageEncoder, kOutput, v030::kFeatures1, kFeature, 4, 4, false, true, kFpn1},
    Role{kImageEncoder, kOutput, v030::kFeatures2, kFeature, 4, 4, false, true, kFpn2},
    Role{kImageEncoder, kOutput, v1::kFusionEmbed, kFeature, 3, 3, false, false, ""},
    Role{kImageEncoder, kOutput, v1::kMaskFeatures0, kFeature, 4, 4, false, false, ""},
    Role{kImageEncoder, kOutput, v1::kMaskFeatures1, kFeature, 4, 4, false, false, ""},
    Role{kImageEncoder, kOutput, v1::kPointFeatures0, kFeature, 4, 4, false, true, kPointFpn0},
    Role{kImageEncoder, kOutput, v1::kPointFeatures1, kFeature, 4, 4, false, true, kPointFpn1},
    Role{kImageEncoder, kOutput, v1::kPointEmbed, kFeature, 4, 4, false, true, kPointFpn2},

    Role{kLanguageEncoder, kInput, v030::kTokens, kIndices, 2, 2, true, true,
         "input_ids tokenized text_tokens token_ids text"},
    Role{kLanguageEncoder, kInput, "attention_mask", kSwitches, 2, 2, false, false, "input_mask"},
    Role{kLanguageEncoder, kOutput, v030::kTextMask, kFlags, 2, 2, false, true,
         "text_mask language_mask attention_mask text_padding_mask padding_mask"},
    Role{kLanguageEncoder, kOutput, v030::kTextMemory, kFeature, 3, 3, true, true,
         "text_features language_features text_hidden_states last_hidden_state prompt_features"},

    Role{kDecoder, kInput, v030::kPosition2, kFeature, 4, 4, false, true, kPosition2},
    Role{kDecoder, kInput, v030::kFeatures0, kFeature, 4, 4, false, true, kFpn0},
    Role{kDecoder, kInput, v030::kFeatures1, kFeature, 4, 4, false, true, kFpn1},
    Role{kDecoder, kInput, v030::kFeatures2, kFeature, 4, 4, false, true, kFpn2},
    Role{kDecoder, kInput, v1::kFusionEmbed, kFeature, 3, 3, false, false, ""},
    Role{kDecoder, kInput, v1::kMaskFeatures0, kFeature, 4, 4, false, false, ""},
    Role{kDecoder, kInput, v1::kMaskFeatures1, kFeature, 4, 4, false, false, ""},
    Role{kDecoder, kInput, v030::kLanguageMask, kFlags, 2, 2, false, true,
         "text_attention_mask text_mask prompt_mask text_padding_mask attention_mask"},
    Role{kDecoder, kInput, v030::kLanguageFeatures, kFeature, 3, 3, true, true,
         "text_memory text_features prompt_features text_hidden_states"},
    Role{kDecoder, kInput, v030::kBoxCoords, kNumbers, 3, 3, false, true,
         "input_boxes boxes bboxes box_cxcywh boxes_cxcywh box_xywh exemplar_boxes box_prompts "
         "geometric_boxes"},
    Role{kDecoder, kInput, v030::kBoxLabels, kLabels, 2, 2, false, true,
         "input_boxes_labels boxes_labels bbox_labels exemplar_labels box_signs input_labels"},
    Role{kDecoder, kInput, v030::kBoxMasks, kFlags, 2, 2, false, true,
         "box_mask boxes_mask bbox_mask exemplar_mask box_padding_mask boxes_padding_mask"},
    Role{kDecoder, kInput, v1::kScoreThreshold, kNumbers, 0, 1, false, true,
         "threshold confidence_threshold score_thresh"},
    Role{kDecoder, kOutput, v030::kBoxes, kNumbers, 2, 3, true, true, "pred_boxes boxes_xyxy bboxes"},
    Role{kDecoder, kOutput, v030::kScores, kNumbers, 1, 3, true, true,
         "pred_scores score pred_logits logits score_logits probs confidences"},
    Role{kDecoder, kOutput, v030::kMasks, kNumbers, 3, 4, true, true,
         "mask_logits pred_masks mask_probs masks_probs low_res_masks"},
    Role{kDecoder, kOutput, v1::kPresence, kNumbers, 0, 3, false, false,
         "presence_logits presence_logit presence_score presence_scores presence_prob presence_logit_dec"},

    Role{kPointDecoder, kInput, v1::kPointFeatures0, kFeature, 4, 4, false, true, kPointFpn0},
    Role{kPointDecoder, kInput, v1::kPointFeatures1, kFeature, 4, 4, false, true, kPointFpn1},
    Role{kPointDecoder, kInput, v1::kPointEmbed, kFeature, 4, 4, false, true, kPointFpn2},
    Role{kPointDecoder, kInput, v1::kPointCoords, kNumbers, 3, 4, true, true,
         "input_points points coords point_coordinates"},
    Role{kPointDecoder, kInput, v1::kPointLabels, kLabels, 2, 3, true, true, "input_labels labels"},
    Role{kPointDecoder, kInput, "point_valid", kSwitches, 2, 3, false, false, "points_valid point_mask"},
    Role{kPointDecoder, kInput, v1::kMaskInput, kNumbers, 4, 4, false, true,
         "input_masks mask_inputs prev_mask previous_mask prev_low_res_mask"},
    Role{kPointDecoder, kInput, v1::kHasMask, kSwitches, 0, 2, false, true,
         "has_mask_input has_input_mask has_input_masks use_mask"},
    Role{kPointDecoder, kInput, "multimask_output", kSwitches, 0, 1, false, false, "multimask use_multimask"},
    Role{kPointDecoder, kOutput, v1::kMaskLogits, kNumbers, 4, 5, true, true,
         "low_res_masks low_res_logits masks pred_masks logits"},
    Role{kPointDecoder, kOutput, v1::kIou, kNumbers, 2, 3, true, true,
         "iou_scores iou_predictions iou_preds ious scores"},
    Role{kPointDecoder, kOutput, v1::kObjectScore, kNumbers, 1, 3, false, false,
         "object_score_logits object_scores object_logits obj_score obj_score_logits"},
};

bool is_accepted(std::optional<DType> type, Accepted accepted) {
  const bool is_i = type == DType::kInt64 || type == DType::kInt32;
  const bool is_f32 = type == DType::kFloat32;
  switch (accepted) {
    case kPixels:
      return is_f32 || type == DType::kUInt8;
    case kFeature:
      return is_f32 || type == DType::kFloat16;
    case kNumbers:
      return is_f32;
    case kIndices:
      return is_i;
    case kLabels:
      return is_i || is_f32;
    case kFlags:
      return type == DType::kBool;
    case kSwitches:
      return is_i || is_f32 || type == DType::kBool;
  }
  return false;
}

}  // namespace

std::string_view name_of(GraphKind kind) noexcept {
  constexpr std::array<std::string_view, 4> kNames{"image_encoder", "language_encoder", "decoder",
                                                   "point_decoder"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::span<const std::string_view> files_of(GraphKind kind) noexcept {
  switch (kind) {
    case kImageEncoder:
      return kImageFiles;
    case kLanguageEncoder:
      return kLanguageFiles;
    case kDecoder:
      return kDecoderFiles;
    case kPointDecoder:
      return kPointFiles;
  }
  return {};
}

bool Role::fits(const ort::DeclaredValue& value) const noexcept {
  return is_accepted(value.dtype, accepted) && value.shape.size() >= least_rank &&
         value.shape.size() <= most_rank;
}

bool Role::is_also(std::string_view tensor) const noexcept {
  std::string_view rest = others;
  while (!rest.empty()) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, blank) == tensor) return true;
    rest.remove_prefix(std::min(rest.size(), blank + 1));
  }
  return false;
}

std::span<const Role> roles() noexcept {
  return kRoles;
}

const Role* find_role(GraphKind graph, Direction direction, std::string_view name) noexcept {
  const auto at = std::find_if(kRoles.begin(), kRoles.end(), [&](const Role& role) {
    return role.graph == graph && role.direction == direction && role.name == name;
  });
  return at == kRoles.end() ? nullptr : &*at;
}

}  // namespace samlet::sam3
