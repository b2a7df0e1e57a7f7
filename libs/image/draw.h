// Drawing primitives for overlays. Coordinates are pixels; everything is clipped to the picture.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "samlet/image.h"

namespace samlet {

struct Color {
  std::uint8_t r = 0;
  std::uint8_t g = 0;
  std::uint8_t b = 0;
};

/// Mixes a colour into the pixels (x, y0) .. (x, y1 - 1) of one column: out = pixel + (colour - pixel) *
/// alpha.
void blend_column(Image& image, int x, int y0, int y1, Color color, float alpha);

/// The frame of the half-open box [x0, x1) x [y0, y1), `thickness` pixels wide inwards.
void draw_frame(Image& image, int x0, int y0, int x1, int y1, int thickness, Color color);

/// Filled half-open box.
void fill_rectangle(Image& image, int x0, int y0, int x1, int y1, Color color, float alpha);

/// Draws text with an embedded font (DejaVu Sans, through FreeType). Not thread-safe; one object per thread.
class TextRenderer {
 public:
  /// `pixel_height` is the font's em size. Errors: kInternal when the embedded font cannot be loaded.
  explicit TextRenderer(int pixel_height);
  ~TextRenderer();
  TextRenderer(TextRenderer&&) = delete;
  TextRenderer& operator=(TextRenderer&&) = delete;
  TextRenderer(const TextRenderer&) = delete;
  TextRenderer& operator=(const TextRenderer&) = delete;

  struct Extent {
    int width = 0;
    int ascent = 0;   ///< above the base line
    int descent = 0;  ///< below it, positive
  };
  /// The size that `utf8` would take. Characters the font lacks count as its "missing glyph" box; ill-formed
  /// UTF-8 as U+FFFD.
  [[nodiscard]] Extent measure(std::string_view utf8) const;
  /// Draws with the left end of the base line at (x, baseline), antialiased.
  void draw(Image& image, int x, int baseline, std::string_view utf8, Color color) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace samlet
