// From the model's small mask logits to a mask of the picture.
#pragma once

#include <span>

#include "samlet/mask.h"

namespace samlet {

/// Turns mask logits into a mask: bilinear resize to the picture (half-pixel centres, no antialias, as
/// PyTorch's F.interpolate(mode="bilinear", align_corners=False) in float32), set where the result is > 0.
///
/// `logits` is row-major [rows, columns]. The full-size logits are never held: runs are made column by
/// column, and stretches whose neighbours agree in sign are not evaluated at all (a weighted mean of two
/// positive numbers is positive), so the cost follows the outline, not the picture. Memory: O(rows + runs).
/// NaN counts as not set. Errors: kInternal when the sizes do not match or are zero. Thread-safe.
[[nodiscard]] Mask upsample_logits(std::span<const float> logits, int rows, int columns, int width,
                                   int height);

/// Logits of probabilities: ln(p / (1 - p)) clamped to +-16, for folders whose graphs give probabilities.
void probabilities_to_logits(std::span<float> values) noexcept;

}  // namespace samlet
