#include "models/sam3/arch/export_plan.h"

#include "models/sam3/arch/golden_support.h"
#include "models/sam3/arch/litetext_base.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

std::filesystem::path miniature() {
  return std::filesystem::path(SAMLET_SOURCE_DIR) / "examples/miniature/checkpoint/sam3_mini.pt";
}

TEST(BaseDifference, TellsAnotherModelFromTheSameAndFromATextEncoderAlone) {
  const auto base = golden("sam3") / "sam3.pt";
  EXPECT_EQ(base_difference(base, base), "");
  EXPECT_EQ(base_difference(base, golden("litetext_s0") / "litetext_s0.pt"), "");
  const std::string difference = base_difference(base, miniature());
  EXPECT_NE(difference.find("sam3_mini.pt"), std::string::npos) << difference;
  EXPECT_NE(difference.find("other values"), std::string::npos) << difference;
}

TEST(Plan, HasFourGraphsAndOneForEachStudent) {
  ExportOptions options;
  options.checkpoint = golden("sam3") / "sam3.pt";
  options.text_encoders = {golden("litetext_s0") / "litetext_s0.pt",
                           golden("litetext_s1") / "litetext_s1.pt"};
  const ExportPlan plan = plan_export(options);
  std::vector<std::string> files;
  for (const PlannedGraph& planned : plan.graphs) files.push_back(planned.file);
  EXPECT_EQ(files, (std::vector<std::string>{"sam3_image_encoder.onnx", "sam3_language_encoder.onnx",
                                             "sam3_decoder.onnx", "sam3_point_decoder.onnx",
                                             "sam3_litetext_s0_language_encoder.onnx",
                                             "sam3_litetext_s1_language_encoder.onnx"}));
  EXPECT_EQ(plan.graphs[4].context, 16);
  EXPECT_EQ(plan.graphs[5].context, 32);  // its table has 32 rows
}

TEST(Plan, StudentOfAnotherModelOrGivenTwiceIsRefused) {
  ExportOptions options;
  options.checkpoint = miniature();
  options.text_encoders = {golden("litetext_s0") / "litetext_s0.pt"};
  EXPECT_THROW((void)plan_export(options), Error);
  options.checkpoint = golden("sam3") / "sam3.pt";
  options.text_encoders.push_back(options.text_encoders.front());
  EXPECT_THROW((void)plan_export(options), Error);
}

}  // namespace
}  // namespace samlet::sam3
