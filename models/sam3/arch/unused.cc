#include "models/sam3/arch/unused.h"

#include <array>

namespace samlet::sam3 {
namespace {

constexpr std::string_view kRecomputed = "rotary tables, recomputed";
constexpr std::string_view kHalfSize = "the half-size level, which the model discards";
constexpr std::string_view kPooled = "for a pooled text feature that SAM 3 does not use";
constexpr std::string_view kPoints = "point prompts of the detector, which its interface never feeds";
constexpr std::string_view kThirdStage = "a third stage of the pixel decoder, which is never run";
constexpr std::string_view kSemantic = "a one-channel mask of all instances, which is not exported";
constexpr std::string_view kVideo = "memory of the video tracker";
constexpr std::string_view kMultiplex = "the multiplex video tracker";

constexpr auto kMeta = std::to_array<UnusedGroup>({
    {"detector.backbone.vision_backbone.trunk.blocks.#.attn.freqs_cis", kRecomputed},
    {"detector.backbone.vision_backbone.convs.3.*", kHalfSize},
    {"detector.backbone.vision_backbone.sam2_convs.3.*", kHalfSize},
    {"detector.backbone.language_backbone.encoder.text_projection", kPooled},
    {"detector.geometry_encoder.points_*", kPoints},
    {"detector.segmentation_head.pixel_decoder.conv_layers.2.*", kThirdStage},
    {"detector.segmentation_head.pixel_decoder.norms.2.*", kThirdStage},
    {"detector.segmentation_head.semantic_seg_head.*", kSemantic},
    {"tracker.maskmem_tpos_enc", kVideo},
    {"tracker.no_mem_pos_enc", kVideo},
    {"tracker.no_obj_ptr", kVideo},
    {"tracker.no_obj_embed_spatial", kVideo},
    {"tracker.mask_downsample.*", kVideo},
    {"tracker.transformer.*", kVideo},
    {"tracker.maskmem_backbone.*", kVideo},
    {"tracker.obj_ptr_proj.*", kVideo},
    {"tracker.obj_ptr_tpos_proj.*", kVideo},
});

constexpr auto kMeta31 = std::to_array<UnusedGroup>({
    {"detector.backbone.vision_backbone.trunk.blocks.#.attn.freqs_cis", kRecomputed},
    {"detector.backbone.vision_backbone.propagation_convs.*", kMultiplex},
    {"detector.backbone.language_backbone.encoder.text_projection", kPooled},
    {"detector.geometry_encoder.points_*", kPoints},
    {"detector.segmentation_head.pixel_decoder.conv_layers.2.*", kThirdStage},
    {"detector.segmentation_head.pixel_decoder.norms.2.*", kThirdStage},
    {"detector.segmentation_head.semantic_seg_head.*", kSemantic},
    {"tracker.model.sam_mask_decoder.*", "the multiplex decoder, not the one of points"},
    {"tracker.model.maskmem_tpos_enc", kMultiplex},
    {"tracker.model.no_obj_embed_spatial", kMultiplex},
    {"tracker.model.output_valid_embed", kMultiplex},
    {"tracker.model.output_invalid_embed", kMultiplex},
    {"tracker.model.no_obj_ptr_linear.*", kMultiplex},
    {"tracker.model.image_pe_layer.*", kMultiplex},
    {"tracker.model.transformer.*", kMultiplex},
    {"tracker.model.maskmem_backbone.*", kMultiplex},
    {"tracker.model.obj_ptr_proj.*", kMultiplex},
    {"tracker.model.obj_ptr_tpos_proj.*", kMultiplex},
    {"tracker.model.interactive_obj_ptr_proj.*", kMultiplex},
    {"tracker.model.interactive_mask_downsample.*", kMultiplex},
});

constexpr auto kTransformers = std::to_array<UnusedGroup>({
    {"detector_model.vision_encoder.neck.fpn_layers.3.*", kHalfSize},
    {"tracker_neck.fpn_layers.3.*", kHalfSize},
    {"detector_model.text_encoder.text_projection.weight", kPooled},
    {"detector_model.mask_decoder.pixel_decoder.conv_layers.2.*", kThirdStage},
    {"detector_model.mask_decoder.pixel_decoder.norms.2.*", kThirdStage},
    {"detector_model.mask_decoder.semantic_projection.*", kSemantic},
    {"tracker_model.memory_temporal_positional_encoding", kVideo},
    {"tracker_model.no_memory_positional_encoding", kVideo},
    {"tracker_model.no_object_pointer", kVideo},
    {"tracker_model.occlusion_spatial_embedding_parameter", kVideo},
    {"tracker_model.mask_downsample.*", kVideo},
    {"tracker_model.memory_attention.*", kVideo},
    {"tracker_model.memory_encoder.*", kVideo},
    {"tracker_model.object_pointer_proj.*", kVideo},
    {"tracker_model.temporal_positional_encoding_projection_layer.*", kVideo},
});

constexpr std::array<std::string_view, 1> kMetaText{"detector.backbone.language_backbone.*"};
constexpr std::array<std::string_view, 2> kTransformersText{"detector_model.text_encoder.*",
                                                            "detector_model.text_projection.*"};
constexpr std::array<std::string_view, 3> kMetaPoint{"detector.backbone.vision_backbone.sam2_convs.*",
                                                     "detector.backbone.vision_backbone.interactive_convs.*",
                                                     "tracker.*"};
constexpr std::array<std::string_view, 2> kTransformersPoint{"tracker_neck.*", "tracker_model.*"};

}  // namespace

std::span<const UnusedGroup> unused_groups(CheckpointLayout layout) noexcept {
  switch (layout) {
    case CheckpointLayout::kMeta:
      return kMeta;
    case CheckpointLayout::kMeta31:
      return kMeta31;
    case CheckpointLayout::kTransformers:
      return kTransformers;
  }
  return {};
}

std::span<const std::string_view> patterns_of(CheckpointLayout layout, Part part) noexcept {
  const bool transformers = layout == CheckpointLayout::kTransformers;
  if (part == Part::kTextEncoder) {
    return transformers ? std::span<const std::string_view>(kTransformersText) : kMetaText;
  }
  return transformers ? std::span<const std::string_view>(kTransformersPoint) : kMetaPoint;
}

}  // namespace samlet::sam3
