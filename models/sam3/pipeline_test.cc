// The pipeline over made-up graphs: what it asks of them, and what it does with what they say.
#include "models/sam3/pipeline.h"

#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

constexpr int kSide = 14;

/// What the graphs were asked, and what they are to answer.
struct Script {
  int images = 0;
  std::vector<FeaturesFor> wanted;
  std::size_t together = 1;
  std::vector<std::size_t> calls;  // prompts of each
  std::vector<std::vector<std::int64_t>> phrases;
  std::vector<std::vector<NormalizedBox>> boxes;
  std::function<Decoded()> answer = [] { return Decoded{}; };
};

class FakeGraphs final : public Graphs {
 public:
  explicit FakeGraphs(Script& script) : script_(script) {}
  Features encode_image(const Tensor& planes, FeaturesFor wanted, const CancelToken& /*cancel*/) override {
    script_.wanted.push_back(wanted);
    EXPECT_EQ(planes.shape(), (Shape{3, kSide, kSide}));
    ++script_.images;
    return {};
  }
  std::size_t prompts_per_call() const override { return script_.together; }
  Phrases encode_text(std::span<const DecoderPrompt> prompts, const CancelToken& /*cancel*/) override {
    for (const DecoderPrompt& prompt : prompts) script_.phrases.push_back(prompt.tokens);
    return {{}, prompts.size()};
  }
  std::vector<Decoded> decode(const Features& /*image*/, const Phrases& phrases,
                              std::span<const DecoderPrompt> prompts, double /*threshold*/,
                              const CancelToken& /*cancel*/) override {
    EXPECT_EQ(phrases.count, prompts.size());
    script_.calls.push_back(prompts.size());
    std::vector<Decoded> decoded;
    for (const DecoderPrompt& prompt : prompts) {
      script_.boxes.push_back(prompt.boxes);
      decoded.push_back(script_.answer());
    }
    return decoded;
  }
  ort::Device device() override { return ort::Device::kCpu; }

 private:
  Script& script_;
};

/// n rows with these scores; row i has its logits 1 in cell i of a 2x2 grid and -1 elsewhere.
Decoded rows(std::vector<float> scores) {
  Decoded decoded;
  decoded.mask_rows = 2;
  decoded.mask_columns = 2;
  auto logits = std::make_shared<std::vector<float>>();
  for (std::size_t i = 0; i < scores.size(); ++i) {
    decoded.boxes.insert(decoded.boxes.end(), {-0.1F, 0.25F, 0.5F, 1.5F});
    for (std::size_t cell = 0; cell < 4; ++cell) logits->push_back(cell == i % 4 ? 1.0F : -1.0F);
  }
  decoded.mask_logits = *logits;
  decoded.owner = std::move(logits);
  decoded.scores = std::move(scores);
  return decoded;
}

class Pipeline : public testing::Test {
 protected:
  Pipeline() {
    ModelInfo info;
    info.name = "fake";
    info.layout = "made up";
    info.image_side = kSide;
    info.context = 8;
    info.max_boxes = 1;
    info.min_threshold = 0.25;
    model_ = make_segmenter(info, std::make_unique<FakeGraphs>(script_));
    image_ = {40, 20, std::vector<std::uint8_t>(2400)};
  }

  Result segment(const std::vector<ConceptPrompt>& prompts, double threshold = 0.5) {
    const auto features = model_->encode(image_);
    return model_->segment(*features, prompts, {threshold, {}});
  }

  ErrorCode refusal(const std::vector<ConceptPrompt>& prompts, double threshold = 0.5) {
    try {
      (void)segment(prompts, threshold);
    } catch (const Error& e) {
      message_ = e.what();
      return e.code();
    }
    ADD_FAILURE() << "was accepted";
    return ErrorCode::kInternal;
  }

  Script script_;
  Image image_;
  std::unique_ptr<ConceptSegmenter> model_;
  std::string message_;
};

TEST_F(Pipeline, OneEncodingServesManyPrompts) {
  (void)segment({{"dog", {}}, {"cat", {}}, {"red ball", {}}});
  EXPECT_EQ(script_.images, 1);
  EXPECT_EQ(script_.phrases.size(), 3U);
  EXPECT_EQ(script_.phrases[0], (std::vector<std::int64_t>{49406, 1929, 49407, 0, 0, 0, 0, 0}));
}

TEST_F(Pipeline, BoxesAloneAskForVisual) {
  (void)segment({{std::nullopt, {{{10, 5, 30, 15}, true}}}});
  EXPECT_EQ(script_.phrases[0][1], 7195);  // "visual"
  ASSERT_EQ(script_.boxes[0].size(), 1U);
  const NormalizedBox& box = script_.boxes[0][0];
  EXPECT_EQ(box.cx, 0.5F);
  EXPECT_EQ(box.cy, 0.5F);
  EXPECT_EQ(box.w, 0.5F);
  EXPECT_EQ(box.h, 0.5F);
  EXPECT_TRUE(box.positive);
}

TEST_F(Pipeline, KeepsScoresStrictlyAboveTheThresholdBestFirst) {
  script_.answer = [] { return rows({0.5F, 0.75F, 0.25F, 0.75F, 0.9F}); };
  const Result result = segment({{"dog", {}}});
  ASSERT_EQ(result.instances.size(), 3U);
  EXPECT_EQ(result.instances[0].score, static_cast<double>(0.9F));
  // Equal scores keep query order: row 1 before row 3, told apart by their masks (column-major runs of a
  // 40x20 picture).
  EXPECT_EQ(result.instances[1].score, 0.75);
  EXPECT_GT(result.instances[1].mask.counts[0], 40U * 20U / 3) << "row 1 is the right half's top";
  EXPECT_LT(result.instances[2].mask.area(), 40U * 20U / 2);
}

