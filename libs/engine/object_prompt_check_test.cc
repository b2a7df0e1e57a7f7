#include <cmath>

#include <gtest/gtest.h>

#include "samlet/error.h"
#include "samlet/segmenter.h"

namespace samlet {
namespace {

constexpr int kWidth = 640;
constexpr int kHeight = 480;

std::string refusal(const ObjectPrompt& prompt) {
  std::vector<std::string> warnings;
  try {
    (void)check_object_prompts(std::span(&prompt, 1), kWidth, kHeight, warnings);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kPromptInvalid);
    return e.what();
  }
  return "accepted";
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ObjectPrompt clicks(std::vector<ObjectPoint> points) {
  return {std::move(points), std::nullopt, std::nullopt};
}

TEST(CheckObjectPrompts, GoodOnesPassInSilence) {
  std::vector<std::string> warnings;
  const ObjectPrompt prompt{{{{10, 20}, true}, {{640, 480}, false}}, Box{200, 300, 10, 20}, std::nullopt};
  const auto checked = check_object_prompts(std::span(&prompt, 1), kWidth, kHeight, warnings);
  ASSERT_EQ(checked.size(), 1U);
  EXPECT_EQ(checked[0].box, (Box{10, 20, 200, 300}));
  EXPECT_EQ(checked[0].points, prompt.points);
  EXPECT_TRUE(warnings.empty());
}

TEST(CheckObjectPrompts, SomethingMustBePointedAt) {
  EXPECT_TRUE(mentions(refusal({}), "without a point or a box"));
  EXPECT_TRUE(mentions(refusal(clicks({{{1, 2}, false}})), "only negative"));
  EXPECT_TRUE(mentions(refusal({{}, std::nullopt, LowResMask{1, 1, {1}}}), "mask alone"));
  EXPECT_THROW(check_object_prompts(std::span<const ObjectPrompt>()), Error);
  EXPECT_EQ(refusal({{{{1, 2}, false}}, Box{0, 0, 10, 10}, std::nullopt}), "accepted");
}

TEST(CheckObjectPrompts, AClickCannotBeBoth) {
  EXPECT_TRUE(mentions(refusal(clicks({{{10, 20}, true}, {{10, 20}, false}})), "both"));
  EXPECT_EQ(refusal(clicks({{{10, 20}, true}, {{10, 20}, true}})), "accepted");
}

TEST(CheckObjectPrompts, ClicksMustBeOnThePicture) {
  for (const Point& at : {Point{-1, 5}, Point{5, -0.5}, Point{640.5, 5}, Point{5, 481}})
    EXPECT_TRUE(mentions(refusal(clicks({{at, true}})), "640x480")) << at.x;
  EXPECT_TRUE(mentions(refusal(clicks({{{std::nan(""), 5}, true}})), "not two numbers"));
}

TEST(CheckObjectPrompts, MorePointsThanAPersonGivesAreRefused) {
  EXPECT_EQ(refusal(clicks(std::vector<ObjectPoint>(500, {{5, 5}, true}))), "accepted");
  EXPECT_TRUE(mentions(refusal(clicks(std::vector<ObjectPoint>(501, {{5, 5}, true}))), "501 points"));
}

TEST(CheckObjectPrompts, BoxesAreCheckedAsExemplarsAre) {
  EXPECT_TRUE(mentions(refusal({{}, Box{5, 5, 5, 9}, std::nullopt}), "no area"));
  EXPECT_TRUE(mentions(refusal({{}, Box{700, 5, 800, 9}, std::nullopt}), "outside"));
}

TEST(CheckObjectPrompts, MasksMustFitAndBeFinite) {
  const std::vector<ObjectPoint> point{{{5, 5}, true}};
  EXPECT_TRUE(mentions(refusal({point, std::nullopt, LowResMask{2, 2, {1, 2, 3}}}), "2x2"));
  EXPECT_TRUE(mentions(refusal({point, std::nullopt, LowResMask{1, 2, {1, INFINITY}}}), "finite"));
  EXPECT_EQ(refusal({point, std::nullopt, LowResMask{1, 2, {1, -1}}}), "accepted");
}

TEST(CheckObjectPrompts, FractionsWithoutTheFlagDrawAWarning) {
  std::vector<std::string> warnings;
  const ObjectPrompt prompt = clicks({{{0.4, 0.5}, true}});
  (void)check_object_prompts(std::span(&prompt, 1), kWidth, kHeight, warnings);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(mentions(warnings[0], "--normalized"));
}

TEST(CheckObjectPrompts, FractionsBecomePixels) {
  const ObjectPrompt prompt{{{{0.5, 0.25}, true}}, Box{0, 0, 1, 0.5}, std::nullopt};
  const auto pixels = object_prompts_from_fractions(std::span(&prompt, 1), kWidth, kHeight);
  EXPECT_EQ(pixels[0].points[0].at, (Point{320, 120}));
  EXPECT_EQ(pixels[0].box, (Box{0, 0, 640, 240}));
  const ObjectPrompt wrong = clicks({{{20, 30}, true}});
  EXPECT_THROW((void)object_prompts_from_fractions(std::span(&wrong, 1), kWidth, kHeight), Error);
}

}  // namespace
}  // namespace samlet
