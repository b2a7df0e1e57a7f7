#include "libs/mask/polygon.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet {
namespace {

/// A mask out of rows of '#' and '.'.
Mask drawn(const std::vector<std::string>& rows) {
  std::vector<std::uint8_t> bitmap;
  for (const std::string& row : rows) {
    for (const char c : row) bitmap.push_back(c == '#' ? 1 : 0);
  }
  return from_bitmap(bitmap, static_cast<int>(rows[0].size()), static_cast<int>(rows.size()));
}

/// True when a ray from (x, y) to the left crosses the ring an odd number of times.
bool inside(const Ring& ring, double x, double y) {
  bool odd = false;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner& a = ring[i];
    const Corner& b = ring[(i + 1) % ring.size()];
    if ((a.y > y) == (b.y > y)) continue;
    if (a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x) < x) odd = !odd;
  }
  return odd;
}

/// Fills the parts by the centres of pixels, the plain way.
Mask filled(const std::vector<MaskPart>& parts, int width, int height) {
  std::vector<std::uint8_t> bitmap;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      int times = 0;
      for (const MaskPart& part : parts) {
        bool in = inside(part.outline, x + 0.5, y + 0.5);
        for (const Ring& hole : part.holes) in = in && !inside(hole, x + 0.5, y + 0.5);
        times += in ? 1 : 0;
      }
      EXPECT_LE(times, 1) << "a pixel belongs to two parts";
      bitmap.push_back(times > 0 ? 1 : 0);
    }
  }
  return from_bitmap(bitmap, width, height);
}

/// The number of parts that hang together by sides, counted by flooding.
std::size_t count_parts(const Mask& mask) {
  std::vector<std::uint8_t> bitmap = to_bitmap(mask);
  std::size_t parts = 0;
  for (int start = 0; start < mask.width * mask.height; ++start) {
    if (bitmap[static_cast<std::size_t>(start)] == 0) continue;
    ++parts;
    std::vector<int> open{start};
    while (!open.empty()) {
      const int at = open.back();
      open.pop_back();
      const int x = at % mask.width;
      const int y = at / mask.width;
      if (bitmap[static_cast<std::size_t>(at)] == 0) continue;
      bitmap[static_cast<std::size_t>(at)] = 0;
      if (x > 0) open.push_back(at - 1);
      if (x + 1 < mask.width) open.push_back(at + 1);
      if (y > 0) open.push_back(at - mask.width);
      if (y + 1 < mask.height) open.push_back(at + mask.width);
    }
  }
  return parts;
}

void expect_exact(const Mask& mask) {
  const auto parts = trace_parts(mask);
  EXPECT_EQ(filled(parts, mask.width, mask.height).counts, mask.counts);
  EXPECT_EQ(parts.size(), count_parts(mask));
  double area = 0;
  for (const MaskPart& part : parts) {
    EXPECT_GT(signed_area(part.outline), 0);
    area += signed_area(part.outline);
    for (const Ring& hole : part.holes) {
      EXPECT_LT(signed_area(hole), 0);
      area += signed_area(hole);
      EXPECT_TRUE(inside(part.outline, hole[0].x + 0.01, hole[0].y + 0.01) ||
                  inside(part.outline, hole[0].x - 0.01, hole[0].y - 0.01))
          << "a hole lies outside of its part";
    }
  }
  EXPECT_EQ(area, static_cast<double>(mask.area()));
}

TEST(TraceParts, OnePixelIsASquare) {
  const auto parts = trace_parts(drawn({"...", ".#.", "..."}));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].outline, (Ring{{1, 2}, {1, 1}, {2, 1}, {2, 2}}));
  EXPECT_TRUE(parts[0].holes.empty());
}

TEST(TraceParts, NothingAndEverything) {
  EXPECT_TRUE(trace_parts(drawn({"...", "..."})).empty());
  EXPECT_TRUE(trace_parts(Mask{}).empty());
  const auto parts = trace_parts(drawn({"###", "###"}));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].outline, (Ring{{0, 2}, {0, 0}, {3, 0}, {3, 2}}));
}

