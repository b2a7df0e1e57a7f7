#include "libs/engine/overlay.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "libs/engine/palette.h"
#include "samlet/error.h"

namespace samlet {
namespace {

Image plain(int width, int height, std::uint8_t level) {
  const auto bytes = std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  return {width, height, std::vector<std::uint8_t>(bytes, level)};
}

Color at(const Image& image, int x, int y) {
  const auto i =
      3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) + static_cast<std::size_t>(x));
  return {image.rgb[i], image.rgb[i + 1], image.rgb[i + 2]};
}

bool same(Color a, Color b) {
  return a.r == b.r && a.g == b.g && a.b == b.b;
}
bool is_gray(Color c, int level) {
  return c.r == level && c.g == level && c.b == level;
}

/// Set where `inside(x, y)`.
template <typename Inside>
Mask mask_of(int width, int height, Inside&& inside) {
  std::vector<std::uint8_t> bitmap;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) bitmap.push_back(inside(x, y) ? 1 : 0);
  }
  return from_bitmap(bitmap, width, height);
}

Mask rectangle(int width, int height, int x0, int y0, int x1, int y1) {
  return mask_of(width, height, [=](int x, int y) { return x >= x0 && x < x1 && y >= y0 && y < y1; });
}

/// The box around all pixels that are not of the level, as x0, y0, x1, y1; all 0 when there are none.
std::array<int, 4> changed(const Image& image, int level) {
  std::array<int, 4> box{image.width, image.height, 0, 0};
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (is_gray(at(image, x, y), level)) continue;
      box = {std::min(box[0], x), std::min(box[1], y), std::max(box[2], x + 1), std::max(box[3], y + 1)};
    }
  }
  return box[2] == 0 ? std::array<int, 4>{} : box;
}

int count(const Image& image, Color color) {
  int n = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) n += same(at(image, x, y), color) ? 1 : 0;
  }
  return n;
}

void draw(Image& image, const std::vector<OverlayItem>& items) {
  draw_overlay(image, items);
}

TEST(Overlay, TintsInsideAndLeavesTheOutsideAlone) {
  const Mask mask = rectangle(300, 200, 100, 60, 180, 140);
  Image image = plain(300, 200, 100);
  draw(image, {{&mask, {}, ""}});
  const Color color = palette_color(0);
  const auto tinted = [](int channel) {
    return static_cast<std::uint8_t>((100 * 154 + channel * 102 + 128) >> 8);
  };
  // 40 per cent of the colour everywhere but near the outline.
  for (int y = 66; y < 134; ++y) {
    for (int x = 106; x < 174; ++x) {
      ASSERT_TRUE(same(at(image, x, y), {tinted(color.r), tinted(color.g), tinted(color.b)}))
          << x << ", " << y;
    }
  }
  const auto box = changed(image, 100);
  // The outline reaches two pixels beyond the mask here: half of its line, and the casing.
  EXPECT_GE(box[0], 98);
  EXPECT_GE(box[1], 58);
  EXPECT_LE(box[2], 182);
  EXPECT_LE(box[3], 142);
}

TEST(Overlay, TheOutlineShowsOnDarkAndBrightGround) {
  const Mask mask = mask_of(400, 400, [](int x, int y) { return std::hypot(x - 200, y - 200) < 120; });
  for (const int level : {0, 128, 255}) {
    Image image = plain(400, 400, static_cast<std::uint8_t>(level));
    draw(image, {{&mask, {}, ""}});
    // From the outside to the centre: ground, dark casing, the pure colour, tint.
    int casing = 0;
    int line = 0;
    for (int x = 60; x < 100; ++x) {
      const Color c = at(image, x, 200);
      if (same(c, palette_color(0))) ++line;
      if (line == 0 && c.r < level / 2 + 1 && !is_gray(c, level)) ++casing;
    }
    EXPECT_GE(line, 1) << level;
    EXPECT_EQ(casing >= 1, level > 0) << level;
  }
}

