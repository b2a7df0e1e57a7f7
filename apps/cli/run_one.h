// One picture: read, ask, draw, write.
#pragma once

#include <span>

#include "apps/cli/commands.h"
#include "apps/cli/output_plan.h"
#include "samlet/segmenter.h"

namespace samlet::cli {

/// Runs the prompts on one planned picture and prints its result. Nothing stands under an output's name
/// unless it is whole. Errors: those of reading, segmenting and writing.
void run_one(const PlannedPicture& planned, const RunArguments& arguments, ConceptSegmenter& model,
             Terminal& terminal, const CancelToken& cancel);

/// The prompts that the arguments ask for: one for each text, each with all boxes, or one for boxes alone.
/// The boxes are as given: pixels, or fractions when `normalized`.
[[nodiscard]] std::vector<ConceptPrompt> prompts_from(const RunArguments& arguments);

}  // namespace samlet::cli
