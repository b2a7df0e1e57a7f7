#include "libs/mask/tight_box.h"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace samlet {
namespace {

TEST(TightBoxOfMask, HoldsAllPixelsAndNoMore) {
  std::mt19937 random(3);  // NOLINT(cert-msc51-cpp): the same each time
  for (int round = 0; round < 300; ++round) {
    const int width = 1 + static_cast<int>(random() % 9);
    const int height = 1 + static_cast<int>(random() % 9);
    std::vector<std::uint8_t> bitmap;
    TightBox expected{width, height, 0, 0};
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        bitmap.push_back(random() % 8 == 0 ? 1 : 0);
        if (bitmap.back() == 0) continue;
        expected = {std::min(expected.x1, x), std::min(expected.y1, y), std::max(expected.x2, x + 1),
                    std::max(expected.y2, y + 1)};
      }
    }
    if (expected.x2 == 0) expected = {};
    EXPECT_EQ(tight_box(from_bitmap(bitmap, width, height)), expected) << "round " << round;
  }
}

TEST(TightBoxOfMask, ARunOverTheEndOfAColumn) {
  EXPECT_EQ(tight_box({3, 4, {3, 2, 7}}), (TightBox{0, 0, 2, 4}));
  EXPECT_EQ(tight_box({3, 4, {12}}), TightBox{});
  EXPECT_EQ(tight_box({3, 4, {0, 12}}), (TightBox{0, 0, 3, 4}));
}

}  // namespace
}  // namespace samlet