TEST(Overlay, OutlinesSurroundHolesToo) {
  const Mask ring = mask_of(200, 200, [](int x, int y) {
    const double d = std::hypot(x - 100, y - 100);
    return d < 80 && d > 40;
  });
  Image image = plain(200, 200, 255);
  draw(image, {{&ring, {}, ""}});
  EXPECT_TRUE(is_gray(at(image, 100, 100), 255));
  int line = 0;
  for (int x = 55; x < 65; ++x) line += same(at(image, x, 100), palette_color(0)) ? 1 : 0;
  EXPECT_GE(line, 1);
}

TEST(Overlay, DrawsTheFrameOfTheBoxInwards) {
  Image image = plain(200, 150, 255);
  draw(image, {{nullptr, {50, 40, 120, 90}, ""}});
  EXPECT_TRUE(same(at(image, 50, 40), palette_color(0)));
  EXPECT_TRUE(same(at(image, 119, 89), palette_color(0)));
  EXPECT_TRUE(same(at(image, 50, 60), palette_color(0)));
  EXPECT_TRUE(is_gray(at(image, 52, 42), 255));
  EXPECT_EQ(changed(image, 255), (std::array<int, 4>{49, 39, 121, 91}));  // one pixel of casing around
}

TEST(Overlay, CornersInAnyOrderAreTheSameBox) {
  Image a = plain(200, 150, 255);
  Image b = a;
  draw(a, {{nullptr, {50, 40, 120, 90}, "dog"}});
  draw(b, {{nullptr, {120, 90, 50, 40}, "dog"}});
  EXPECT_EQ(a.rgb, b.rgb);
}

TEST(Overlay, ItemsHaveTheirOwnColours) {
  Image image = plain(400, 300, 255);
  draw(image, {{nullptr, {10, 10, 60, 60}, ""},
               {nullptr, {100, 10, 160, 60}, ""},
               {nullptr, {200, 10, 260, 60}, ""}});
  EXPECT_TRUE(same(at(image, 10, 30), palette_color(0)));
  EXPECT_TRUE(same(at(image, 100, 30), palette_color(1)));
  EXPECT_TRUE(same(at(image, 200, 30), palette_color(2)));
}

TEST(Overlay, ASmallThingInFrontOfALargeOneStaysVisibleInAnyOrder) {
  const Mask small = rectangle(300, 200, 130, 80, 170, 120);
  const Mask large = rectangle(300, 200, 10, 10, 290, 190);
  Image image = plain(300, 200, 0);
  draw(image, {{&small, {}, ""}, {&large, {}, ""}});
  const Color below = palette_color(1);
  const Color above = palette_color(0);
  const auto mix = [](int b, int a) { return static_cast<std::uint8_t>((b * 154 + a * 102 + 128) >> 8); };
  EXPECT_TRUE(same(at(image, 150, 100), {mix(mix(0, below.r), above.r), mix(mix(0, below.g), above.g),
                                         mix(mix(0, below.b), above.b)}));
}

TEST(Overlay, LabelsStandOnTheBoxAndInsideThePicture) {
  for (const Box& box :
       {Box{100, 100, 200, 200}, Box{0, 0, 50, 50}, Box{600, 440, 640, 480}, Box{630, 0, 640, 480}}) {
    Image with = plain(640, 480, 255);
    Image without = with;
    draw(with, {{nullptr, box, "red circle 0.93"}});
    draw(without, {{nullptr, box, ""}});
    // The whole rectangle is in the picture: as many pixels of the colour as elsewhere.
    EXPECT_GT(count(with, palette_color(0)) - count(without, palette_color(0)), 1000) << box.x1;
    EXPECT_GT(count(with, {0, 0, 0}), 5) << "black words on a bright label";
  }
  Image image = plain(640, 480, 255);
  draw(image, {{nullptr, {100, 100, 200, 200}, "red circle 0.93"}});
  EXPECT_TRUE(same(at(image, 101, 98), palette_color(0)));
}

