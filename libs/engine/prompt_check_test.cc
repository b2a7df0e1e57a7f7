#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "samlet/error.h"
#include "samlet/segmenter.h"

namespace samlet {
namespace {

constexpr int kWidth = 640;
constexpr int kHeight = 480;

std::vector<ConceptPrompt> check(const ConceptPrompt& prompt, std::vector<std::string>& warnings) {
  return check_prompts(std::span(&prompt, 1), kWidth, kHeight, warnings);
}

/// The message with which the prompt is refused.
std::string refusal(const ConceptPrompt& prompt) {
  std::vector<std::string> warnings;
  try {
    (void)check(prompt, warnings);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kPromptInvalid);
    return e.what();
  }
  return "accepted";
}

ConceptPrompt box_prompt(const Box& box, bool positive = true) {
  return {std::nullopt, {{box, positive}}};
}

bool mentions(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(CheckPrompts, GoodPromptsPassUnchangedAndInSilence) {
  std::vector<std::string> warnings;
  const auto checked = check({"red circle", {{{10, 20, 200, 300}, false}}}, warnings);
  ASSERT_EQ(checked.size(), 1U);
  EXPECT_EQ(checked[0].text, "red circle");
  EXPECT_EQ(checked[0].boxes[0].box.x2, 200);
  EXPECT_FALSE(checked[0].boxes[0].positive);
  EXPECT_TRUE(warnings.empty());
}

TEST(CheckPrompts, ReversedCornersMeanTheSameBox) {
  std::vector<std::string> warnings;
  const Box box = check(box_prompt({200, 300, 10, 20}), warnings)[0].boxes[0].box;
  EXPECT_EQ(box.x1, 10);
  EXPECT_EQ(box.y1, 20);
  EXPECT_EQ(box.x2, 200);
  EXPECT_EQ(box.y2, 300);
  EXPECT_TRUE(warnings.empty());
}

TEST(CheckPrompts, TheWholePictureIsABox) {
  std::vector<std::string> warnings;
  EXPECT_EQ(check(box_prompt({0, 0, kWidth, kHeight}), warnings)[0].boxes[0].box.x2, kWidth);
  EXPECT_TRUE(warnings.empty());
}

TEST(CheckPrompts, BoxesOverTheBorderAreUsedAsTheyStandAndThatIsSaid) {
  std::vector<std::string> warnings;
  const Box box = check(box_prompt({-5, 10, 700, 90}), warnings)[0].boxes[0].box;
  EXPECT_EQ(box.x1, -5);
  EXPECT_EQ(box.x2, 700);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(mentions(warnings[0], "640x480")) << warnings[0];
}

TEST(CheckPrompts, ImpossibleBoxesAreRefusedWithTheirNumbers) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(mentions(refusal(box_prompt({kNan, 0, 5, 5})), "not a number"));
  EXPECT_TRUE(mentions(refusal(box_prompt({0, 0, kInf, 5})), "not a number"));
  EXPECT_TRUE(mentions(refusal(box_prompt({5, 5, 5, 9})), "no area"));
  EXPECT_TRUE(mentions(refusal(box_prompt({5, 9, 8, 9})), "no area"));
  EXPECT_TRUE(mentions(refusal(box_prompt({640, 0, 700, 5})), "640,0,700,5"));
  EXPECT_TRUE(mentions(refusal(box_prompt({-9, -9, 0, 0})), "640x480"));
}

TEST(CheckPrompts, BoxesThatReachFarOutsideAreRefused) {
  for (const Box& box : {Box{-1e308, -1e308, 1e308, 1e308}, Box{1e30, 0, 2, 20}, Box{0, 0, 1e22, 1e22},
                         Box{-641, 0, 10, 10}, Box{0, 0, 10, 961}}) {
    EXPECT_TRUE(mentions(refusal(box_prompt(box)), "far outside")) << box.x1;
  }
}

TEST(CheckPrompts, FractionsWithoutTheFlagDrawAWarning) {
  std::vector<std::string> warnings;
  (void)check(box_prompt({0.1, 0.1, 0.5, 0.5}), warnings);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(mentions(warnings[0], "--normalized"));
}

TEST(CheckPrompts, TextMustSaySomething) {
  EXPECT_TRUE(mentions(refusal({"", {}}), "empty"));
  EXPECT_TRUE(mentions(refusal({" \t\n", {}}), "empty"));
  EXPECT_TRUE(mentions(refusal({"\x01\x02", {}}), "empty"));
  EXPECT_TRUE(mentions(refusal({"ab\xFFzz", {}}), "byte 2"));
  EXPECT_TRUE(mentions(refusal({std::nullopt, {}}), "nothing was asked for"));
}

TEST(CheckPrompts, BlankTextBesideABoxMeansTheBox) {
  std::vector<std::string> warnings;
  EXPECT_FALSE(check({"  ", {{{1, 2, 30, 40}, true}}}, warnings)[0].text.has_value());
  EXPECT_EQ(warnings.size(), 1U);
}

TEST(CheckPrompts, NegativeBoxesNeedSomethingToSubtractFrom) {
  EXPECT_TRUE(mentions(refusal(box_prompt({1, 2, 30, 40}, false)), "only negative"));
  std::vector<std::string> warnings;
  EXPECT_NO_THROW((void)check({"dog", {{{1, 2, 30, 40}, false}}}, warnings));
}

/// The message with which a prompt is refused before there is a picture.
std::string early_refusal(const ConceptPrompt& prompt) {
  try {
    check_prompts(std::span(&prompt, 1));
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kPromptInvalid);
    return e.what();
  }
  return "accepted";
}