TEST_F(Pipeline, BoxesArePixelsClampedToThePicture) {
  script_.answer = [] { return rows({0.9F}); };
  const Box box = segment({{"dog", {}}}).instances.at(0).box;
  EXPECT_EQ(box.x1, 0);
  EXPECT_EQ(box.y1, 5);
  EXPECT_EQ(box.x2, 20);
  EXPECT_EQ(box.y2, 20);
}

TEST_F(Pipeline, InstancesSayWhichPromptFoundThem) {
  script_.answer = [] { return rows({0.9F}); };
  const Result result = segment({{"dog", {}}, {"cat", {}}});
  ASSERT_EQ(result.instances.size(), 2U);
  EXPECT_EQ(result.instances[0].prompt_index, 0U);
  EXPECT_EQ(result.instances[1].prompt_index, 1U);
  EXPECT_FALSE(result.instances[0].presence.has_value());
}

TEST_F(Pipeline, PromptsShareCallsAsFarAsTheGraphsAllow) {
  script_.together = 3;
  script_.answer = [this] { return rows({script_.calls.size() == 1 ? 0.9F : 0.6F}); };
  const Result result = segment({{"a", {}}, {"b", {}}, {"c", {{{1, 1, 5, 5}, true}}}, {"d", {}}});
  EXPECT_EQ(script_.calls, (std::vector<std::size_t>{3, 1}));
  EXPECT_EQ(script_.phrases.size(), 4U);
  EXPECT_TRUE(script_.boxes[1].empty());
  EXPECT_EQ(script_.boxes[2].size(), 1U);
  ASSERT_EQ(result.instances.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) EXPECT_EQ(result.instances[i].prompt_index, i);
  EXPECT_EQ(result.instances[3].score, static_cast<double>(0.6F));
}

TEST_F(Pipeline, PresenceIsGivenWhereTheGraphsTellIt) {
  script_.answer = [] {
    Decoded decoded = rows({0.9F});
    decoded.presence = 0.75F;
    return decoded;
  };
  EXPECT_EQ(segment({{"dog", {}}}).instances.at(0).presence, 0.75);
}

TEST_F(Pipeline, LongPhrasesAreCutWithOneWarning) {
  const Result result = segment({{"dog dog dog dog dog dog dog dog", {}}});
  EXPECT_EQ(script_.phrases[0].back(), 49407);
  ASSERT_EQ(result.warnings.size(), 1U);
  EXPECT_NE(result.warnings[0].find("6 tokens"), std::string::npos) << result.warnings[0];
}

TEST_F(Pipeline, WhatTheFolderCannotDoIsRefusedBeforeTheDecoder) {
  EXPECT_EQ(refusal({{"dog", {}}}, 0.1), ErrorCode::kModelUnsupported);
  EXPECT_NE(message_.find("0.25"), std::string::npos) << message_;
  EXPECT_EQ(refusal({{"dog", {{{1, 1, 5, 5}, true}, {{2, 2, 6, 6}, true}}}}), ErrorCode::kModelUnsupported);
  EXPECT_NE(message_.find("2 boxes"), std::string::npos) << message_;
  EXPECT_EQ(refusal({{"dog", {}}}, 1.5), ErrorCode::kUsage);
  EXPECT_EQ(refusal({{"dog", {}}}, std::nan("")), ErrorCode::kUsage);
  EXPECT_EQ(refusal({{"", {}}}), ErrorCode::kPromptInvalid);
  EXPECT_TRUE(script_.phrases.empty());
  EXPECT_TRUE(script_.boxes.empty());
}

TEST_F(Pipeline, BrokenNumbersAreAnErrorAndNotNothing) {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    script_.answer = [bad] { return rows({bad}); };
    EXPECT_EQ(refusal({{"dog", {}}}), ErrorCode::kInternal);
    script_.answer = [bad] {
      Decoded decoded = rows({0.9F});
      decoded.boxes[2] = bad;
      return decoded;
    };
    EXPECT_EQ(refusal({{"dog", {}}}), ErrorCode::kInternal);
  }
}

TEST_F(Pipeline, OutputsThatDoNotFitTogetherAreRefused) {
  script_.answer = [] {
    Decoded decoded = rows({0.9F, 0.8F});
    decoded.boxes.pop_back();
    return decoded;
  };
  EXPECT_EQ(refusal({{"dog", {}}}), ErrorCode::kModelDamaged);
  script_.answer = [] {
    Decoded decoded = rows({0.9F});
    decoded.mask_rows = 3;
    return decoded;
  };
  EXPECT_EQ(refusal({{"dog", {}}}), ErrorCode::kModelDamaged);
}

TEST_F(Pipeline, CancellingEndsTheCall) {
  const auto features = model_->encode(image_);
  const CancelToken cancel;
  cancel.cancel();
  const std::vector<ConceptPrompt> prompts{{"dog", {}}};
  try {
    (void)model_->segment(*features, prompts, {0.5, cancel});
    FAIL() << "a cancelled call must not return";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCancelled);
  }
}

}  // namespace
}  // namespace samlet::sam3
