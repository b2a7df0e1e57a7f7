// "Exactly this thing": from clicks and boxes to masks, whatever the folder's layout.
#pragma once

#include <span>
#include <vector>

#include "models/sam3/graphs.h"
#include "samlet/geometry.h"
#include "samlet/segmenter.h"

namespace samlet::sam3 {

/// Answers checked prompts (check_object_prompts) on features for points, by the rules of
/// Segmenter::segment_objects. Errors: those of Graphs::decode_points.
[[nodiscard]] std::vector<Instance> find_objects(Graphs& graphs, const Features& image,
                                                 std::span<const ObjectPrompt> prompts,
                                                 const PictureGeometry& geometry,
                                                 const ObjectOptions& options);

/// The candidate with the best expected IoU among `iou`; of equals the first.
[[nodiscard]] std::size_t best_of(std::span<const float> iou);

/// How little of a mask depends on where exactly the line is drawn: |logit > 0.05| / |logit > -0.05|, 1 when
/// there is nothing (SAM 2 and 3: dynamic multimask via stability).
[[nodiscard]] double stability(std::span<const float> logits);

}  // namespace samlet::sam3
