// TextRenderer through FreeType.
#include <ft2build.h>
#include FT_FREETYPE_H

#include <algorithm>
#include <cstdint>
#include <string>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/image/draw.h"
#include "libs/image/font_data.h"
#include "samlet/error.h"

namespace samlet {
namespace {

constexpr int kMinPixelHeight = 1;
/// Sane for labels, and far inside of FreeType's 16-bit coordinates.
constexpr int kMaxPixelHeight = 2000;

[[noreturn]] void throw_font_error(std::string_view what, FT_Error error) {
  throw Error(ErrorCode::kInternal,
              fmt::format("the embedded font cannot be used: {} (FreeType error {}); please report this",
                          what, error));
}

/// Code points of text that may be ill-formed: each byte that belongs to no character becomes U+FFFD.
std::u32string lenient_code_points(std::string_view text) {
  std::u32string out;
  while (!text.empty()) {
    const std::size_t sound = find_invalid_utf8(text).value_or(text.size());
    out += decode_utf8(text.substr(0, sound)).value_or(std::u32string());
    text.remove_prefix(sound);
    if (text.empty()) break;
    out += U'\uFFFD';
    text.remove_prefix(1);
  }
  return out;
}

/// 26.6 fixed point to whole pixels.
int ceil_pixels(FT_Pos value) {
  return static_cast<int>((value + 63) >> 6);
}

void mix_coverage(std::uint8_t* pixel, Color color, std::uint8_t coverage) {
  const auto mix = [coverage](std::uint8_t below, std::uint8_t above) {
    return static_cast<std::uint8_t>((below * (255 - coverage) + above * coverage + 127) / 255);
  };
  pixel[0] = mix(pixel[0], color.r);
  pixel[1] = mix(pixel[1], color.g);
  pixel[2] = mix(pixel[2], color.b);
}

/// Puts one rendered glyph (8-bit coverage) with its upper left corner at (left, top).
void blit(Image& image, const FT_Bitmap& bitmap, std::int64_t left, std::int64_t top, Color color) {
  if (bitmap.pixel_mode != FT_PIXEL_MODE_GRAY) return;
  for (unsigned row = 0; row < bitmap.rows; ++row) {
    const std::int64_t y = top + row;
    if (y < 0 || y >= image.height) continue;
    for (unsigned column = 0; column < bitmap.width; ++column) {
      const std::int64_t x = left + column;
      if (x < 0 || x >= image.width) continue;
      const std::uint8_t coverage = bitmap.buffer[static_cast<std::ptrdiff_t>(row) * bitmap.pitch + column];
      const std::int64_t pixel = y * image.width + x;
      mix_coverage(image.rgb.data() + 3 * static_cast<std::size_t>(pixel), color, coverage);
    }
  }
}

}  // namespace

struct TextRenderer::Impl {
  FT_Library library = nullptr;
  FT_Face face = nullptr;

  Impl() = default;
  ~Impl() {
    if (face != nullptr) FT_Done_Face(face);
    if (library != nullptr) FT_Done_FreeType(library);
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  /// Calls `use(pen_x)` with each glyph loaded in the face's slot; returns the width of all. The pen is
  /// in 26.6.
  template <typename Use>
  FT_Pos walk(std::string_view utf8, FT_Int32 flags, Use&& use) const {
    FT_Pos pen = 0;
    FT_UInt previous = 0;
    for (const char32_t code_point : lenient_code_points(utf8)) {
      // Index 0 is the font's box for what it lacks.
      const FT_UInt glyph = FT_Get_Char_Index(face, code_point);
      FT_Vector kerning{};
      if (previous != 0 && glyph != 0 &&
          FT_Get_Kerning(face, previous, glyph, FT_KERNING_DEFAULT, &kerning) == 0) {
        pen += kerning.x;
      }
      previous = glyph;
      if (FT_Load_Glyph(face, glyph, flags) != 0) continue;
      use(pen);
      pen += face->glyph->advance.x;
    }
    return pen;
  }
};

TextRenderer::TextRenderer(int pixel_height) : impl_(std::make_unique<Impl>()) {
  const std::span<const std::uint8_t> font = embedded_font();
  if (const FT_Error error = FT_Init_FreeType(&impl_->library); error != 0) throw_font_error("start", error);
  if (const FT_Error error =
          FT_New_Memory_Face(impl_->library, font.data(), static_cast<FT_Long>(font.size()), 0, &impl_->face);
      error != 0) {
    throw_font_error("load", error);
  }
  const int height = std::clamp(pixel_height, kMinPixelHeight, kMaxPixelHeight);
  if (const FT_Error error = FT_Set_Pixel_Sizes(impl_->face, 0, static_cast<FT_UInt>(height)); error != 0) {
    throw_font_error(fmt::format("size {}", height), error);
  }
}

TextRenderer::~TextRenderer() = default;

TextRenderer::Extent TextRenderer::measure(std::string_view utf8) const {
  const FT_Size_Metrics& metrics = impl_->face->size->metrics;
  const FT_Pos width = impl_->walk(utf8, FT_LOAD_DEFAULT, [](FT_Pos) {});
  return {ceil_pixels(width), ceil_pixels(metrics.ascender), ceil_pixels(-metrics.descender)};
}

void TextRenderer::draw(Image& image, int x, int baseline, std::string_view utf8, Color color) const {
  impl_->walk(utf8, FT_LOAD_RENDER, [&](FT_Pos pen) {
    const auto* slot = impl_->face->glyph;
    blit(image, slot->bitmap, std::int64_t{x} + ((pen + 32) >> 6) + slot->bitmap_left,
         std::int64_t{baseline} - slot->bitmap_top, color);
  });
}

}  // namespace samlet