TEST(Overlay, LongLabelsAreShortened) {
  const std::string longer(3000, 'w');
  for (const std::string& label : {longer + " 0.52", longer, std::string(100000, 'x')}) {
    Image image = plain(640, 480, 255);
    draw(image, {{nullptr, {300, 200, 310, 210}, label}});
    const auto box = changed(image, 255);
    EXPECT_GT(box[2] - box[0], 300);
    EXPECT_LE(box[2] - box[0], 640 * 3 / 5 + 2);
  }
}

TEST(Overlay, OddLabelsAreDrawn) {
  // Ill-formed UTF-8, control characters, characters that the font lacks, writing from the right.
  for (const char* label :
       {"\xff\xfe", "a\nb\tc\x01", "红色的球 0.91", "כדור אדום", "\xf0\x9f\x90\xb6", "…"}) {
    Image image = plain(640, 480, 255);
    draw(image, {{nullptr, {300, 200, 310, 210}, label}});
    EXPECT_GT(count(image, palette_color(0)), 100) << label;
  }
}

TEST(Overlay, LabelsOfOneBoxDoNotHideEachOther) {
  const std::vector<OverlayItem> items(4, OverlayItem{nullptr, {200, 200, 400, 300}, "dog 0.93"});
  Image image = plain(640, 480, 255);
  draw(image, items);
  Image alone = plain(640, 480, 255);
  draw(alone, {{nullptr, {}, "dog 0.93"}});
  const int whole = count(alone, palette_color(0));
  ASSERT_GT(whole, 500);
  for (std::size_t i = 0; i < items.size(); ++i)
    EXPECT_GE(count(image, palette_color(i)), whole * 9 / 10) << i;
}

TEST(Overlay, TinyPicturesGetNoLabel) {
  for (const int side : {1, 2, 16, 30}) {
    Image with = plain(side, side, 255);
    Image without = with;
    const double end = side;
    draw(with, {{nullptr, {0, 0, end, end}, "dog"}});
    draw(without, {{nullptr, {0, 0, end, end}, ""}});
    EXPECT_EQ(with.rgb, without.rgb) << side;
  }
}

TEST(Overlay, LinesAndLettersGrowWithThePicture) {
  const auto line = [](int side) {
    Image image = plain(side, side, 255);
    draw(image, {{nullptr, {side * 0.25, side * 0.25, side * 0.75, side * 0.75}, ""}});
    int n = 0;
    for (int x = 0; x < side / 2; ++x) n += same(at(image, x, side / 2), palette_color(0)) ? 1 : 0;
    return n;
  };
  EXPECT_EQ(line(64), 1);
  EXPECT_EQ(line(600), 1);
  EXPECT_EQ(line(3000), 5);
}

TEST(Overlay, ExtremeSizesAndBoxesDoNoHarm) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const auto& [width, height] : std::vector<std::pair<int, int>>{
           {1, 1}, {1, 5000}, {5000, 1}, {2, 2}, {16, 16}, {63, 65}, {64, 64}, {3, 900}, {900, 40}}) {
    const Mask full = rectangle(width, height, 0, 0, width, height);
    const Mask empty = rectangle(width, height, 0, 0, 0, 0);
    const Mask checkers = mask_of(width, height, [](int x, int y) { return (x + y) % 2 == 0; });
    Image image = plain(width, height, 90);
    const std::size_t bytes = image.rgb.size();
    draw(image, {{&full, {-1e300, -5, 1e300, 7}, "full"},
                 {&empty, {kNan, kNan, kNan, kNan}, "empty"},
                 {&checkers, {-kInfinity, -kInfinity, kInfinity, kInfinity}, std::string(300, 'W')},
                 {nullptr, {width - 0.4, height - 0.4, width + 0.4, height + 0.4}, "corner"}});
    EXPECT_EQ(image.rgb.size(), bytes);
    EXPECT_FALSE(is_gray(at(image, width / 2, height / 2), 90));
  }
}

