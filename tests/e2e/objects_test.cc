// Clicks, object boxes and refinement against Meta's own answers on the miniature's samples.
#include <cmath>
#include <map>
#include <memory>
#include <ostream>

#include "samlet/mask.h"
#include "samlet/segmenter.h"
#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

constexpr double kLeastIou = 0.999;
constexpr double kIouTolerance = 1e-4;

struct ObjectSample {
  std::string name;
  std::string picture;
};

// NOLINTNEXTLINE(readability-identifier-naming): the name is GoogleTest's.
void PrintTo(const ObjectSample& sample_row, std::ostream* out) {
  *out << sample_row.picture;
}

Mask mask_of(const Json& json) {
  const Json& size = json["mask"]["size"];
  return from_coco_string(json["mask"]["counts"], size[1], size[0]);
}

class ObjectSamples : public CliTest, public testing::WithParamInterface<ObjectSample> {
 protected:
  ObjectSamples()
      : expected_(Json::parse(read_text(miniature() / "expected" / (GetParam().name + ".json")))),
        folder_name_(export_miniature("model")),
        image_(read_image(sample(GetParam().picture))) {
    ModelOptions options;
    options.device = "cpu";
    options.runtime_library = SAMLET_ORT_LIBRARY_DIR;
    model_ = open_segmenter(folder_name_, options);
    features_ = model_->encode(image_, EncodeFor::kObjects, {});
  }

  [[nodiscard]] std::vector<Json> clicks() const {
    std::vector<Json> found;
    for (const Json& prompt : expected_["prompts"]) {
      if (prompt["type"] == "click") found.push_back(prompt);
    }
    return found;
  }

  [[nodiscard]] static ObjectPrompt prompt_of(const Json& json) {
    ObjectPrompt prompt;
    for (std::size_t i = 0; i < json["points"].size(); ++i)
      prompt.points.push_back({{json["points"][i][0], json["points"][i][1]}, json["labels"][i] == 1});
    if (!json["box"].is_null())
      prompt.box = Box{json["box"][0], json["box"][1], json["box"][2], json["box"][3]};
    return prompt;
  }

  std::vector<Instance> find(const ObjectPrompt& prompt, int fill_holes, bool all_masks = false) const {
    ObjectOptions options;
    options.fill_holes = fill_holes;
    options.all_masks = all_masks;
    return model_->segment_objects(*features_, std::span(&prompt, 1), options).instances;
  }

  static void expect_same(const Instance& found, const Json& wanted, const char* mask = "mask") {
    EXPECT_NEAR(found.score, wanted["iou"], kIouTolerance);
    const Json& size = wanted[mask]["size"];
    const Mask truth = from_coco_string(wanted[mask]["counts"], size[1], size[0]);
    EXPECT_GE(intersection_over_union(found.mask, truth), kLeastIou) << mask;
  }

  Json expected_;
  std::string folder_name_;
  Image image_;
  std::unique_ptr<Segmenter> model_;
  std::unique_ptr<EncodedImage> features_;
};

TEST_P(ObjectSamples, AgreeWithMetasAnswers) {
  std::map<std::string, LowResMask> earlier;
  std::size_t checked = 0;
  for (const Json& json : clicks()) {
    SCOPED_TRACE(json["id"].get<std::string>());
    ObjectPrompt prompt = prompt_of(json);
    if (!json["mask_from"].is_null()) prompt.mask = earlier.at(json["mask_from"]);
    const bool ambiguous = prompt.points.size() == 1 && !prompt.box && !prompt.mask;
    const Json& wanted = ambiguous ? json["multimask"][json["best"].get<std::size_t>()] : json["single"];
    expect_same(find(prompt, 0).at(0), wanted);
    // As Meta's predictor gives it: with holes filled, where that changes anything.
    const bool changed = !ambiguous && wanted.contains("mask_with_holes_filled");
    if (!ambiguous) expect_same(find(prompt, 256).at(0), wanted, changed ? "mask_with_holes_filled" : "mask");
    const auto all = find(prompt, 0, true);
    ASSERT_EQ(all.size(), 3U);
    expect_same(all[0], json["multimask"][json["best"].get<std::size_t>()]);
    // The file's refinements begin with the best candidate of the earlier prompt.
    earlier[json["id"]] = all[0].low_res.value();
    ++checked;
  }
  EXPECT_EQ(checked, 4U);
}

