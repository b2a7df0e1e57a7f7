#include "models/sam3/arch/names_transformers.h"

#include <array>

#include "models/sam3/arch/name_rules.h"

namespace samlet::sam3 {
namespace {

using Op = Recipe::Op;

constexpr auto kTrunk = std::to_array<NameRule>({
    {"pos_embed", "embeddings.position_embeddings"},
    {"patch_embed.proj.weight", "embeddings.patch_embeddings.projection.weight"},
    {"ln_pre.*", "layer_norm.*"},
    {"blocks.#.norm#.*", "layers.#.layer_norm#.*"},
    {"blocks.#.attn.qkv.*", "layers.#.attention.@_proj.*", Op::kStack},
    {"blocks.#.attn.proj.*", "layers.#.attention.o_proj.*"},
    {"blocks.#.mlp.fc#.*", "layers.#.mlp.fc#.*"},
});
constexpr auto kNeck = std::to_array<NameRule>({
    {"#.dconv_2x2_0.*", "#.scale_layers.0.*"},
    {"#.dconv_2x2_1.*", "#.scale_layers.2.*"},
    {"#.dconv_2x2.*", "#.scale_layers.0.*"},
    {"#.conv_1x1.*", "#.proj1.*"},
    {"#.conv_3x3.*", "#.proj2.*"},
});
constexpr auto kText = std::to_array<NameRule>({
    {"encoder.token_embedding.weight", "text_encoder.text_model.embeddings.token_embedding.weight"},
    {"encoder.positional_embedding", "text_encoder.text_model.embeddings.position_embedding.weight"},
    {"encoder.ln_final.*", "text_encoder.text_model.final_layer_norm.*"},
    {"resizer.*", "text_projection.*"},
});
constexpr auto kTextBlock = std::to_array<NameRule>({
    {"#.attn.in_proj_*", "#.self_attn.@_proj.*", Op::kStack},
    {"#.attn.out_proj.*", "#.self_attn.out_proj.*"},
    {"#.ln_#.*", "#.layer_norm#.*"},
    {"#.mlp.c_fc.*", "#.mlp.fc1.*"},
    {"#.mlp.c_proj.*", "#.mlp.fc2.*"},
});
constexpr auto kGeometry = std::to_array<NameRule>({
    {"label_embed.weight", "label_embed.weight"},
    {"cls_embed.weight", "cls_embed.weight"},
    {"boxes_*", "boxes_*"},
    {"final_proj.*", "final_proj.*"},
    {"norm.*", "prompt_layer_norm.*"},
    {"img_pre_norm.*", "vision_layer_norm.*"},
    {"encode_norm.*", "output_layer_norm.*"},
});
/// A layer of the geometry encoder and of the fusion encoder.
constexpr auto kEncoderLayer = std::to_array<NameRule>({
    {"#.self_attn.in_proj_*", "#.self_attn.@_proj.*", Op::kStack},
    {"#.self_attn.out_proj.*", "#.self_attn.o_proj.*"},
    {"#.cross_attn_image.in_proj_*", "#.cross_attn.@_proj.*", Op::kStack},
    {"#.cross_attn_image.out_proj.*", "#.cross_attn.o_proj.*"},
    {"#.linear#.*", "#.mlp.fc#.*"},
    {"#.norm#.*", "#.layer_norm#.*"},
});
constexpr auto kDecoderLayer = std::to_array<NameRule>({
    {"#.self_attn.in_proj_*", "#.self_attn.@_proj.*", Op::kStack},
    {"#.self_attn.out_proj.*", "#.self_attn.o_proj.*"},
    {"#.ca_text.in_proj_*", "#.text_cross_attn.@_proj.*", Op::kStack},
    {"#.ca_text.out_proj.*", "#.text_cross_attn.o_proj.*"},
    {"#.cross_attn.in_proj_*", "#.vision_cross_attn.@_proj.*", Op::kStack},
    {"#.cross_attn.out_proj.*", "#.vision_cross_attn.o_proj.*"},
    // The numbers are in no order.
    {"#.norm2.*", "#.self_attn_layer_norm.*"},
    {"#.catext_norm.*", "#.text_cross_attn_layer_norm.*"},
    {"#.norm1.*", "#.vision_cross_attn_layer_norm.*"},
    {"#.norm3.*", "#.mlp_layer_norm.*"},
    {"#.linear#.*", "#.mlp.fc#.*"},
});
/// The layers of small perceptrons are counted from 0 here and from 1 there.
constexpr auto kDecoder = std::to_array<NameRule>({
    {"query_embed.weight", "query_embed.weight"},
    {"reference_points.weight", "reference_points.weight"},
    {"presence_token.weight", "presence_token.weight"},
    {"norm.*", "output_layer_norm.*"},
    {"presence_token_out_norm.*", "presence_layer_norm.*"},
    {"bbox_embed.layers.0.*", "box_head.layer1.*"},
    {"bbox_embed.layers.1.*", "box_head.layer2.*"},
    {"bbox_embed.layers.2.*", "box_head.layer3.*"},
    {"presence_token_head.layers.0.*", "presence_head.layer1.*"},
    {"presence_token_head.layers.1.*", "presence_head.layer2.*"},
    {"presence_token_head.layers.2.*", "presence_head.layer3.*"},
    {"ref_point_head.layers.0.*", "ref_point_head.layer1.*"},
    {"ref_point_head.layers.1.*", "ref_point_head.layer2.*"},
    {"boxRPB_embed_x.layers.0.*", "box_rpb_embed_x.layer1.*"},
    {"boxRPB_embed_x.layers.1.*", "box_rpb_embed_x.layer2.*"},
    {"boxRPB_embed_y.layers.0.*", "box_rpb_embed_y.layer1.*"},
    {"boxRPB_embed_y.layers.1.*", "box_rpb_embed_y.layer2.*"},
});
constexpr auto kSegmentation = std::to_array<NameRule>({
    {"pixel_decoder.*", "pixel_decoder.*"},
    {"mask_predictor.mask_embed.layers.#.*", "mask_embedder.layers.#.*"},
    {"cross_attend_prompt.in_proj_*", "prompt_cross_attn.@_proj.*", Op::kStack},
    {"cross_attend_prompt.out_proj.*", "prompt_cross_attn.o_proj.*"},
    {"cross_attn_norm.*", "prompt_cross_attn_norm.*"},
    {"semantic_seg_head.*", "semantic_projection.*"},
    {"instance_seg_head.*", "instance_projection.*"},
});
constexpr auto kScoring = std::to_array<NameRule>({
    {"prompt_mlp.layers.0.*", "text_mlp.layer1.*"},
    {"prompt_mlp.layers.1.*", "text_mlp.layer2.*"},
    {"prompt_mlp.out_norm.*", "text_mlp_out_norm.*"},
    {"prompt_proj.*", "text_proj.*"},
    {"hs_proj.*", "query_proj.*"},
});
constexpr auto kTracker = std::to_array<NameRule>({
    {"no_mem_embed", "no_memory_embedding"},
});
constexpr auto kPrompt = std::to_array<NameRule>({
    {"pe_layer.positional_encoding_gaussian_matrix",
     "shared_image_embedding.positional_embedding|prompt_encoder.shared_embedding.positional_embedding",
     Op::kEither},
    {"point_embeddings.#.weight", "prompt_encoder.point_embed.weight", Op::kRow},
    {"not_a_point_embed.weight", "prompt_encoder.not_a_point_embed.weight"},
    {"no_mask_embed.weight", "prompt_encoder.no_mask_embed.weight"},
    {"mask_downscaling.0.*", "prompt_encoder.mask_embed.conv1.*"},
    {"mask_downscaling.1.*", "prompt_encoder.mask_embed.layer_norm1.*"},
    {"mask_downscaling.3.*", "prompt_encoder.mask_embed.conv2.*"},
    {"mask_downscaling.4.*", "prompt_encoder.mask_embed.layer_norm2.*"},
    {"mask_downscaling.6.*", "prompt_encoder.mask_embed.conv3.*"},
});
constexpr auto kMask = std::to_array<NameRule>({
    {"iou_token.weight", "iou_token.weight"},
    {"mask_tokens.weight", "mask_tokens.weight"},
    {"obj_score_token.weight", "obj_score_token.weight"},
    {"conv_s#.*", "conv_s#.*"},
    {"output_upscaling.0.*", "upscale_conv1.*"},
    {"output_upscaling.1.*", "upscale_layer_norm.*"},
    {"output_upscaling.3.*", "upscale_conv2.*"},
    {"output_hypernetworks_mlps.#.layers.0.*", "output_hypernetworks_mlps.#.proj_in.*"},
    {"output_hypernetworks_mlps.#.layers.1.*", "output_hypernetworks_mlps.#.layers.0.*"},
    {"output_hypernetworks_mlps.#.layers.2.*", "output_hypernetworks_mlps.#.proj_out.*"},
    {"iou_prediction_head.layers.0.*", "iou_prediction_head.proj_in.*"},
    {"iou_prediction_head.layers.1.*", "iou_prediction_head.layers.0.*"},
    {"iou_prediction_head.layers.2.*", "iou_prediction_head.proj_out.*"},
    {"pred_obj_score_head.layers.0.*", "pred_obj_score_head.proj_in.*"},
    {"pred_obj_score_head.layers.1.*", "pred_obj_score_head.layers.0.*"},
    {"pred_obj_score_head.layers.2.*", "pred_obj_score_head.proj_out.*"},
    {"transformer.layers.#.self_attn.out_proj.*", "transformer.layers.#.self_attn.o_proj.*"},
    {"transformer.layers.#.self_attn.*", "transformer.layers.#.self_attn.*"},
    {"transformer.layers.#.cross_attn_token_to_image.out_proj.*",
     "transformer.layers.#.cross_attn_token_to_image.o_proj.*"},
    {"transformer.layers.#.cross_attn_token_to_image.*", "transformer.layers.#.cross_attn_token_to_image.*"},
    {"transformer.layers.#.cross_attn_image_to_token.out_proj.*",
     "transformer.layers.#.cross_attn_image_to_token.o_proj.*"},
    {"transformer.layers.#.cross_attn_image_to_token.*", "transformer.layers.#.cross_attn_image_to_token.*"},
    {"transformer.layers.#.norm#.*", "transformer.layers.#.layer_norm#.*"},
    {"transformer.layers.#.mlp.lin1.*", "transformer.layers.#.mlp.proj_in.*"},
    {"transformer.layers.#.mlp.lin2.*", "transformer.layers.#.mlp.proj_out.*"},
    {"transformer.final_attn_token_to_image.out_proj.*", "transformer.final_attn_token_to_image.o_proj.*"},
    {"transformer.final_attn_token_to_image.*", "transformer.final_attn_token_to_image.*"},
    {"transformer.norm_final_attn.*", "transformer.layer_norm_final_attn.*"},
});

constexpr auto kGroups = std::to_array<NameGroup>({
    {"detector.backbone.vision_backbone.trunk.", "detector_model.vision_encoder.backbone.", kTrunk},
    {"detector.backbone.vision_backbone.convs.", "detector_model.vision_encoder.neck.fpn_layers.", kNeck},
    {"detector.backbone.vision_backbone.sam2_convs.", "tracker_neck.fpn_layers.", kNeck},
    {"detector.backbone.language_backbone.encoder.transformer.resblocks.",
     "detector_model.text_encoder.text_model.encoder.layers.", kTextBlock},
    {"detector.backbone.language_backbone.", "detector_model.", kText},
    {"detector.geometry_encoder.encode.", "detector_model.geometry_encoder.layers.", kEncoderLayer},
    {"detector.geometry_encoder.", "detector_model.geometry_encoder.", kGeometry},
    {"detector.transformer.encoder.layers.", "detector_model.detr_encoder.layers.", kEncoderLayer},
    {"detector.transformer.decoder.layers.", "detector_model.detr_decoder.layers.", kDecoderLayer},
    {"detector.transformer.decoder.", "detector_model.detr_decoder.", kDecoder},
    {"detector.segmentation_head.", "detector_model.mask_decoder.", kSegmentation},
    {"detector.dot_prod_scoring.", "detector_model.dot_product_scoring.", kScoring},
    {"tracker.sam_prompt_encoder.", "tracker_model.", kPrompt},
    {"tracker.sam_mask_decoder.", "tracker_model.mask_decoder.", kMask},
    {"tracker.", "tracker_model.", kTracker},
});

}  // namespace

Recipe transformers_recipe(std::string_view meta_name) {
  return apply_rules(kGroups, meta_name);
}

}  // namespace samlet::sam3
