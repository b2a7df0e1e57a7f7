#include "libs/engine/formats/outlines.h"

#include <algorithm>
#include <random>
#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "libs/engine/formats/test_support.h"

namespace samlet::formats {
namespace {

/// True when a ray from the centre of a pixel to the left crosses the ring an odd number of times.
bool crosses_oddly(const Ring& ring, int x, int y) {
  bool odd = false;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    Corner a = ring[i];
    Corner b = ring[(i + 1) % ring.size()];
    if (a.y > b.y) std::swap(a, b);  // the same numbers for there and back
    if (a.y > y + 0.5 || b.y <= y + 0.5) continue;
    if (a.x + (y + 0.5 - a.y) / (b.y - a.y) * (b.x - a.x) < x + 0.5) odd = !odd;
  }
  return odd;
}

/// Fills rings by the even-odd rule at the centres of pixels. Sides there and back cancel out.
Mask filled(const std::vector<Ring>& rings, int width, int height) {
  std::vector<std::uint8_t> bitmap;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const auto odd =
          std::count_if(rings.begin(), rings.end(), [&](const Ring& r) { return crosses_oddly(r, x, y); });
      bitmap.push_back(odd % 2 == 1 ? 1 : 0);
    }
  }
  return from_bitmap(bitmap, width, height);
}

std::vector<Ring> all_rings(const std::vector<MaskPart>& parts) {
  std::vector<Ring> rings;
  for (const MaskPart& part : parts) {
    rings.push_back(part.outline);
    rings.insert(rings.end(), part.holes.begin(), part.holes.end());
  }
  return rings;
}

TEST(CutWhereItTouchesItself, LeavesAPlainRingAlone) {
  const Ring square{{0, 1}, {0, 0}, {1, 0}, {1, 1}};
  EXPECT_EQ(cut_where_it_touches_itself(square), std::vector<Ring>{square});
}

TEST(WithSimpleRings, MakesAHoleOfABackgroundThatIsOpenAtACornerOnly) {
  // The middle is joined to the outside at its upper left corner.
  const auto parts = trace_parts(drawn({".###", "#.##", "####"}));
  ASSERT_EQ(parts.size(), 1U);
  ASSERT_TRUE(parts[0].holes.empty());
  const auto simple = with_simple_rings(parts);
  ASSERT_EQ(simple.size(), 1U);
  ASSERT_EQ(simple[0].holes.size(), 1U);
  EXPECT_EQ(signed_area(simple[0].holes[0]), -1);
  EXPECT_EQ(signed_area(simple[0].outline), 11);
}

TEST(WithSimpleRings, OfRandomMasksAreSimpleAndFillExactly) {
  std::mt19937 random(5);  // NOLINT(cert-msc51-cpp): the same each time
  for (int round = 0; round < 300; ++round) {
    const Mask mask =
        random_mask(random, 1 + static_cast<int>(random() % 12), 1 + static_cast<int>(random() % 12));
    const auto parts = with_simple_rings(trace_parts(mask));
    EXPECT_EQ(filled(all_rings(parts), mask.width, mask.height).counts, mask.counts);
    for (const MaskPart& part : parts) {
      EXPECT_GT(signed_area(part.outline), 0);
      for (const Ring& hole : part.holes) EXPECT_LT(signed_area(hole), 0);
    }
    for (const Ring& ring : all_rings(parts)) {
      std::set<std::pair<double, double>> corners;
      for (const Corner& corner : ring) corners.insert({corner.x, corner.y});
      EXPECT_EQ(corners.size(), ring.size()) << "a ring comes back to a corner";
    }
  }
}

TEST(OuterOutlines, LeavesOutIslandsInHoles) {
  const auto parts = trace_parts(drawn({"#####", "#...#", "#.#.#", "#...#", "#####"}));
  ASSERT_EQ(parts.size(), 2U);
  const auto outer = outer_outlines(parts);
  ASSERT_EQ(outer.size(), 1U);
  EXPECT_EQ(signed_area(outer[0]), 25);
}

TEST(OuterOutlines, KeepsPartsBesideEachOtherAndInBays) {
  EXPECT_EQ(outer_outlines(trace_parts(drawn({"###", "...", "###"}))).size(), 2U);
  EXPECT_EQ(outer_outlines(trace_parts(drawn({"####", "#...", "#.#.", "#...", "####"}))).size(), 2U);
}

TEST(OuterOutlines, OfRandomMasksCoverEachPixelAtMostOnce) {
  std::mt19937 random(9);  // NOLINT(cert-msc51-cpp): the same each time
  for (int round = 0; round < 300; ++round) {
    const Mask mask =
        random_mask(random, 1 + static_cast<int>(random() % 12), 1 + static_cast<int>(random() % 12));
    const auto outer = outer_outlines(trace_parts(mask));
    double area = 0;
    for (const Ring& ring : outer) area += signed_area(ring);
    EXPECT_EQ(area, static_cast<double>(filled(outer, mask.width, mask.height).area()));
    EXPECT_GE(area, static_cast<double>(mask.area()));
  }
}

TEST(Joined, HasTheAreaOfAllRings) {
  std::mt19937 random(11);  // NOLINT(cert-msc51-cpp): the same each time
  int several = 0;
  for (int round = 0; round < 300; ++round) {
    const Mask mask =
        random_mask(random, 1 + static_cast<int>(random() % 12), 1 + static_cast<int>(random() % 12));
    const auto outer = outer_outlines(trace_parts(mask));
    if (outer.empty()) continue;
    several += outer.size() > 2 ? 1 : 0;
    EXPECT_EQ(filled({joined(outer)}, mask.width, mask.height).counts,
              filled(outer, mask.width, mask.height).counts);
  }
  EXPECT_GT(several, 50);
}

TEST(Joined, BridgesAtNearCorners) {
  const auto parts = trace_parts(drawn({"##..##"}));
  EXPECT_EQ(joined({parts[0].outline, parts[1].outline}),
            (Ring{{2, 0}, {4, 0}, {6, 0}, {6, 1}, {4, 1}, {4, 0}, {2, 0}, {2, 1}, {0, 1}, {0, 0}}));
}

TEST(OutlinesOf, KeepsThePartsThatAToleranceLikesToSwallow) {
  const auto parts = outlines_of(drawn({"#.#", "...", "###"}), 5);
  ASSERT_EQ(parts.size(), 3U);
  for (const MaskPart& part : parts) EXPECT_GE(part.outline.size(), 3U);
}

}  // namespace
}  // namespace samlet::formats