TEST(Overlay, NothingToDrawChangesNothing) {
  Image image = plain(50, 40, 7);
  draw(image, {});
  const Mask empty = rectangle(50, 40, 0, 0, 0, 0);
  draw(image, {{&empty, {}, ""}});
  EXPECT_EQ(image.rgb, plain(50, 40, 7).rgb);
  Image none;
  draw(none, {{nullptr, {0, 0, 1, 1}, "x"}});
  EXPECT_TRUE(none.rgb.empty());
}

TEST(Overlay, IsTheSameEachTime) {
  const Mask disc = mask_of(320, 240, [](int x, int y) { return std::hypot(x - 100, y - 90) < 70; });
  const std::vector<OverlayItem> items{{&disc, {30, 20, 170, 160}, "disc 0.9"},
                                       {&disc, {40, 20, 170, 160}, "same 0.8"}};
  Image a = plain(320, 240, 60);
  Image b = a;
  draw(a, items);
  draw(b, items);
  EXPECT_EQ(a.rgb, b.rgb);
}

TEST(Overlay, RefusesWhatDoesNotFit) {
  const auto refused = [](Image image, const Mask& mask) {
    const Image before = image;
    try {
      draw(image, {{nullptr, {0, 0, 9, 9}, ""}, {&mask, {}, ""}});
    } catch (const Error& e) {
      // Nothing is drawn by a call that fails.
      return e.code() == ErrorCode::kInternal && image.rgb == before.rgb;
    }
    return false;
  };
  EXPECT_TRUE(refused(plain(20, 10, 0), Mask{10, 20, {200}}));
  EXPECT_TRUE(refused(plain(20, 10, 0), Mask{20, 10, {0, 201}}));
  EXPECT_TRUE(refused(plain(20, 10, 0), Mask{20, 10, {}}));
  Image cut = plain(20, 10, 0);
  cut.rgb.pop_back();
  EXPECT_TRUE(refused(cut, Mask{20, 10, {200}}));
}

long peak_kilobytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST(Overlay, HoldsLessThanOneBitmapBesideThePicture) {
  constexpr int kWidth = 4000;
  constexpr int kHeight = 3000;
  Image image = plain(kWidth, kHeight, 50);
  // The whole picture, three times.
  const Mask full{kWidth, kHeight, {0, kWidth * kHeight}};
  const long before = peak_kilobytes();
  draw(image, std::vector<OverlayItem>(3, OverlayItem{&full, {0, 0, kWidth, kHeight}, "all 1.00"}));
  EXPECT_LT(peak_kilobytes() - before, kWidth * kHeight / 1024);
}

TEST(Palette, ColoursDifferAndRepeat) {
  std::set<std::array<int, 3>> colours;
  for (std::size_t i = 0; i < kPaletteSize; ++i) {
    const Color c = palette_color(i);
    colours.insert({c.r, c.g, c.b});
    EXPECT_TRUE(same(c, palette_color(i + kPaletteSize)));
    // Not one of them is near the greys: tints would be mistaken for shadow.
    EXPECT_GE(std::max({c.r, c.g, c.b}) - std::min({c.r, c.g, c.b}), 60) << i;
  }
  EXPECT_EQ(colours.size(), kPaletteSize);
}

TEST(Palette, TextIsLegibleOnEveryColour) {
  EXPECT_TRUE(same(text_color_on({255, 255, 255}), {0, 0, 0}));
  EXPECT_TRUE(same(text_color_on({0, 0, 0}), {255, 255, 255}));
  EXPECT_TRUE(same(text_color_on({0, 0, 255}), {255, 255, 255}));
  EXPECT_TRUE(same(text_color_on({255, 255, 0}), {0, 0, 0}));
  const auto luminance = [](Color c) {
    const auto linear = [](int v) { return std::pow(v / 255.0, 2.2); };
    return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
  };
  for (std::size_t i = 0; i < kPaletteSize; ++i) {
    const double ground = luminance(palette_color(i)) + 0.05;
    const double text = luminance(text_color_on(palette_color(i))) + 0.05;
    EXPECT_GE(std::max(ground, text) / std::min(ground, text), 4.5) << i;  // WCAG 2, AA
  }
}

}  // namespace
}  // namespace samlet