TEST(TraceParts, OneRowAndOneColumn) {
  expect_exact(drawn({"##.#"}));
  expect_exact(drawn({"#", ".", "#", "#"}));
  EXPECT_EQ(trace_parts(drawn({"....", "####"}))[0].outline.size(), 4U)
      << "corners only where the line turns";
}

TEST(TraceParts, PixelsThatTouchAcrossAreTwoParts) {
  EXPECT_EQ(trace_parts(drawn({"#.", ".#"})).size(), 2U);
  EXPECT_EQ(trace_parts(drawn({".#", "#."})).size(), 2U);
  expect_exact(drawn({"#.#.#", ".#.#.", "#.#.#"}));
}

TEST(TraceParts, RingsHaveHolesAndIslandsAreTheirOwnParts) {
  const auto parts = trace_parts(drawn({
      "#######",
      "#.....#",
      "#.###.#",
      "#.#.#.#",
      "#.###.#",
      "#.....#",
      "#######",
  }));
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].holes.size(), 1U);
  EXPECT_EQ(parts[1].holes.size(), 1U);
  EXPECT_EQ(signed_area(parts[0].holes[0]), -25);
  EXPECT_EQ(signed_area(parts[1].holes[0]), -1);
}

TEST(TraceParts, HolesThatTouchAcrossAreOneLineOrTwoButFillRight) {
  expect_exact(drawn({"#####", "#.###", "##.##", "###.#", "#####"}));
  expect_exact(drawn({"####", "#.##", "##.#", "####"}));
  expect_exact(drawn({"####", "##.#", "#.##", "####"}));
}

TEST(TraceParts, HolesToTheRightOfHolesBelongToTheSamePart) {
  const auto parts = trace_parts(drawn({"##########", "#.#.#.##.#", "##########"}));
  ASSERT_EQ(parts.size(), 1U);
  EXPECT_EQ(parts[0].holes.size(), 4U);
}

TEST(TraceParts, RandomMasksFillExactly) {
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same each time
  for (int round = 0; round < 400; ++round) {
    const int width = 1 + static_cast<int>(random() % 14);
    const int height = 1 + static_cast<int>(random() % 14);
    const std::uint64_t density = 1 + random() % 9;
    std::vector<std::uint8_t> bitmap;
    for (int i = 0; i < width * height; ++i) bitmap.push_back(random() % 10 < density ? 1 : 0);
    SCOPED_TRACE("round " + std::to_string(round));
    expect_exact(from_bitmap(bitmap, width, height));
  }
}

TEST(TraceParts, RunsMustFitTheSize) {
  EXPECT_THROW((void)trace_parts(Mask{3, 3, {4, 4}}), Error);
}

TEST(Simplified, ToleranceZeroKeepsEveryCorner) {
  const Ring ring = trace_parts(drawn({"#..", "##.", "###"}))[0].outline;
  EXPECT_EQ(simplified(ring, 0), ring);
}

TEST(Simplified, StairsBecomeAStraightLine) {
  std::vector<std::string> rows;
  for (int y = 0; y < 40; ++y)
    rows.push_back(std::string(static_cast<std::size_t>(y + 1), '#') +
                   std::string(39 - static_cast<std::size_t>(y), '.'));
  const Mask mask = drawn(rows);
  const Ring ring = trace_parts(mask)[0].outline;
  EXPECT_EQ(ring.size(), 82U);
  const Ring simple = simplified(ring, 1);
  EXPECT_LE(simple.size(), 5U);
  EXPECT_NEAR(signed_area(simple), static_cast<double>(mask.area()), 30);
  // No corner that was left out is farther away than the tolerance: checked by the line's own definition.
  for (const Corner& corner : simple) EXPECT_NE(std::find(ring.begin(), ring.end(), corner), ring.end());
}

TEST(Simplified, WhatWouldVanishStays) {
  const Ring square = trace_parts(drawn({"#"}))[0].outline;
  EXPECT_EQ(simplified(square, 100), square);
}

}  // namespace
}  // namespace samlet
