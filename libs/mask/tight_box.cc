#include "libs/mask/tight_box.h"

#include <algorithm>
#include <cstdint>

#include "libs/mask/runs.h"

namespace samlet {

TightBox tight_box(const Mask& mask) {
  check_runs(mask);
  TightBox box{mask.width, mask.height, 0, 0};
  const auto height = static_cast<std::uint64_t>(mask.height);
  std::uint64_t at = 0;
  bool any = false;
  for (std::size_t i = 0; i < mask.counts.size(); ++i) {
    const std::uint64_t length = mask.counts[i];
    if (i % 2 == 1 && length > 0) {
      any = true;
      const std::uint64_t last = at + length - 1;
      box.x1 = std::min(box.x1, static_cast<int>(at / height));
      box.x2 = std::max(box.x2, static_cast<int>(last / height) + 1);
      // A run over the end of a column has pixels in the last row and in the first.
      const bool wraps = at / height != last / height;
      box.y1 = wraps ? 0 : std::min(box.y1, static_cast<int>(at % height));
      box.y2 = wraps ? mask.height : std::max(box.y2, static_cast<int>(last % height) + 1);
    }
    at += length;
  }
  return any ? box : TightBox{};
}

}  // namespace samlet
