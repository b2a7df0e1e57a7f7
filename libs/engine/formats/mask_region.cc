#include "libs/engine/formats/mask_region.h"

#include <algorithm>
#include <cstddef>

#include "libs/mask/runs.h"
#include "libs/mask/tight_box.h"

namespace samlet::formats {
namespace {

/// Calls `piece(column, first row, end row)` for each piece of a column that is set.
template <typename Piece>
void for_each_piece(const Mask& mask, const Piece& piece) {
  const auto height = static_cast<std::uint64_t>(mask.height);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < mask.counts.size(); ++i) {
    const std::uint64_t end = at + mask.counts[i];
    if (i % 2 == 0) at = end;
    while (at < end) {
      const std::uint64_t row = at % height;
      const std::uint64_t step = std::min(end - at, height - row);
      piece(static_cast<int>(at / height), static_cast<int>(row), static_cast<int>(row + step));
      at += step;
    }
  }
}

}  // namespace

std::optional<PixelBox> tight_box(const Mask& mask) {
  const TightBox box = samlet::tight_box(mask);
  if (box.x2 == 0) return std::nullopt;
  return PixelBox{box.x1, box.y1, box.x2 - box.x1, box.y2 - box.y1};
}

std::vector<std::uint8_t> crop(const Mask& mask, const PixelBox& box, std::uint8_t set) {
  check_runs(mask);
  const auto stride = static_cast<std::size_t>(box.width);
  std::vector<std::uint8_t> out(stride * static_cast<std::size_t>(box.height));
  for_each_piece(mask, [&](int x, int begin, int end) {
    if (x < box.x || x >= box.x + box.width) return;
    const int last = std::min(end, box.y + box.height);
    for (int y = std::max(begin, box.y); y < last; ++y) {
      out[static_cast<std::size_t>(y - box.y) * stride + static_cast<std::size_t>(x - box.x)] = set;
    }
  });
  return out;
}

}  // namespace samlet::formats
