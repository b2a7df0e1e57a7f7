// The program against Meta's own PyTorch code: the same instances on the miniature's samples, through the
// command line.
#include <algorithm>
#include <cmath>
#include <ostream>
#include <string>

#include "samlet/mask.h"
#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

constexpr double kScoreTolerance = 1e-4;
constexpr double kBoxTolerance = 5e-5;  // of the picture's side
constexpr double kLeastIou = 0.999;

/// The two folders that answer for the miniature: foreign graphs by PyTorch's exporter, and our own export.
enum class Folder { kV030, kOwn };

struct Sample {
  std::string name;
  std::string picture;
  Folder folder = Folder::kV030;
};

/// For the names of failed tests; the default prints bytes.
// NOLINTNEXTLINE(readability-identifier-naming): the name is GoogleTest's.
void PrintTo(const Sample& sample_row, std::ostream* out) {
  *out << sample_row.picture << (sample_row.folder == Folder::kOwn ? ", own export" : ", v0.3.0");
}

class Samples : public CliTest, public testing::WithParamInterface<Sample> {
 protected:
  Samples() : expected_(Json::parse(read_text(miniature() / "expected" / (GetParam().name + ".json")))) {}

  void SetUp() override {
    if (is_own()) model_ = export_miniature("model");
  }

  [[nodiscard]] static bool is_own() { return GetParam().folder == Folder::kOwn; }

  /// The prompts of the sample, in the order of the file; those of many boxes only where they can be had.
  [[nodiscard]] std::vector<Json> possible_concepts() const {
    auto found = concepts(true);
    if (!is_own()) return found;
    const auto more = concepts(false);
    found.insert(found.end(), more.begin(), more.end());
    return found;
  }

  [[nodiscard]] std::vector<Json> concepts(bool one_box_at_most) const {
    std::vector<Json> found;
    for (const Json& prompt : expected_["prompts"]) {
      if (prompt["type"] != "concept") continue;
      if ((prompt["boxes"].size() <= 1) == one_box_at_most) found.push_back(prompt);
    }
    return found;
  }

  static std::vector<std::string> words_of(const Json& prompt) {
    std::vector<std::string> words;
    // "visual" is what Meta's code fills in for boxes alone; the program must do so by itself.
    if (prompt["text"] != "visual") words.insert(words.end(), {"--text", prompt["text"].get<std::string>()});
    for (std::size_t i = 0; i < prompt["boxes"].size(); ++i) {
      const Json& b = prompt["boxes"][i];
      words.emplace_back(prompt["box_labels"][i] == 1 ? "--box" : "--negative-box");
      words.push_back(b[0].dump() + "," + b[1].dump() + "," + b[2].dump() + "," + b[3].dump());
    }
    return words;
  }

  Json result_of(std::vector<std::string> words) const {
    words.insert(words.begin(), {"run", model_, sample(GetParam().picture), "--json"});
    const ProcessResult result = samlet(words);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return Json::parse(result.output);
  }

  void expect_same(const Json& instances, const Json& detections) const {
    const int width = expected_["width"];
    const int height = expected_["height"];
    ASSERT_EQ(instances.size(), detections.size());
    for (std::size_t i = 0; i < detections.size(); ++i) {
      EXPECT_NEAR(instances[i]["score"].get<double>(), detections[i]["score"].get<double>(), kScoreTolerance);
      for (std::size_t k = 0; k < 4; ++k) {
        const double side = k % 2 == 0 ? width : height;
        // The reference's boxes are not clamped to the picture, ours are.
        const double want = std::min(std::max(detections[i]["box"][k].get<double>(), 0.0), side);
        EXPECT_NEAR(instances[i]["box_xyxy"][k].get<double>(), want, kBoxTolerance * side);
      }
      const Mask ours = from_coco_string(instances[i]["mask"]["counts"], width, height);
      const Mask theirs = from_coco_string(detections[i]["mask"]["counts"], width, height);
      EXPECT_GE(intersection_over_union(ours, theirs), kLeastIou);
      EXPECT_EQ(instances[i]["area"].get<std::uint64_t>(), ours.area());
    }
  }

