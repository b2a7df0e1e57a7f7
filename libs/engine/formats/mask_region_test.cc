#include "libs/engine/formats/mask_region.h"

#include <random>

#include <gtest/gtest.h>

#include "libs/engine/formats/test_support.h"

namespace samlet::formats {
namespace {

TEST(TightBox, HoldsExactlyTheSetPixels) {
  EXPECT_EQ(tight_box(drawn({"....", ".#..", "..#.", "...."})), (PixelBox{1, 1, 2, 2}));
  EXPECT_EQ(tight_box(drawn({"#"})), (PixelBox{0, 0, 1, 1}));
  EXPECT_EQ(tight_box(drawn({"...#"})), (PixelBox{3, 0, 1, 1}));
  EXPECT_EQ(tight_box(drawn({".", ".", "#"})), (PixelBox{0, 2, 1, 1}));
  EXPECT_FALSE(tight_box(drawn({"..", ".."})));
}

TEST(TightBox, OfARunOverSeveralColumnsHasTheirWholeHeight) {
  // One run: the last row of a column and the first of the next.
  EXPECT_EQ(tight_box(drawn({"..#.", "....", ".#.."})), (PixelBox{1, 0, 2, 3}));
}

TEST(Crop, OfTheTightBoxPutBackIsTheMask) {
  std::mt19937 random(3);  // NOLINT(cert-msc51-cpp): the same each time
  for (int round = 0; round < 200; ++round) {
    const Mask mask =
        random_mask(random, 1 + static_cast<int>(random() % 9), 1 + static_cast<int>(random() % 9));
    const auto place = [](int x, int y, int width) {
      return static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x);
    };
    std::vector<std::uint8_t> back(place(0, mask.height, mask.width));
    if (const auto box = tight_box(mask)) {
      const auto bytes = crop(mask, *box, 7);
      bool left = false;
      bool top = false;
      for (int y = 0; y < box->height; ++y) {
        for (int x = 0; x < box->width; ++x) {
          const std::uint8_t byte = bytes[place(x, y, box->width)];
          EXPECT_TRUE(byte == 0 || byte == 7);
          left = left || (byte != 0 && x == 0);
          top = top || (byte != 0 && y == 0);
          back[place(box->x + x, box->y + y, mask.width)] = byte;
        }
      }
      EXPECT_TRUE(left && top) << "the box is not tight";
    }
    EXPECT_EQ(from_bitmap(back, mask.width, mask.height).counts, mask.counts);
  }
}

TEST(Crop, LeavesOutWhatLiesOutsideOfTheBox) {
  EXPECT_EQ(crop(drawn({"###", "###", "###"}), {1, 1, 1, 1}, 255), (std::vector<std::uint8_t>{255}));
  EXPECT_EQ(crop(drawn({"#.#", "...", "#.#"}), {1, 0, 2, 2}, 1), (std::vector<std::uint8_t>{0, 1, 0, 0}));
}

}  // namespace
}  // namespace samlet::formats
