#include "models/sam3/arch/names_sam31.h"

#include <array>

#include "models/sam3/arch/name_pattern.h"

namespace samlet::sam3 {
namespace {

struct Renaming {
  std::string_view sam3;
  std::string_view sam31;
};

// tracker.model.sam_mask_decoder is another decoder, of 16 objects at a time, and takes part in none of
// these.
constexpr auto kRenamings = std::to_array<Renaming>({
    {"detector.backbone.vision_backbone.sam2_convs.*",
     "detector.backbone.vision_backbone.interactive_convs.*"},
    {"tracker.sam_prompt_encoder.*", "tracker.model.interactive_sam_prompt_encoder.*"},
    {"tracker.sam_mask_decoder.*", "tracker.model.interactive_sam_mask_decoder.*"},
    {"tracker.no_mem_embed", "tracker.model.interactivity_no_mem_embed"},
    {"tracker.obj_ptr_proj.*", "tracker.model.interactive_obj_ptr_proj.*"},
    {"tracker.mask_downsample.*", "tracker.model.interactive_mask_downsample.*"},
});

}  // namespace

std::string sam31_name(std::string_view meta_name) {
  for (const Renaming& renaming : kRenamings) {
    if (const auto parts = match_name(renaming.sam3, meta_name)) return fill_name(renaming.sam31, *parts);
  }
  return meta_name.starts_with("tracker.") ? std::string() : std::string(meta_name);
}

}  // namespace samlet::sam3
