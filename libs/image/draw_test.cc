#include "libs/image/draw.h"

#include <climits>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "libs/image/test_support.h"

namespace samlet {
namespace {

Image blank(int width, int height, std::uint8_t value = 0) {
  return {width, height,
          std::vector<std::uint8_t>(
              std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height), value)};
}

constexpr Color kRed{255, 0, 0};

/// The red channel as text, a row a line: '#' full, '.' empty, '+' between.
std::string picture(const Image& image) {
  std::string text;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const std::uint8_t red = image.rgb[std::size_t{3} * static_cast<std::size_t>(y * image.width + x)];
      if (red == 255) {
        text += '#';
      } else {
        text += red == 0 ? '.' : '+';
      }
    }
    text += '\n';
  }
  return text;
}

TEST(BlendColumn, MixesAndClips) {
  Image image = blank(3, 4, 100);
  blend_column(image, 1, -5, 3, {200, 0, 101}, 0.5F);
  EXPECT_EQ((std::vector<std::uint8_t>(image.rgb.begin() + 3, image.rgb.begin() + 6)),
            (std::vector<std::uint8_t>{150, 50, 101}));
  EXPECT_EQ(image.rgb[0], 100);
  EXPECT_EQ(image.rgb[30], 100);  // (1, 3) is outside of the run
  const Image before = image;
  blend_column(image, -1, 0, 4, kRed, 1.0F);
  blend_column(image, 3, 0, 4, kRed, 1.0F);
  blend_column(image, 1, 3, 3, kRed, 1.0F);
  blend_column(image, 1, INT_MIN, 0, kRed, 1.0F);
  blend_column(image, 0, 0, 4, kRed, 0.0F);
  blend_column(image, 0, 0, 4, kRed, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(image.rgb, before.rgb);
}

TEST(FillRectangle, EveryAlphaIsRoundedWell) {
  for (int i = 0; i <= 100; ++i) {
    const float alpha = static_cast<float>(i) / 100.0F;
    Image image = blank(1, 1, 10);
    fill_rectangle(image, 0, 0, 1, 1, {250, 10, 0}, alpha);
    EXPECT_NEAR(image.rgb[0], 10 + 240 * static_cast<double>(alpha), 0.51);
    EXPECT_EQ(image.rgb[1], 10);
    EXPECT_NEAR(image.rgb[2], 10 - 10 * static_cast<double>(alpha), 0.51);
  }
  Image image = blank(1, 1);
  fill_rectangle(image, INT_MIN, INT_MIN, INT_MAX, INT_MAX, kRed, 7.0F);
  EXPECT_EQ(image.rgb[0], 255);
}

TEST(DrawFrame, IsInsideOfItsBox) {
  Image image = blank(7, 6);
  draw_frame(image, 1, 1, 6, 5, 1, kRed);
  EXPECT_EQ(picture(image), ".......\n.#####.\n.#...#.\n.#...#.\n.#####.\n.......\n");
}

TEST(DrawFrame, ThickFramesFillAndClip) {
  Image image = blank(5, 4);
  draw_frame(image, 1, 1, 4, 3, INT_MAX, kRed);
  EXPECT_EQ(picture(image), ".....\n.###.\n.###.\n.....\n");
  image = blank(5, 4);
  draw_frame(image, -2, -2, 3, 3, 1, kRed);
  EXPECT_EQ(picture(image), "..#..\n..#..\n###..\n.....\n");
  image = blank(5, 4);
  draw_frame(image, INT_MIN, INT_MIN, INT_MAX, INT_MAX, 2, kRed);
  draw_frame(image, 3, 3, 3, 4, 1, kRed);
  draw_frame(image, 3, 3, 1, 1, 1, kRed);
  draw_frame(image, 0, 0, 4, 4, 0, kRed);
  EXPECT_EQ(picture(image).find('#'), std::string::npos);
}

int inked(const Image& image) {
  int count = 0;
  for (std::size_t i = 0; i < image.rgb.size(); i += 3) count += image.rgb[i] > 127 ? 1 : 0;
  return count;
}

TEST(TextRenderer, DrawsWithinWhatItMeasures) {
  for (const int size : {6, 9, 12, 16, 40, 100, 400}) {
    SCOPED_TRACE(size);
    const TextRenderer text(size);
    const auto extent = text.measure("Ag0.97");
    EXPECT_GT(extent.width, size * 2);
    EXPECT_LT(extent.width, size * 5);
    EXPECT_GE(extent.ascent, size * 3 / 4);
    EXPECT_GT(extent.descent, 0);
    constexpr int kMargin = 3;
    Image image = blank(extent.width + 2 * kMargin, extent.ascent + extent.descent + 2 * kMargin);
    text.draw(image, kMargin, kMargin + extent.ascent, "Ag0.97", {255, 255, 255});
    EXPECT_GT(inked(image), size * size / 4);
    // The margin stays clean, but for one column of antialiasing.
    Image inner = image;
    fill_rectangle(inner, kMargin - 1, kMargin, image.width - kMargin + 1, image.height - kMargin, {0, 0, 0},
                   1.0F);
    EXPECT_EQ(inked(inner), 0);
  }
}

TEST(TextRenderer, SmallLettersCanBeToldApart) {
  // At 6 pixels, every two letters of a word still differ.
  const TextRenderer text(6);
  std::vector<std::vector<std::uint8_t>> seen;
  for (const char* letter : {"a", "b", "c", "d", "e", "g", "o", "s", "t", "x", "0", "1", "7", "8"}) {
    Image image = blank(8, 10);
    text.draw(image, 1, 7, letter, {255, 255, 255});
    for (const auto& other : seen) EXPECT_NE(image.rgb, other) << letter;
    seen.push_back(image.rgb);
  }
}

TEST(TextRenderer, UnicodeMissingGlyphsAndBrokenText) {
  const TextRenderer text(20);
  EXPECT_GT(text.measure("é ß Ж Ω").width, 0);
  // Kanji are not in the font: each is drawn as its box, all alike.
  const auto draw = [&text](std::string_view utf8) {
    Image image = blank(30, 30);
    text.draw(image, 2, 24, utf8, kRed);
    return image;
  };
  EXPECT_EQ(draw("\xE7\x8A\xAC").rgb, draw("\xE7\x8C\xAB").rgb);
  EXPECT_GT(inked(draw("\xE7\x8A\xAC")), 20);
  EXPECT_NE(draw("\xE7\x8A\xAC").rgb, draw("A").rgb);
  EXPECT_EQ(draw("\xFF").rgb, draw("\xEF\xBF\xBD").rgb);
  EXPECT_EQ(text.measure("a\xC3").width, text.measure("a\xEF\xBF\xBD").width);
  EXPECT_EQ(text.measure("").width, 0);
}

TEST(TextRenderer, ClipsEverywhere) {
  const TextRenderer text(30);
  for (const auto& [x, y] : {std::pair(-10, 5), std::pair(15, 5), std::pair(3, 30), std::pair(3, -30),
                             std::pair(INT_MAX, INT_MAX), std::pair(INT_MIN, INT_MIN)}) {
    Image image = blank(20, 10);
    text.draw(image, x, y, "Wg", kRed);
    EXPECT_EQ(image.rgb.size(), 600U);
  }
  Image empty;
  text.draw(empty, 0, 0, "W", kRed);
  Image image = blank(20, 20);
  text.draw(image, -10, 15, "W", kRed);
  EXPECT_GT(inked(image), 0);
}

TEST(TextRenderer, OddSizesAreBounded) {
  EXPECT_GE(TextRenderer(0).measure("a").width, 0);
  EXPECT_GE(TextRenderer(-5).measure("a").width, 0);
  EXPECT_LT(TextRenderer(INT_MAX).measure("a").width, 4000);
}

}  // namespace
}  // namespace samlet
