// One picture: read, ask, draw, write.
#pragma once

#include <span>

#include "apps/cli/commands.h"
#include "apps/cli/output_plan.h"
#include "apps/cli/run_prompts.h"
#include "samlet/segmenter.h"

namespace samlet::cli {

/// Runs the prompts on one planned picture and prints its result. Nothing stands under an output's name
/// unless it is whole. Errors: those of reading, segmenting and writing.
void run_one(const PlannedPicture& planned, const RunArguments& arguments, Segmenter& model,
             Terminal& terminal, const CancelToken& cancel);

}  // namespace samlet::cli
