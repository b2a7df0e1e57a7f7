// Which mask is given for which prompt, and in which frame: over made-up graphs.
#include "models/sam3/objects.h"

#include <gtest/gtest.h>

#include "models/sam3/pipeline.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

constexpr int kSide = 28;
constexpr int kMaskSide = 2;
constexpr std::size_t kCells = 4;

struct PointScript {
  std::vector<PointPrompt> asked;
  std::vector<std::size_t> calls;
  std::size_t masks = 4;
  std::vector<float> iou{0.9F, 0.3F, 0.8F, 0.5F};
  std::vector<float> single{3, 3, -3, -3};  // the first mask of four; others have one cell set each
};

class FakePointGraphs final : public Graphs {
 public:
  explicit FakePointGraphs(PointScript& script) : script_(script) {}
  Features encode_image(const Tensor& /*planes*/, FeaturesFor /*wanted*/,
                        const CancelToken& /*cancel*/) override {
    return {};
  }
  std::size_t prompts_per_call() const override { return 1; }
  Phrases encode_text(std::span<const DecoderPrompt> /*prompts*/, const CancelToken& /*cancel*/) override {
    ADD_FAILURE() << "clicks need no language encoder";
    return {};
  }
  std::vector<Decoded> decode(const Features& /*image*/, const Phrases& /*phrases*/,
                              std::span<const DecoderPrompt> /*prompts*/, double /*threshold*/,
                              const CancelToken& /*cancel*/) override {
    ADD_FAILURE() << "clicks need no detector";
    return {};
  }
  void require_points() const override {}
  DecodedPoints decode_points(const Features& /*image*/, std::span<const PointPrompt> prompts,
                              bool /*several*/, const CancelToken& /*cancel*/) override {
    script_.calls.push_back(prompts.size());
    DecodedPoints decoded;
    decoded.objects = prompts.size();
    decoded.masks = script_.masks;
    decoded.mask_rows = decoded.mask_columns = kMaskSide;
    for (const PointPrompt& prompt : prompts) {
      script_.asked.push_back(prompt);
      for (std::size_t m = 0; m < script_.masks; ++m) {
        decoded.iou.push_back(script_.iou[m]);
        for (std::size_t cell = 0; cell < kCells; ++cell) {
          const float own = cell == m ? 50.0F : -50.0F;
          decoded.mask_logits.push_back(m == 0 && script_.masks == 4 ? script_.single[cell] : own);
        }
      }
    }
    return decoded;
  }
  ort::Device device() override { return ort::Device::kCpu; }

 private:
  PointScript& script_;
};

class Objects : public testing::Test {
 protected:
  Objects() {
    ModelInfo info;
    info.image_side = kSide;
    model_ = make_segmenter(info, std::make_unique<FakePointGraphs>(script_));
    image_ = model_->encode({56, 14, std::vector<std::uint8_t>(std::size_t{3} * 56 * 14)},
                            EncodeFor::kObjects, {});
  }

  std::vector<Instance> find(const std::vector<ObjectPrompt>& prompts, bool all_masks = false) {
    ObjectOptions options;
    options.all_masks = all_masks;
    options.fill_holes = 0;
    return model_->segment_objects(*image_, prompts, options).instances;
  }

  PointScript script_;
  std::unique_ptr<Segmenter> model_;
  std::unique_ptr<EncodedImage> image_;
};

const ObjectPrompt kClick{{{{14, 7}, true}}, std::nullopt, std::nullopt};

TEST_F(Objects, ASingleClickTakesTheBestCandidate) {
  const auto found = find({kClick});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].kind, InstanceKind::kObject);
  EXPECT_FLOAT_EQ(static_cast<float>(found[0].score), 0.8F);
  // Candidate 2 has its cell bottom left: x 0..28, y 7..14 of the picture.
  EXPECT_EQ(found[0].box, (Box{0, 7, 28, 14}));
}

TEST_F(Objects, MoreThanAClickTakesTheStableAnswer) {
  for (const ObjectPrompt& prompt :
       {ObjectPrompt{{{{14, 7}, true}, {{2, 2}, false}}, std::nullopt, std::nullopt},
        ObjectPrompt{{}, Box{1, 1, 9, 9}, std::nullopt},
        ObjectPrompt{{{{14, 7}, true}}, std::nullopt, LowResMask{2, 2, {1, 1, 1, 1}}}}) {
    EXPECT_FLOAT_EQ(static_cast<float>(find({prompt})[0].score), 0.9F);
  }
}