  Json expected_;
  std::string model_ = miniature_model();
};

TEST_P(Samples, FindTheSameInstancesAsTheReference) {
  const auto prompts = possible_concepts();
  ASSERT_GE(prompts.size(), 4U);
  for (const Json& prompt : prompts) {
    SCOPED_TRACE(prompt["id"].get<std::string>());
    const Json result = result_of(words_of(prompt));
    EXPECT_EQ(result["image"]["width"], expected_["width"]);
    EXPECT_EQ(result["image"]["height"], expected_["height"]);
    EXPECT_EQ(result["provider"], "CPUExecutionProvider");
    expect_same(result["instances"], prompt["detections"]);
  }
}

TEST_P(Samples, ManyPhrasesInOneCallGiveWhatEachGivesAlone) {
  std::vector<std::string> words;
  Json together = Json::array();
  std::size_t index = 0;
  for (const Json& prompt : concepts(true)) {
    if (!prompt["boxes"].empty()) continue;
    words.insert(words.end(), {"--text", prompt["text"].get<std::string>()});
    const Json alone = result_of(words_of(prompt));
    for (Json found : alone["instances"]) {
      found["prompt_index"] = index;
      found["id"] = together.size() + 1;
      together.push_back(found);
    }
    ++index;
  }
  ASSERT_GE(index, 3U);
  EXPECT_EQ(result_of(words)["instances"], together);
}

class ForeignSamples : public Samples {};

TEST_P(ForeignSamples, TwoBoxesAreRefusedBecauseTheGraphHasOneSlot) {
  const auto prompts = concepts(false);
  ASSERT_FALSE(prompts.empty());
  for (const Json& prompt : prompts) {
    auto words = words_of(prompt);
    words.push_back(sample(GetParam().picture));
    expect_refused(run(words), 3, {"2 boxes", "takes 1 at most"});
  }
}

class OwnSamples : public Samples {};

// Half precision: scores within 0.02 and masks that overlap by 0.98 (the best that small weights allow is far
// better).
TEST_P(OwnSamples, HalfPrecisionFindsTheSame) {
  model_ = export_miniature("half", {"--precision", "fp16", "--no-check"});
  constexpr double kHalfScore = 0.02;
  constexpr double kHalfIou = 0.98;
  for (const Json& prompt : possible_concepts()) {
    SCOPED_TRACE(prompt["id"].get<std::string>());
    // An answer this near to the threshold may fall on either side.
    if (prompt["nearest_to_threshold"].get<double>() < kHalfScore) continue;
    const Json instances = result_of(words_of(prompt))["instances"];
    const Json& detections = prompt["detections"];
    ASSERT_EQ(instances.size(), detections.size());
    for (std::size_t i = 0; i < instances.size(); ++i) {
      EXPECT_NEAR(instances[i]["score"].get<double>(), detections[i]["score"].get<double>(), kHalfScore);
      const Mask ours =
          from_coco_string(instances[i]["mask"]["counts"], expected_["width"], expected_["height"]);
      const Mask theirs =
          from_coco_string(detections[i]["mask"]["counts"], expected_["width"], expected_["height"]);
      EXPECT_GE(intersection_over_union(ours, theirs), kHalfIou);
    }
  }
}

TEST_P(OwnSamples, StaticDecoderFindsTheSame) {
  model_ = export_miniature("static", {"--target", "coreml", "--no-check"});
  for (const Json& prompt : possible_concepts()) {
    SCOPED_TRACE(prompt["id"].get<std::string>());
    expect_same(result_of(words_of(prompt))["instances"], prompt["detections"]);
  }
}

TEST_P(OwnSamples, AnyThresholdKeepsExactlyTheScoresAboveIt) {
  for (const Json& prompt : possible_concepts()) {
    SCOPED_TRACE(prompt["id"].get<std::string>());
    auto words = words_of(prompt);
    words.insert(words.end(), {"--threshold", "0.1"});
    const Json instances = result_of(words)["instances"];
    std::size_t above = 0;
    for (const Json& score : prompt["all_scores"]) above += score.get<double>() > 0.1 ? 1U : 0U;
    EXPECT_EQ(instances.size(), above);
  }
}

