#include "libs/engine/compare_models.h"

#include <unistd.h>

#include <filesystem>
#include <memory>

#include <gtest/gtest.h>

#include "libs/base/file.h"
#include "samlet/error.h"
#include "samlet/image.h"

namespace samlet {
namespace {

namespace fs = std::filesystem;

constexpr CompareBounds kBounds{0.001, 0.001, 0.99, 0};

/// An instance whose mask is a column-major run of `area` pixels of a 20 x 10 picture, from `first` on.
Instance instance(double score, std::uint32_t first, std::uint32_t area, std::size_t prompt = 0) {
  Instance made;
  made.prompt_index = prompt;
  made.score = score;
  made.box = {1, 2, 3, 4};
  made.mask = {20, 10, {first, area, 200 - first - area}};
  return made;
}

PromptDifference compare(const std::vector<Instance>& a, const std::vector<Instance>& b) {
  return compare_instances(a, b, 0.5, kBounds);
}

TEST(CompareInstances, TheSameIsTheSame) {
  const std::vector<Instance> a{instance(0.9, 0, 50), instance(0.8, 100, 50)};
  const PromptDifference d = compare(a, a);
  EXPECT_TRUE(d.within);
  EXPECT_EQ(d.count_a, 2U);
  EXPECT_EQ(d.unmatched, 0U);
  EXPECT_EQ(d.score, 0);
  EXPECT_EQ(d.iou, 1);
}

TEST(CompareInstances, OrderDoesNotMatter) {
  EXPECT_TRUE(compare({instance(0.9, 0, 50), instance(0.8999, 100, 50)},
                      {instance(0.9, 100, 50), instance(0.8999, 0, 50)})
                  .within);
}

TEST(CompareInstances, AmongEqualMasksScoresDecide) {
  const PromptDifference d =
      compare({instance(0.9, 0, 50), instance(0.7, 0, 50)}, {instance(0.7, 0, 50), instance(0.9, 0, 50)});
  EXPECT_TRUE(d.within);
  EXPECT_EQ(d.score, 0);
}

TEST(CompareInstances, EachMeasureHasItsBound) {
  EXPECT_TRUE(compare({instance(0.9, 0, 50)}, {instance(0.9009, 0, 50)}).within);
  const PromptDifference score = compare({instance(0.9, 0, 50)}, {instance(0.91, 0, 50)});
  EXPECT_FALSE(score.within);
  EXPECT_NEAR(score.score, 0.01, 1e-12);
  Instance moved = instance(0.9, 0, 50);
  moved.box.y2 += 0.1;  // of 20
  const PromptDifference box = compare({instance(0.9, 0, 50)}, {moved});
  EXPECT_FALSE(box.within);
  EXPECT_NEAR(box.box, 0.005, 1e-12);
  const PromptDifference mask = compare({instance(0.9, 0, 50)}, {instance(0.9, 0, 49)});
  EXPECT_FALSE(mask.within);
  EXPECT_EQ(mask.iou, 0.98);
}

TEST(CompareInstances, AFewPixelsOfASmallMaskMayDiffer) {
  CompareBounds bounds = kBounds;
  const std::vector<Instance> a{instance(0.9, 10, 10)};
  const std::vector<Instance> b{instance(0.9, 11, 10)};  // 9 in common, one more on each side
  bounds.pixels = 1;
  EXPECT_FALSE(compare_instances(a, b, 0.5, bounds).within);
  bounds.pixels = 2;
  EXPECT_TRUE(compare_instances(a, b, 0.5, bounds).within);
}

TEST(CompareInstances, WhatOnlyOneSideHasIsAFaultUnlessItIsAtTheThreshold) {
  const PromptDifference missing = compare({instance(0.9, 0, 50)}, {});
  EXPECT_FALSE(missing.within);
  EXPECT_EQ(missing.unmatched, 1U);
  EXPECT_FALSE(compare({}, {instance(0.9, 0, 50)}).within);
  const PromptDifference borderline = compare({}, {instance(0.5005, 0, 50)});
  EXPECT_TRUE(borderline.within);
  EXPECT_EQ(borderline.borderline, 1U);
  // Masks of different things are no pair.
  EXPECT_EQ(compare({instance(0.9, 0, 50)}, {instance(0.9, 100, 50)}).unmatched, 2U);
}

/// Finds the same instances in every picture.
class FakeModel final : public ConceptSegmenter {
 public:
  FakeModel(std::vector<Instance> found, double min_threshold) : found_(std::move(found)) {
    info_.name = "fake";
    info_.precision = "fp32";
    info_.min_threshold = min_threshold;
  }
  const ModelInfo& info() const noexcept override { return info_; }
  std::string provider() override { return ""; }
  std::string device() override { return ""; }
  void check(std::span<const ConceptPrompt> /*prompts*/, double /*threshold*/) const override {}
  std::unique_ptr<EncodedImage> encode(const Image& image, const CancelToken& /*cancel*/) override {
    struct Encoded : EncodedImage {
      explicit Encoded(const Image& i) : EncodedImage(i.width, i.height, 0) {}
    };
    return std::make_unique<Encoded>(image);
  }
  Result segment(const EncodedImage& /*image*/, std::span<const ConceptPrompt> prompts,
                 const ConceptOptions& options) override {
    asked_threshold = options.threshold;
    asked_prompts = prompts.size();
    Result result;
    result.instances = found_;
    return result;
  }

