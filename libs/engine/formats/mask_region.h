// The rectangle of a mask, and its pixels in there.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "samlet/mask.h"

namespace samlet::formats {

/// Whole pixels: columns [x, x + width), rows [y, y + height).
struct PixelBox {
  int x = 0;
  int y = 0;
  int width = 0;
  int height = 0;
  friend bool operator==(const PixelBox&, const PixelBox&) = default;
};

/// The smallest box that holds all set pixels; none for an empty mask. Time follows the runs. Thread-safe.
[[nodiscard]] std::optional<PixelBox> tight_box(const Mask& mask);

/// Row-major bytes [box.height, box.width]: `set` where the mask is set, else 0. The box lies in the mask.
/// Memory and time follow the box and the runs, not the picture. Thread-safe.
[[nodiscard]] std::vector<std::uint8_t> crop(const Mask& mask, const PixelBox& box, std::uint8_t set);

}  // namespace samlet::formats
