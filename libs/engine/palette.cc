#include "libs/engine/palette.h"

#include <array>
#include <cmath>
#include <cstdint>

namespace samlet {
namespace {

// Written by tools/mask/make_palette.py.
constexpr std::array<Color, kPaletteSize> kPalette{{
    {30, 144, 255},  {180, 255, 0},   {255, 0, 0},    {255, 180, 255}, {210, 75, 195},
    {255, 165, 0},   {0, 210, 165},   {60, 150, 90},  {135, 255, 210}, {165, 165, 255},
    {225, 120, 135}, {225, 225, 120}, {0, 180, 210},  {240, 15, 255},  {255, 120, 225},
    {195, 150, 0},   {240, 45, 135},  {180, 195, 90}, {135, 120, 225}, {105, 180, 90},
}};

/// Linear light of one sRGB channel, 0..1 (IEC 61966-2-1).
double linear(std::uint8_t channel) noexcept {
  const double s = channel / 255.0;
  return s <= 0.04045 ? s / 12.92 : std::pow((s + 0.055) / 1.055, 2.4);
}

}  // namespace

Color palette_color(std::size_t index) noexcept {
  return kPalette[index % kPaletteSize];
}

Color text_color_on(Color ground) noexcept {
  const double luminance = 0.2126 * linear(ground.r) + 0.7152 * linear(ground.g) + 0.0722 * linear(ground.b);
  // Contrast is (lighter + 0.05) / (darker + 0.05): black and white are even at sqrt(1.05 * 0.05) - 0.05.
  constexpr double kEven = 0.1791;
  return luminance > kEven ? Color{0, 0, 0} : Color{255, 255, 255};
}

}  // namespace samlet