  double asked_threshold = 0;
  std::size_t asked_prompts = 0;

 private:
  std::vector<Instance> found_;
  ModelInfo info_;
};

class CompareModels : public testing::Test {
 protected:
  CompareModels() {
    std::string pattern = (fs::temp_directory_path() / "samlet-compare-XXXXXX").native();
    folder_ = ::mkdtemp(pattern.data());
    const Image image{20, 10, std::vector<std::uint8_t>(600, 7)};
    write_file_atomic(picture(), encode_image(image, ImageFormat::kPng), Overwrite::kRefuse);
  }
  ~CompareModels() override { fs::remove_all(folder_); }

  [[nodiscard]] fs::path picture() const { return folder_ / "a.png"; }

  std::vector<CheckLine> lines_of(FakeModel& a, FakeModel& b) const {
    std::vector<CheckLine> lines;
    CompareOptions options;
    options.pictures = {picture()};
    options.phrases = {"dog", "cat"};
    options.found = [&](const CheckLine& line) { lines.push_back(line); };
    compare_models(a, b, options);
    return lines;
  }

  fs::path folder_;
};

TEST_F(CompareModels, SayTheBoundsThenALineAPicture) {
  FakeModel a({instance(0.9, 0, 50, 0), instance(0.8, 0, 50, 1)}, 0);
  FakeModel b({instance(0.9, 0, 50, 0), instance(0.8, 0, 50, 1)}, 0.5);
  const auto lines = lines_of(a, b);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].status, CheckStatus::kNote);
  EXPECT_EQ(lines[1].status, CheckStatus::kPassed);
  EXPECT_EQ(lines[1].numbers[0].second, 2);
  EXPECT_EQ(a.asked_threshold, 0.5);
  EXPECT_EQ(b.asked_threshold, 0.5);
  EXPECT_EQ(a.asked_prompts, 2U);
}

TEST_F(CompareModels, NameThePhraseThatDiffers) {
  FakeModel a({instance(0.9, 0, 50, 0), instance(0.8, 0, 50, 1)}, 0);
  FakeModel b({instance(0.9, 0, 50, 0), instance(0.7, 0, 50, 1)}, 0);
  const auto lines = lines_of(a, b);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_EQ(lines[1].status, CheckStatus::kFailed);
  EXPECT_NE(lines[1].subject.find("cat"), std::string::npos) << lines[1].subject;
  EXPECT_EQ(lines[2].status, CheckStatus::kFailed);
  EXPECT_EQ(a.asked_threshold, 0.25);
}

TEST_F(CompareModels, NothingFoundProvesNothing) {
  FakeModel a({}, 0);
  FakeModel b({}, 0);
  EXPECT_EQ(lines_of(a, b).back().status, CheckStatus::kFailed);
}

TEST(CompareBounds, AreWideForHalfPrecisionAndOtherTextEncoders) {
  ModelInfo a;
  a.precision = "fp32";
  a.text_encoder = "full";
  ModelInfo b = a;
  EXPECT_LT(compare_bounds(a, b).score, 0.01);
  b.text_encoder = "litetext-s0";
  EXPECT_EQ(compare_bounds(a, b).score, 0.02);
  b = a;
  b.precision = "fp16";
  EXPECT_EQ(compare_bounds(a, b).iou, 0.98);
}

}  // namespace
}  // namespace samlet
