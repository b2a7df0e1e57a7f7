// Where a mask lies.
#pragma once

#include "samlet/mask.h"

namespace samlet {

/// The smallest box that holds all set pixels: columns x1 .. x2 - 1, rows y1 .. y2 - 1. All zero for an empty
/// mask.
struct TightBox {
  int x1 = 0;
  int y1 = 0;
  int x2 = 0;
  int y2 = 0;
  friend bool operator==(const TightBox&, const TightBox&) = default;
};

/// Errors: kUsage when the runs do not fit the size. Thread-safe.
[[nodiscard]] TightBox tight_box(const Mask& mask);

}  // namespace samlet