TEST_P(ObjectSamples, TheCommandLineAgreesToo) {
  for (const Json& json : clicks()) {
    if (!json["mask_from"].is_null()) continue;
    SCOPED_TRACE(json["id"].get<std::string>());
    std::vector<std::string> words{"run", folder_name_, sample(GetParam().picture), "--json"};
    for (std::size_t i = 0; i < json["points"].size(); ++i) {
      words.emplace_back(json["labels"][i] == 1 ? "--point" : "--negative-point");
      words.push_back(json["points"][i][0].dump() + "," + json["points"][i][1].dump());
    }
    if (!json["box"].is_null()) {
      const Json& b = json["box"];
      words.emplace_back("--object-box");
      words.push_back(b[0].dump() + "," + b[1].dump() + "," + b[2].dump() + "," + b[3].dump());
    }
    const ProcessResult result = samlet(words);
    ASSERT_EQ(result.exit_code, 0) << result.error;
    const Json instance = Json::parse(result.output)["instances"].at(0);
    const bool ambiguous = json["points"].size() == 1 && json["box"].is_null();
    const Json& wanted = ambiguous ? json["multimask"][json["best"].get<std::size_t>()] : json["single"];
    EXPECT_EQ(instance["kind"], "object");
    EXPECT_NEAR(instance["iou"].get<double>(), wanted["iou"].get<double>(), kIouTolerance);
    const bool filled = wanted.contains("mask_with_holes_filled");
    if (!ambiguous && !filled) {
      EXPECT_GE(intersection_over_union(mask_of(instance), mask_of(wanted)), kLeastIou);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, ObjectSamples,
    testing::Values(ObjectSample{"shapes_01", "shapes_01.png"}, ObjectSample{"shapes_02", "shapes_02.jpg"},
                    ObjectSample{"shapes_03", "shapes_03.png"}, ObjectSample{"shapes_04", "shapes_04.jpg"},
                    ObjectSample{"shapes_05", "shapes_05.png"}, ObjectSample{"shapes_06", "shapes_06.png"},
                    ObjectSample{"shapes_07", "shapes_07.png"}, ObjectSample{"shapes_08", "shapes_08.png"}),
    [](const testing::TestParamInfo<ObjectSample>& row) { return row.param.name; });

class ObjectPrompts : public CliTest {
 protected:
  ObjectPrompts() : model_(export_miniature("model")) { remember_entries(); }

  ProcessResult ask(std::vector<std::string> words) const {
    words.insert(words.begin(), {"run", model_, sample("shapes_01.png")});
    return samlet(words);
  }
  /// Refused before anything is loaded: the runtime that is named does not exist.
  void expect_prompt_refused(std::vector<std::string> words, const std::vector<std::string>& parts) const {
    words.insert(words.end(), {"--ort-library", "/nowhere"});
    expect_refused(ask(words), 2, parts);
  }
  Json instances(std::vector<std::string> words) const {
    words.emplace_back("--json");
    const ProcessResult result = ask(words);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return Json::parse(result.output)["instances"];
  }

  std::string model_;
};

TEST_F(ObjectPrompts, WhatCannotBeMeantIsRefusedBeforeLoading) {
  expect_prompt_refused({"--negative-point", "5,5"}, {"only negative"});
  expect_prompt_refused({"--point", "5,5", "--negative-point", "5,5"}, {"both"});
  expect_prompt_refused({"--point", "700,5"}, {"outside", "640x480"});
  expect_prompt_refused({"--point", "5"}, {"two numbers"});
  expect_prompt_refused({"--point", "nan,5"}, {"not two numbers"});
  expect_prompt_refused({"--object-box", "5,5,5,9"}, {"no area"});
  expect_prompt_refused({"--point", "5,5", "--object-box", "1,1,9,9", "--object-box", "20,20,30,30"},
                        {"--object"});
  expect_prompt_refused({"--text", "dog", "--object-box", "1,1,9,9"}, {"--object-box", "--text"});
  expect_prompt_refused({"--object", "not=5,5"}, {"only negative"});
  expect_prompt_refused({"--object", "dot=5,5"}, {"point=x,y"});
  expect_prompt_refused({"--normalized", "--point", "30,5"}, {"--normalized"});
  expect_prompt_refused({"--text", "dog", "--point", "700,5"}, {"outside"});
}

TEST_F(ObjectPrompts, AFolderWithoutAPointDecoderSaysSo) {
  expect_refused(run({sample("shapes_01.png"), "--point", "5,5", "--ort-library", "/nowhere"}), 3,
                 {"clicks", "point decoder"});
}

TEST_F(ObjectPrompts, SeveralObjectsKeepTheirOrderAndAreEachTheirOwn) {
  const Json both =
      instances({"--object", "box=76.6,365.5,149.7,437", "--object", "point=222,350;not=32,384"});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0]["prompt_index"], 0);
  EXPECT_EQ(both[1]["prompt_index"], 1);
  const Json first = instances({"--object-box", "76.6,365.5,149.7,437"});
  const Json second = instances({"--point", "222,350", "--negative-point", "32,384"});
  EXPECT_EQ(both[0]["mask"], first[0]["mask"]);
  EXPECT_EQ(both[1]["mask"], second[0]["mask"]);
  EXPECT_EQ(
      instances({"--object-box", "76.6,365.5,149.7,437", "--object-box", "125.3,260.8,317.9,445"}).size(),
      2U);
}

