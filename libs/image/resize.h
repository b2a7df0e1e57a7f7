// Pillow's BILINEAR resize, bit for bit.
#pragma once

#include <cstdint>
#include <vector>

#include "samlet/image.h"

namespace samlet {

/// `Image.resize((width, height), Image.Resampling.BILINEAR)` of Pillow, bit for bit, any size pair from 1x1
/// up. Facts of the method (Pillow, Resample.c): separable, horizontal pass first, then vertical; triangle
/// filter with support max(scale, 1), so it antialiases when shrinking; weights in fixed point with 22 bits;
/// rounded and clipped to 8 bits between the passes; a pass whose size does not change is skipped. Errors:
/// kInternal when a side is not positive or the source does not match its size. Thread-safe.
[[nodiscard]] Image resize_bilinear(const Image& source, int width, int height);

/// The same, as the image encoder wants it: planes [3, height, width].
[[nodiscard]] std::vector<std::uint8_t> to_planes(const Image& image);

}  // namespace samlet
