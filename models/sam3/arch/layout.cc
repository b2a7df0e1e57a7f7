#include "models/sam3/arch/layout.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "models/sam3/arch/names_transformers.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

using Tensors = std::span<const checkpoint::TensorInfo>;

bool any_begins_with(Tensors tensors, std::string_view prefix) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [&](const auto& t) { return t.name.starts_with(prefix); });
}

/// What else people have, by a name that only it has; the first that fits counts.
struct OtherModel {
  std::string_view prefix;
  std::string_view what;
};

constexpr auto kOthers = std::to_array<OtherModel>({
    {"detector.backbone.vision_backbone.trunk.model.", "EfficientSAM3 with an image encoder of its own"},
    {"detector.backbone.language_backbone.",
     "a text encoder alone; give it with --text-encoder, beside a SAM 3 checkpoint"},
    {"sam3_model.", "SAM 3.1 under names of before its release"},
    {"sam2_predictor.", "SAM 3.1 under names of before its release"},
    {"tracker_model.", "the tracker of transformers' SAM 3 alone"},
    {"shared_image_embedding.", "transformers' Sam3TrackerModel or a SAM before 3"},
    {"spatial_perceiver.", "EdgeTAM"},
    {"image_encoder.trunk.", "SAM 2 or EdgeTAM"},
    {"image_encoder.blocks.", "the first SAM"},
    {"vision_encoder.backbone.", "a part of transformers' SAM 3"},
    {"text_encoder.", "a text encoder alone"},
    {"encoder.", "a text encoder alone"},
});

[[noreturn]] void refuse(Tensors tensors) {
  for (const OtherModel& other : kOthers) {
    if (any_begins_with(tensors, other.prefix)) {
      throw Error(
          ErrorCode::kModelUnsupported,
          fmt::format("the checkpoint looks like {}; SAM 3's sam3.pt or transformers' safetensors are read",
                      other.what));
    }
  }
  std::string names;
  for (std::size_t i = 0; i < std::min<std::size_t>(3, tensors.size()); ++i) {
    names += fmt::format("{}'{}'", i == 0 ? "" : ", ", printable(tensors[i].name.substr(0, 80)));
  }
  throw Error(ErrorCode::kModelUnsupported,
              fmt::format("the checkpoint is not SAM 3: it begins with the tensors {}",
                          names.empty() ? "none" : names));
}

}  // namespace

FoundLayout find_layout(Tensors tensors) {
  constexpr std::string_view kMetaTrunk = "detector.backbone.vision_backbone.trunk.blocks.";
  if (any_begins_with(tensors, kMetaTrunk)) {
    const bool is_31 = any_begins_with(tensors, "tracker.model.") ||
                       any_begins_with(tensors, "detector.backbone.vision_backbone.interactive_convs.");
    return {.layout = is_31 ? CheckpointLayout::kMeta31 : CheckpointLayout::kMeta};
  }
  if (any_begins_with(tensors, "detector_model.vision_encoder.backbone.layers.")) {
    return {.layout = CheckpointLayout::kTransformers, .has_detector_prefix = true};
  }
  // The tracker alone has a vision encoder of that name too.
  if (any_begins_with(tensors, "vision_encoder.backbone.layers.") &&
      any_begins_with(tensors, "detr_decoder.")) {
    return {.layout = CheckpointLayout::kTransformers, .has_detector_prefix = false};
  }
  refuse(tensors);
}

}  // namespace samlet::sam3