TEST_F(Objects, AnUnstableAnswerGivesWayToTheBestCandidate) {
  script_.single = {3, 0.01F, -3, -3};
  EXPECT_FLOAT_EQ(static_cast<float>(find({{{}, Box{1, 1, 9, 9}, std::nullopt}})[0].score), 0.8F);
}

TEST_F(Objects, AllMasksAreTheCandidatesBestFirst) {
  const auto found = find({kClick, kClick}, true);
  ASSERT_EQ(found.size(), 6U);
  EXPECT_FLOAT_EQ(static_cast<float>(found[0].score), 0.8F);
  EXPECT_FLOAT_EQ(static_cast<float>(found[1].score), 0.5F);
  EXPECT_FLOAT_EQ(static_cast<float>(found[2].score), 0.3F);
  EXPECT_EQ(found[3].prompt_index, 1U);
}

TEST_F(Objects, GraphsWithThreeMasksHaveNoSingleAnswer) {
  script_.masks = 3;
  script_.iou = {0.2F, 0.7F, 0.4F};
  EXPECT_FLOAT_EQ(static_cast<float>(find({{{}, Box{1, 1, 9, 9}, std::nullopt}})[0].score), 0.7F);
}

TEST_F(Objects, PointsAreAskedInPixelsOfTheModelBoxFirst) {
  (void)find({{{{{28, 7}, true}, {{0, 14}, false}}, Box{14, 0, 56, 7}, LowResMask{1, 1, {4}}}});
  ASSERT_EQ(script_.asked.size(), 1U);
  const auto& points = script_.asked[0].points;
  ASSERT_EQ(points.size(), 4U);
  // The picture is 56 x 14, the model's side 28.
  const std::vector<ModelPoint> expected{{7, 0, 2}, {28, 14, 3}, {14, 14, 1}, {0, 28, 0}};
  for (std::size_t i = 0; i < points.size(); ++i) {
    EXPECT_EQ(points[i].x, expected[i].x) << i;
    EXPECT_EQ(points[i].y, expected[i].y) << i;
    EXPECT_EQ(points[i].label, expected[i].label) << i;
  }
  EXPECT_EQ(script_.asked[0].previous, std::vector<float>{4});
}

TEST_F(Objects, TheMaskToRefineIsClamped) {
  const auto found = find({kClick});
  ASSERT_TRUE(found[0].low_res.has_value());
  EXPECT_EQ(found[0].low_res->logits, (std::vector<float>{-32, -32, 32, -32}));
}

TEST_F(Objects, ManyObjectsKeepTheirOrder) {
  std::vector<ObjectPrompt> prompts;
  for (int i = 0; i < 50; ++i) prompts.push_back({{{{double(i), 7}, true}}, std::nullopt, std::nullopt});
  const auto found = find(prompts);
  ASSERT_EQ(found.size(), 50U);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(found[i].prompt_index, i);
  EXPECT_EQ(script_.calls, (std::vector<std::size_t>{16, 16, 16, 2}));
  EXPECT_EQ(script_.asked[49].points[0].x, 24.5F);
}

TEST_F(Objects, APictureEncodedForConceptsIsRefused) {
  const auto other = model_->encode({4, 4, std::vector<std::uint8_t>(48)}, EncodeFor::kConcepts, {});
  EXPECT_THROW((void)model_->segment_objects(*other, std::vector{kClick}, {}), Error);
  const auto both = model_->encode({4, 4, std::vector<std::uint8_t>(48)}, EncodeFor::kBoth, {});
  const ObjectPrompt inside{{{{2, 2}, true}}, std::nullopt, std::nullopt};
  EXPECT_EQ(model_->segment_objects(*both, std::vector{inside}, {}).instances.size(), 1U);
}

TEST(Stability, IsTheShareThatDoesNotDependOnTheLine) {
  EXPECT_EQ(stability(std::vector<float>{-1, -1}), 1.0);
  EXPECT_EQ(stability(std::vector<float>{1, 0.01F, -0.01F, -1}), 1.0 / 3);
  EXPECT_EQ(best_of(std::vector<float>{0.5F, 0.7F, 0.7F}), 1U);
}

}  // namespace
}  // namespace samlet::sam3