TEST_F(ObjectPrompts, AllMasksAreThree) {
  const Json three = instances({"--point", "222,350", "--all-masks"});
  ASSERT_EQ(three.size(), 3U);
  EXPECT_GE(three[0]["iou"], three[1]["iou"]);
  EXPECT_GE(three[1]["iou"], three[2]["iou"]);
}

TEST_F(ObjectPrompts, PointsChooseAmongWhatATextFinds) {
  const Json all = instances({"--text", "red circle"});
  ASSERT_EQ(all.size(), 2U);
  const Json chosen = instances({"--text", "red circle", "--point", "222,350"});
  ASSERT_EQ(chosen.size(), 1U);
  EXPECT_EQ(chosen[0]["mask"], all[1]["mask"]);
  const Json dropped = instances({"--text", "red circle", "--negative-point", "222,350"});
  ASSERT_EQ(dropped.size(), 1U);
  EXPECT_EQ(dropped[0]["mask"], all[0]["mask"]);
  EXPECT_TRUE(instances({"--text", "red circle", "--point", "5,5"}).empty());
}

TEST_F(ObjectPrompts, FractionsAreTheSameClick) {
  EXPECT_EQ(instances({"--normalized", "--point", "0.346875,0.729166666666666667"})[0]["mask"],
            instances({"--point", "222,350"})[0]["mask"]);
}

TEST_F(ObjectPrompts, ABoxAloneHintsAtTheOtherKind) {
  const ProcessResult result = ask({"--box", "121.2,124.8,267.4,263.0"});
  EXPECT_TRUE(mentions(result.error, "3 similar found; for just this object use --object-box"))
      << result.error;
  EXPECT_EQ(ask({"--box", "121.2,124.8,267.4,263.0", "--quiet", "--overwrite"}).error, "");
}

TEST_F(ObjectPrompts, TheBestAndTheLargeEnough) {
  EXPECT_EQ(instances({"--text", "shapes"}).size(), 6U);
  EXPECT_EQ(instances({"--text", "shapes", "--max", "2"}).size(), 2U);
  EXPECT_EQ(instances({"--text", "shapes", "--min-area", "10000"}).size(), 3U);
  EXPECT_EQ(instances({"--text", "shapes", "--nms", "iou"}).size(), 6U);
  expect_prompt_refused({"--text", "x", "--nms", "boxes"}, {"--nms"});
}

}  // namespace
}  // namespace samlet::test
