#include "samlet/mask.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet {
namespace {

using Bitmap = std::vector<std::uint8_t>;

Bitmap random_bitmap(int width, int height, double density, unsigned seed) {
  std::mt19937 random(seed);
  Bitmap bitmap(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (auto& b : bitmap) b = static_cast<double>(random() % 1000) < density * 1000 ? 1 : 0;
  return bitmap;
}

TEST(Mask, RunsGoDownColumnsFirst) {
  // 3 wide, 2 high:  0 1 1
  //                  1 1 0
  EXPECT_EQ(from_bitmap({0, 1, 1, 1, 1, 0}, 3, 2).counts, (std::vector<std::uint32_t>{1, 4, 1}));
}

TEST(Mask, ASetFirstPixelMakesAnEmptyFirstRun) {
  EXPECT_EQ(from_bitmap({1, 1}, 1, 2).counts, (std::vector<std::uint32_t>{0, 2}));
  EXPECT_EQ(from_bitmap({1, 0}, 1, 2).counts, (std::vector<std::uint32_t>{0, 1, 1}));
}

TEST(Mask, AnyNonZeroByteIsSet) {
  EXPECT_EQ(from_bitmap({0, 255, 2, 0}, 2, 2).area(), 2U);
}

TEST(Mask, BitmapsRoundTripAtEverySize) {
  // Widths on both sides of the block of 64 columns the conversion works in.
  for (const int width : {1, 2, 63, 64, 65, 128, 131}) {
    for (const int height : {1, 2, 5, 64, 67}) {
      for (const double density : {0.0, 0.02, 0.5, 1.0}) {
        const Bitmap bitmap =
            random_bitmap(width, height, density, static_cast<unsigned>(width * 1000 + height));
        const Mask mask = from_bitmap(bitmap, width, height);
        ASSERT_EQ(to_bitmap(mask), bitmap) << width << " x " << height << " at " << density;
        EXPECT_EQ(mask.area(), std::accumulate(bitmap.begin(), bitmap.end(), std::uint64_t{0}));
        for (std::size_t i = 1; i < mask.counts.size(); ++i) ASSERT_GT(mask.counts[i], 0U);
      }
    }
  }
}

TEST(Mask, NoPixelsAtAll) {
  EXPECT_EQ(Mask{}.area(), 0U);
  EXPECT_TRUE(to_bitmap(Mask{}).empty());
  EXPECT_EQ(from_bitmap({}, 0, 7).area(), 0U);
}

TEST(Mask, AreaCountsBeyond32Bits) {
  EXPECT_EQ((Mask{0, 0, {0, 4'000'000'000U, 0, 4'000'000'000U}}.area()), 8'000'000'000ULL);
}

TEST(Mask, WrongSizesAreRefused) {
  const auto code_of = [](auto&& call) {
    try {
      call();
    } catch (const Error& e) {
      return e.code();
    }
    return ErrorCode::kInternal;
  };
  EXPECT_EQ(code_of([] { (void)from_bitmap({1, 0, 1}, 2, 2); }), ErrorCode::kUsage);
  EXPECT_EQ(code_of([] { (void)from_bitmap({1, 0, 1, 1}, -2, -2); }), ErrorCode::kUsage);
  EXPECT_EQ(code_of([] { (void)to_bitmap(Mask{2, 2, {1, 4}}); }), ErrorCode::kUsage);
  EXPECT_EQ(code_of([] { (void)to_bitmap(Mask{2, 2, {}}); }), ErrorCode::kUsage);
  EXPECT_EQ(code_of([] { (void)to_bitmap(Mask{-2, 2, {4}}); }), ErrorCode::kUsage);
  EXPECT_EQ(code_of([] { (void)intersection_over_union(Mask{2, 3, {6}}, Mask{3, 2, {6}}); }),
            ErrorCode::kUsage);
  EXPECT_EQ(code_of([] { (void)intersection_over_union(Mask{2, 2, {4}}, Mask{2, 2, {0, 5}}); }),
            ErrorCode::kUsage);
}

TEST(IntersectionOverUnion, OfKnownMasks) {
  const Mask empty{4, 1, {4}};
  const Mask full{4, 1, {0, 4}};
  const Mask left{4, 1, {0, 2, 2}};
  const Mask middle{4, 1, {1, 2, 1}};
  const Mask right{4, 1, {2, 2}};
  EXPECT_EQ(intersection_over_union(empty, empty), 1.0);
  EXPECT_EQ(intersection_over_union(empty, full), 0.0);
  EXPECT_EQ(intersection_over_union(full, full), 1.0);
  EXPECT_EQ(intersection_over_union(left, right), 0.0);
  EXPECT_EQ(intersection_over_union(left, full), 0.5);
  EXPECT_EQ(intersection_over_union(left, middle), 1.0 / 3.0);
  EXPECT_EQ(intersection_over_union(Mask{}, Mask{}), 1.0);
}

TEST(IntersectionOverUnion, EmptyRunsChangeNothing) {
  EXPECT_EQ(intersection_over_union(Mask{4, 1, {0, 1, 0, 1, 2, 0, 0}}, Mask{4, 1, {0, 2, 2}}), 1.0);
}

TEST(IntersectionOverUnion, EqualsTheCountOverBitmaps) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const Bitmap a = random_bitmap(29, 31, 0.1 * (seed % 10), seed);
    const Bitmap b = random_bitmap(29, 31, 0.6, seed + 1000);
    int both = 0;
    int either = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      both += a[i] & b[i];
      either += a[i] | b[i];
    }
    EXPECT_EQ(intersection_over_union(from_bitmap(a, 29, 31), from_bitmap(b, 29, 31)),
              static_cast<double>(both) / static_cast<double>(either));
  }
}

}  // namespace
}  // namespace samlet