std::vector<Sample> samples_of(Folder folder) {
  return {{"shapes_01", "shapes_01.png", folder}, {"shapes_02", "shapes_02.jpg", folder},
          {"shapes_03", "shapes_03.png", folder}, {"shapes_04", "shapes_04.jpg", folder},
          {"shapes_05", "shapes_05.png", folder}, {"shapes_06", "shapes_06.png", folder},
          {"shapes_07", "shapes_07.png", folder}, {"shapes_08", "shapes_08.png", folder}};
}

std::string name_of(const testing::TestParamInfo<Sample>& row) {
  return row.param.name;
}

INSTANTIATE_TEST_SUITE_P(V030, Samples, testing::ValuesIn(samples_of(Folder::kV030)), name_of);
INSTANTIATE_TEST_SUITE_P(Own, Samples, testing::ValuesIn(samples_of(Folder::kOwn)), name_of);
INSTANTIATE_TEST_SUITE_P(V030, ForeignSamples, testing::ValuesIn(samples_of(Folder::kV030)), name_of);
// Enough for what only the form of the graphs could break.
INSTANTIATE_TEST_SUITE_P(Own, OwnSamples,
                         testing::Values(Sample{"shapes_01", "shapes_01.png", Folder::kOwn},
                                         Sample{"shapes_06", "shapes_06.png", Folder::kOwn}),
                         name_of);

TEST_F(CliTest, FractionsOfThePictureMeanTheSameBox) {
  const std::string picture = sample("shapes_01.png");  // 640x480
  const ProcessResult pixels = run({picture, "--json", "--box", "128,120,256,264"});
  const ProcessResult fractions = run({picture, "--json", "--normalized", "--box", "0.2,0.25,0.4,0.55"});
  const ProcessResult reversed = run({picture, "--json", "--box", "256,264,128,120"});
  ASSERT_EQ(pixels.exit_code, 0) << pixels.error;
  const Json instances = Json::parse(pixels.output)["instances"];
  EXPECT_FALSE(instances.empty());
  EXPECT_EQ(Json::parse(fractions.output)["instances"], instances);
  EXPECT_EQ(Json::parse(reversed.output)["instances"], instances);
}

TEST_F(CliTest, RaisingTheThresholdOnlyDropsInstances) {
  const auto count = [&](const char* threshold) {
    const ProcessResult result =
        run({sample("shapes_01.png"), "--json", "--text", "shapes", "--threshold", threshold});
    return Json::parse(result.output)["instances"].size();
  };
  EXPECT_EQ(count("0.5"), 6U);
  EXPECT_LT(count("0.8"), 6U);
  EXPECT_EQ(count("1"), 0U);
}

TEST_F(CliTest, ThreadsDoNotChangeTheResult) {
  const auto instances = [&](const char* threads) {
    return Json::parse(run({sample("shapes_03.png"), "--json", "--text", "rings", "--threads", threads})
                           .output)["instances"];
  };
  const Json one = instances("1");
  const Json two = instances("2");
  ASSERT_EQ(one.size(), 4U);
  ASSERT_EQ(two.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(one[i]["score"].get<double>(), two[i]["score"].get<double>(), kScoreTolerance);
  }
}

TEST_F(CliTest, TokensPrintsMetasIds) {
  EXPECT_EQ(samlet({"tokens", "red ball"}).output, "49406 736 1069 49407\n");
  EXPECT_EQ(samlet({"tokens", "yellow school bus"}).output, "49406 4481 1228 2840 49407\n");
  EXPECT_EQ(samlet({"tokens", ""}).output, "49406 49407\n");
  const ProcessResult cut = samlet({"tokens", std::string(300, '7')});
  EXPECT_TRUE(cut.output.ends_with(" 49407\n")) << cut.output;
  EXPECT_TRUE(mentions(cut.error, "was cut")) << cut.error;
  const ProcessResult invalid = samlet({"tokens", "a\xFF"});
  expect_refused(invalid, 2, {"UTF-8"});
}

}  // namespace
}  // namespace samlet::test
