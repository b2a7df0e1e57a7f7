#include "apps/cli/result_json.h"

#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "samlet/version.h"

namespace samlet::cli {
namespace {

TEST(ResultJson, HasTheFieldsOfSchemaOneInTheirOrder) {
  ModelInfo info;
  info.name = "mini";
  info.precision = "fp32";
  info.text_encoder = "full";
  Result result;
  Instance instance;
  instance.prompt_index = 1;
  instance.score = 0.123456789;
  instance.box = {0, 0.00004, 2, 1};
  instance.mask = {2, 1, {1, 1}};
  result.instances.push_back(std::move(instance));
  result.timings = {1.26, 2, 3, 4, 5};
  result.warnings = {"look out"};
  const RunPrompts prompts{{{"dog", {}}, {"\xE7\x8B\x97", {}}}, {}, {}};
  const std::string text =
      result_json(result, prompts, {&info, "cpu", "CPUExecutionProvider", "a.png", 2, 1});
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_EQ(
      text,
      std::string(R"({"schema":1,"samlet":")") + version() +
          R"(","model":{"name":"mini","sha256":null,"precision":"fp32","text_encoder":"full"},)"
          R"("device":"cpu","provider":"CPUExecutionProvider",)"
          R"("image":{"path":"a.png","width":2,"height":1},)"
          R"("instances":[{"id":1,"prompt_index":1,"prompt":")"
          "\xE7\x8B\x97"
          R"(","kind":"concept","score":0.123457,"presence":null,"box_xyxy":[0.0,0.0,2.0,1.0],"area":1,)"
          R"("mask":{"size":[1,2],"counts":"11"}}],)"
          R"("timings_ms":{"decode":1.3,"encode":2.0,"language":3.0,"decode_masks":4.0,"write":5.0},)"
          R"("warnings":["look out"]})");
}

TEST(ResultJson, NothingFoundIsAnEmptyArrayAndBoxesAloneAreVisual) {
  const ModelInfo info;
  const RunPrompts prompts{{{std::nullopt, {{{0, 0, 1, 1}, true}}}}, {}, {}};
  const auto json = nlohmann::json::parse(result_json({}, prompts, {&info, "cpu", "p", "a", 1, 1}));
  EXPECT_TRUE(json["instances"].is_array());
  EXPECT_TRUE(json["instances"].empty());
  EXPECT_EQ(prompts.words_of({}), "visual");
}

TEST(ResultJson, ObjectsCarryTheExpectedIou) {
  const ModelInfo info;
  RunPrompts prompts;
  prompts.objects.emplace_back().points.push_back({{1, 1}, true});
  Result result;
  result.instances.emplace_back();
  result.instances[0].kind = InstanceKind::kObject;
  result.instances[0].score = 0.75;
  result.instances[0].mask = {2, 1, {1, 1}};
  const auto json = nlohmann::json::parse(result_json(result, prompts, {&info, "cpu", "p", "a", 2, 1}));
  EXPECT_EQ(json["instances"][0]["kind"], "object");
  EXPECT_EQ(json["instances"][0]["iou"], 0.75);
  EXPECT_EQ(json["instances"][0]["score"], 0.75);
  EXPECT_EQ(json["instances"][0]["prompt"], "object");
  EXPECT_FALSE(json["instances"][0].contains("presence"));
}

}  // namespace
}  // namespace samlet::cli