TEST(CheckPrompts, MuchIsRefusedWithoutAPicture) {
  EXPECT_TRUE(mentions(early_refusal({"", {}}), "empty"));
  EXPECT_TRUE(mentions(early_refusal({"ab\xFFzz", {}}), "byte 2"));
  EXPECT_TRUE(mentions(early_refusal({std::nullopt, {}}), "nothing was asked for"));
  EXPECT_TRUE(mentions(early_refusal(box_prompt({5, 5, 5, 9})), "no area"));
  EXPECT_TRUE(mentions(early_refusal(box_prompt({0, 0, std::nan(""), 9})), "not a number"));
  EXPECT_TRUE(mentions(early_refusal(box_prompt({1, 2, 30, 40}, false)), "only negative"));
  EXPECT_TRUE(mentions(early_refusal({" ", {{{1, 2, 30, 40}, false}}}), "only negative"));
  EXPECT_EQ(early_refusal(box_prompt({1e6, 1e6, 2e6, 2e6})), "accepted") << "this takes a picture to say";
  EXPECT_EQ(early_refusal({"dog", {}}), "accepted");
  EXPECT_THROW(check_prompts(std::span<const ConceptPrompt>()), Error);
}

TEST(CheckPrompts, FractionsBecomePixels) {
  const std::vector<ConceptPrompt> given{{"dog", {{{0.25, 0.5, 0.75, 1}, false}}}};
  const auto pixels = prompts_from_fractions(given, kWidth, kHeight);
  ASSERT_EQ(pixels.size(), 1U);
  EXPECT_EQ(pixels[0].text, "dog");
  EXPECT_EQ(pixels[0].boxes[0].box, (Box{160, 240, 480, 480}));
  EXPECT_FALSE(pixels[0].boxes[0].positive);
  try {
    (void)prompts_from_fractions(std::vector{box_prompt({10, 20, 200, 300})}, kWidth, kHeight);
    ADD_FAILURE() << "pixels were taken for fractions";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kPromptInvalid);
    EXPECT_TRUE(mentions(e.what(), "10,20,200,300"));
    EXPECT_TRUE(mentions(e.what(), "--normalized"));
  }
}

TEST(CheckPrompts, ASharedBoxIsWarnedAboutOnce) {
  std::vector<std::string> warnings;
  const ExemplarBox box{{-5, 10, 70, 90}, true};
  const std::vector<ConceptPrompt> prompts{{"dog", {box}}, {"cat", {box}}};
  (void)check_prompts(prompts, kWidth, kHeight, warnings);
  EXPECT_EQ(warnings.size(), 1U);
  EXPECT_THROW((void)check_prompts({}, kWidth, kHeight, warnings), Error);
}

}  // namespace
}  // namespace samlet
