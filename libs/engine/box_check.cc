#include "libs/engine/box_check.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "samlet/error.h"

namespace samlet {
namespace {

std::string describe(const Box& box) {
  return fmt::format("{:g},{:g},{:g},{:g}", box.x1, box.y1, box.x2, box.y2);
}

/// Every corner at or below 1 on a picture that is larger: most likely 0..1 numbers without --normalized.
bool looks_normalized(const Box& box, int width, int height) {
  const std::array<double, 4> values{box.x1, box.y1, box.x2, box.y2};
  const bool all_small = std::all_of(values.begin(), values.end(), [](double v) { return v >= 0 && v <= 1; });
  return all_small && std::min(width, height) > 2;
}

Box sorted_corners(const Box& box) {
  return {std::min(box.x1, box.x2), std::min(box.y1, box.y2), std::max(box.x1, box.x2),
          std::max(box.y1, box.y2)};
}

}  // namespace

void refuse_prompt(const std::string& message) {
  throw Error(ErrorCode::kPromptInvalid, message);
}

void check_box_shape(const Box& given) {
  for (const double v : {given.x1, given.y1, given.x2, given.y2}) {
    if (!std::isfinite(v)) {
      refuse_prompt(fmt::format("the box {} has a corner that is not a number; give x1,y1,x2,y2 in pixels",
                                describe(given)));
    }
  }
  if (given.x1 == given.x2 || given.y1 == given.y2) {
    refuse_prompt(
        fmt::format("the box {} has no area; give two opposite corners x1,y1,x2,y2", describe(given)));
  }
}

/// The box with its corners in order, where it may lie on the picture.
Box placed_box(const Box& given, int width, int height, std::vector<std::string>& warnings) {
  const Box sorted = sorted_corners(given);
  if (sorted.x1 >= width || sorted.y1 >= height || sorted.x2 <= 0 || sorted.y2 <= 0) {
    refuse_prompt(fmt::format("the box {} lies outside of the picture, which is {}x{} pixels",
                              describe(given), width, height));
  }
  // Boxes drawn by hand may stick out; what reaches a whole picture further is a slip, and numbers without
  // end break the model's arithmetic.
  if (sorted.x1 < -width || sorted.y1 < -height || sorted.x2 > 2.0 * width || sorted.y2 > 2.0 * height) {
    refuse_prompt(
        fmt::format("the box {} reaches far outside of the picture, which is {}x{} pixels; check its numbers",
                    describe(given), width, height));
  }
  if (looks_normalized(sorted, width, height)) {
    warnings.push_back(fmt::format(
        "the box {} is at most one pixel; if these are fractions of the picture, add --normalized",
        describe(given)));
  }
  // Not cut: Meta's code uses such a box as it stands, and cutting it moves the scores.
  if (sorted.x1 < 0 || sorted.y1 < 0 || sorted.x2 > width || sorted.y2 > height) {
    warnings.push_back(fmt::format("the box {} reaches over the border of the picture, which is {}x{} pixels",
                                   describe(given), width, height));
  }
  return sorted;
}

/// Pixel numbers where fractions were promised would otherwise be far outside without a hint why.
void require_box_fractions(const Box& b) {
  const double largest = std::max({std::abs(b.x1), std::abs(b.y1), std::abs(b.x2), std::abs(b.y2)});
  if (largest <= 2) return;
  refuse_prompt(
      fmt::format("the box {} is not in fractions of the picture (0 to 1); leave --normalized out for pixels",
                  describe(b)));
}

}  // namespace samlet
