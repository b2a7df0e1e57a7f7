#include "libs/image/draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace samlet {
namespace {

constexpr std::int32_t kOne = 1 << 16;

/// The alpha in 16-bit fixed point: all machines mix alike. What is no number counts as transparent.
std::int32_t fixed_alpha(float alpha) {
  if (!(alpha > 0.0F)) return 0;
  return static_cast<std::int32_t>(std::lround(std::min(alpha, 1.0F) * static_cast<float>(kOne)));
}

std::uint8_t mix(std::uint8_t below, std::uint8_t above, std::int32_t alpha) {
  return static_cast<std::uint8_t>((below * (kOne - alpha) + above * alpha + kOne / 2) >> 16);
}

void mix_pixel(std::uint8_t* pixel, Color color, std::int32_t alpha) {
  pixel[0] = mix(pixel[0], color.r, alpha);
  pixel[1] = mix(pixel[1], color.g, alpha);
  pixel[2] = mix(pixel[2], color.b, alpha);
}

std::uint8_t* pixel_at(Image& image, int x, int y) {
  return image.rgb.data() + 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                 static_cast<std::size_t>(x));
}

}  // namespace

void blend_column(Image& image, int x, int y0, int y1, Color color, float alpha) {
  if (x < 0 || x >= image.width) return;
  const int top = std::max(y0, 0);
  const int bottom = std::min(y1, image.height);
  const std::int32_t fixed = fixed_alpha(alpha);
  for (int y = top; y < bottom; ++y) mix_pixel(pixel_at(image, x, y), color, fixed);
}

void fill_rectangle(Image& image, int x0, int y0, int x1, int y1, Color color, float alpha) {
  const int left = std::max(x0, 0);
  const int right = std::min(x1, image.width);
  const int bottom = std::min(y1, image.height);
  const std::int32_t fixed = fixed_alpha(alpha);
  for (int y = std::max(y0, 0); y < bottom; ++y) {
    for (int x = left; x < right; ++x) mix_pixel(pixel_at(image, x, y), color, fixed);
  }
}

void draw_frame(Image& image, int x0, int y0, int x1, int y1, int thickness, Color color) {
  if (x0 >= x1 || y0 >= y1 || thickness <= 0) return;
  // In 64 bits: corners may lie anywhere. The inner edges never cross.
  const auto inner = [thickness](std::int64_t low, std::int64_t high) {
    const std::int64_t near = std::min(low + thickness, high);
    return std::pair(static_cast<int>(near), static_cast<int>(std::max(high - thickness, near)));
  };
  const auto [inner_x0, inner_x1] = inner(x0, x1);
  const auto [inner_y0, inner_y1] = inner(y0, y1);
  fill_rectangle(image, x0, y0, x1, inner_y0, color, 1.0F);
  fill_rectangle(image, x0, inner_y1, x1, y1, color, 1.0F);
  fill_rectangle(image, x0, inner_y0, inner_x0, inner_y1, color, 1.0F);
  fill_rectangle(image, inner_x1, inner_y0, x1, inner_y1, color, 1.0F);
}

}  // namespace samlet
