// The outlines of a mask, exactly along the edges of its pixels.
#pragma once

#include <vector>

#include "samlet/mask.h"

namespace samlet {

/// A corner of pixels: x in 0 .. width, y in 0 .. height; pixel (i, j) covers [i, i + 1) x [j, j + 1).
struct Corner {
  double x = 0;
  double y = 0;
  friend bool operator==(const Corner&, const Corner&) = default;
};

/// A closed line; the last corner is joined to the first, which is not repeated.
using Ring = std::vector<Corner>;

/// One part of a mask: pixels that hang together by their sides. Parts that only touch at a corner are two.
struct MaskPart {
  Ring outline;             ///< Clockwise on the screen (x right, y down).
  std::vector<Ring> holes;  ///< Counter-clockwise.
};

/// All parts, by their leftmost, then topmost pixel. A pixel belongs to the mask exactly if its centre lies
/// in the outline of a part and in none of its holes, so that filling the parts gives the mask back. Corners
/// stand only where the line turns. Memory and time follow the outline (n log n), not the picture. Errors:
/// kUsage when the runs do not fit the size. Thread-safe.
[[nodiscard]] std::vector<MaskPart> trace_parts(const Mask& mask);

/// The ring with the corners left out from which the line does not depart by more than `tolerance` pixels
/// (Ramer-Douglas-Peucker; the two corners farthest from each other stay). A ring that would have fewer than
/// three corners left, and any ring for tolerance 0, is given back as it was. Thread-safe.
[[nodiscard]] Ring simplified(const Ring& ring, double tolerance);

/// The area within a ring in pixels; negative when it runs counter-clockwise on the screen. Thread-safe.
[[nodiscard]] double signed_area(const Ring& ring) noexcept;

}  // namespace samlet
