// Closing small gaps in a mask of the model.
#pragma once

#include <span>

namespace samlet {

/// Sets the logits of the background's parts (logit <= 0, cells that touch by sides or corners) that have at
/// most `most_cells` cells to +10, parts at the border included: Meta's fill_holes_in_mask_scores. `logits`
/// is [rows, columns]. Errors: kInternal when the sizes do not match. Thread-safe.
void fill_holes(std::span<float> logits, int rows, int columns, int most_cells);

}  // namespace samlet
