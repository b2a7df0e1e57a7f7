#include "libs/mask/fill_holes.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet {
namespace {

constexpr int kRows = 5;
constexpr int kColumns = 7;

/// '#' is the object (2), '.' the background (-1).
std::vector<float> logits(const std::string& cells) {
  std::vector<float> values;
  for (const char c : cells) values.push_back(c == '#' ? 2.0F : -1.0F);
  return values;
}

/// What is filled shows as 'o'.
std::string filled(const std::string& cells, int most_cells) {
  std::vector<float> values = logits(cells);
  fill_holes(values, kRows, kColumns, most_cells);
  std::string shown;
  for (const float v : values) {
    const char unfilled = v > 0 ? '#' : '.';
    shown += v == 10 ? 'o' : unfilled;
  }
  return shown;
}

TEST(FillHoles, FillsWhatIsSmallEnough) {
  const std::string ring =
      "#######"
      "#..####"
      "####..#"
      "####..#"
      "#######";
  EXPECT_EQ(filled(ring, 1), ring);
  EXPECT_EQ(filled(ring, 3),
            "#######"
            "#oo####"
            "####..#"
            "####..#"
            "#######");
  EXPECT_EQ(filled(ring, 4),
            "#######"
            "#oo####"
            "####oo#"
            "####oo#"
            "#######");
}

TEST(FillHoles, CellsThatTouchAcrossAreOnePart) {
  const std::string chain =
      "#######"
      "#.#####"
      "##.####"
      "###.###"
      "#######";
  EXPECT_EQ(filled(chain, 2), chain);
  EXPECT_NE(filled(chain, 3), chain);
}

TEST(FillHoles, PartsAtTheBorderAreFilledToo) {
  EXPECT_EQ(filled(".######"
                   "#######"
                   "#######"
                   "#######"
                   "#######",
                   1)
                .front(),
            'o');
}

TEST(FillHoles, ZeroIsBackgroundAndNotANumberToo) {
  std::vector<float> values(35, 1.0F);
  values[8] = 0;
  values[30] = std::stof("nan");
  fill_holes(values, kRows, kColumns, 1);
  EXPECT_EQ(values[8], 10);
  EXPECT_EQ(values[30], 10);
}

TEST(FillHoles, TheSizeMustFit) {
  std::vector<float> values(35);
  EXPECT_THROW(fill_holes(values, 5, 6, 1), Error);
}

}  // namespace
}  // namespace samlet
