#include "libs/engine/selection.h"

#include <string>

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet {
namespace {

constexpr int kWidth = 20;
constexpr int kHeight = 10;

/// A rectangle as an instance.
Instance rectangle(int x1, int y1, int x2, int y2, double score, std::size_t prompt = 0) {
  std::vector<std::uint8_t> bitmap(std::size_t{kWidth} * kHeight);
  for (int y = y1; y < y2; ++y) {
    for (int x = x1; x < x2; ++x)
      bitmap[static_cast<std::size_t>(y) * kWidth + static_cast<std::size_t>(x)] = 1;
  }
  Instance instance;
  instance.prompt_index = prompt;
  instance.score = score;
  instance.box = {double(x1), double(y1), double(x2), double(y2)};
  instance.mask = from_bitmap(bitmap, kWidth, kHeight);
  return instance;
}

std::string scores(const std::vector<Instance>& instances) {
  std::string text;
  for (const Instance& instance : instances)
    text += std::to_string(static_cast<int>(instance.score * 100)) + " ";
  return text;
}

TEST(Select, NothingIsDroppedUnlessAskedFor) {
  EXPECT_EQ(scores(select({rectangle(0, 0, 9, 9, 0.5), rectangle(0, 0, 9, 9, 0.9)}, {})), "50 90 ");
}

TEST(Select, TheBestOfEachPrompt) {
  SelectionOptions options;
  options.most = 1;
  EXPECT_EQ(
      scores(select({rectangle(0, 0, 2, 2, 0.5), rectangle(5, 5, 7, 7, 0.75), rectangle(0, 0, 2, 2, 0.6, 1)},
                    options)),
      "75 60 ");
  options.most = 0;
  EXPECT_TRUE(select({rectangle(0, 0, 2, 2, 0.5)}, options).empty());
}

TEST(Select, SmallOnesGo) {
  SelectionOptions options;
  options.least_area = 5;
  EXPECT_EQ(scores(select({rectangle(0, 0, 2, 2, 0.5), rectangle(0, 0, 5, 1, 0.25)}, options)), "25 ");
}

TEST(Select, RepetitionsGoByIou) {
  SelectionOptions options;
  options.suppression = Suppression::kIou;
  // 8 of 10 columns in common: 0.8. The better one stays although it comes later.
  EXPECT_EQ(scores(select({rectangle(0, 0, 9, 9, 0.5), rectangle(1, 0, 10, 9, 0.75)}, options)), "75 ");
  options.overlap = 0.8;
  EXPECT_EQ(scores(select({rectangle(0, 0, 9, 9, 0.5), rectangle(1, 0, 10, 9, 0.75)}, options)), "50 75 ")
      << "more than the limit, not as much";
}

TEST(Select, NestedOnesGoByContainmentOnly) {
  const auto nested = [] { return std::vector{rectangle(0, 0, 10, 10, 0.75), rectangle(2, 2, 5, 5, 0.5)}; };
  SelectionOptions options;
  options.suppression = Suppression::kIou;
  EXPECT_EQ(scores(select(nested(), options)), "75 50 ");
  options.suppression = Suppression::kContainment;
  EXPECT_EQ(scores(select(nested(), options)), "75 ");
}

TEST(Select, WhatWasDroppedDropsNothing) {
  // a > b > c, each overlapping the next by 0.8: b goes for a, c stays because b is gone.
  SelectionOptions options;
  options.suppression = Suppression::kIou;
  EXPECT_EQ(
      scores(select({rectangle(0, 0, 9, 1, 0.9), rectangle(1, 0, 10, 1, 0.8), rectangle(2, 0, 11, 1, 0.75)},
                    options)),
      "90 75 ");
}

TEST(Select, OtherPromptsAreOtherThings) {
  SelectionOptions options;
  options.suppression = Suppression::kIou;
  EXPECT_EQ(scores(select({rectangle(0, 0, 9, 9, 0.9), rectangle(0, 0, 9, 9, 0.8, 1)}, options)), "90 80 ");
}

TEST(Select, TheOverlapMustBeAShare) {
  SelectionOptions options;
  options.suppression = Suppression::kContainment;
  options.overlap = 1.5;
  EXPECT_THROW((void)select({}, options), Error);
}

TEST(ChooseByPoints, PositiveKeepsAndNegativeDrops) {
  const auto both = [] { return std::vector{rectangle(0, 0, 5, 5, 0.9), rectangle(10, 0, 15, 5, 0.8)}; };
  const std::vector<ObjectPoint> on_first{{{2, 2}, true}};
  const std::vector<ObjectPoint> not_first{{{2, 2}, false}};
  const std::vector<ObjectPoint> neither{{{8, 8}, true}};
  const std::vector<ObjectPoint> on_and_not{{{2, 2}, true}, {{4, 4}, false}};
  EXPECT_EQ(scores(choose_by_points(both(), on_first)), "90 ");
  EXPECT_EQ(scores(choose_by_points(both(), not_first)), "80 ");
  EXPECT_EQ(scores(choose_by_points(both(), neither)), "");
  EXPECT_EQ(scores(choose_by_points(both(), on_and_not)), "");
  EXPECT_EQ(scores(choose_by_points(both(), {})), "90 80 ");
}

TEST(Holds, PixelsAreHalfOpenAndTheFarBorderCounts) {
  const Mask mask = rectangle(15, 5, 20, 10, 1).mask;
  EXPECT_TRUE(holds(mask, {15, 5}));
  EXPECT_FALSE(holds(mask, {14.99, 5}));
  EXPECT_FALSE(holds(mask, {15, 4.99}));
  EXPECT_TRUE(holds(mask, {20, 10}));
  EXPECT_FALSE(holds(Mask{}, {0, 0}));
}

TEST(OverlapArea, CountsWhatBothHave) {
  EXPECT_EQ(overlap_area(rectangle(0, 0, 10, 10, 1).mask, rectangle(5, 5, 20, 10, 1).mask), 25U);
  EXPECT_EQ(overlap_area(rectangle(0, 0, 5, 5, 1).mask, rectangle(5, 5, 20, 10, 1).mask), 0U);
  EXPECT_THROW((void)overlap_area(Mask{2, 2, {4}}, Mask{4, 1, {4}}), Error);
}

}  // namespace
}  // namespace samlet
