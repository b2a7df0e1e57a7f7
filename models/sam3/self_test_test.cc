// The self-test: passes on sound graphs, and says what is wrong with others.
#include "models/sam3/self_test.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include "models/sam3/contract.h"
#include "models/sam3/figures.h"
#include "models/sam3/test_support.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

SelfTestReport report_of(const fs::path& folder) {
  return run_self_test(folder, {test_options(), {}, {}});
}

std::string sentences(const std::vector<SelfTestFault>& faults) {
  std::string text;
  for (const SelfTestFault& fault : faults) text += fault.graph + ": " + fault.what + "\n";
  return text;
}

class SelfTestOf : public testing::TestWithParam<const char*> {};

TEST_P(SelfTestOf, SoundGraphsPass) {
  const SelfTestReport report = report_of(stub(GetParam()));
  EXPECT_EQ(sentences(report.faults), "");
  EXPECT_FALSE(report.test.runtime.empty());
  EXPECT_EQ(report.test.figures.size(), 5U);
  const auto& decoder = report.test.figures.at(std::string(kDecoderFile));
  EXPECT_EQ(decoder.at("scores").count, 10);
  EXPECT_GT(decoder.at("scores").std, 0);
  EXPECT_EQ(report.test.figures.at(std::string(kImageEncoderFile)).size(), 7U);
}

INSTANTIATE_TEST_SUITE_P(Stubs, SelfTestOf, testing::Values("stub-v1", "stub-v1-static", "stub-v1-fp16"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(SelfTest, IsTheSameEachTime) {
  const SelfTestReport first = report_of(stub("stub-v1"));
  EXPECT_EQ(report_of(stub("stub-v1")).test.figures, first.test.figures);
  EXPECT_TRUE(figure_differences(first.test.figures, first.test.figures, 0).empty());
}

TEST(SelfTest, RunsAFolderOfAnotherLayoutAsFarAsItCan) {
  const SelfTestReport report = report_of(fs::path(SAMLET_SOURCE_DIR) / "examples/miniature/onnx-v030");
  EXPECT_EQ(sentences(report.faults), "");
  EXPECT_EQ(report.test.figures.size(), 3U);
}

/// A scalar f32 constant as it stands in an .onnx file: the field raw_data, 4 bytes.
std::string scalar(float value) {
  return "J\x04" + std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

/// The stub with one constant replaced.
class BrokenGraph : public testing::Test {
 protected:
  BrokenGraph() { folder_.copy(stub("stub-v1")); }

  void replace(std::string_view graph, std::string_view from, std::string_view to) const {
    std::string bytes = folder_.read(graph);
    const std::size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    folder_.write(graph, bytes.replace(at, from.size(), to));
  }

  std::string faults_with(std::string_view graph, std::string_view from, std::string_view to) const {
    replace(graph, from, to);
    const std::string text = sentences(report_of(folder_.path()).faults);
    folder_.copy(stub("stub-v1"));
    return text;
  }

  ScratchFolder folder_;
};

TEST_F(BrokenGraph, AnInputThatIsNotUsedIsNamed) {
  // Labels times 0 instead of times 2: signs that ignore the labels.
  // A slot's sign is 2 label - 0.5.
  EXPECT_TRUE(contains(faults_with(kDecoderFile, scalar(2), scalar(0)),
                       "sam3_decoder.onnx: its input 'box_labels' changes nothing"));
  EXPECT_EQ(faults_with(kDecoderFile, scalar(0.5F), scalar(0.25F)), "");
}

TEST_F(BrokenGraph, AnOutputThatIsAlwaysTheSameIsNamed) {
  // Pixels are divided by 255.
  const std::string text =
      faults_with(kImageEncoderFile, scalar(255), scalar(std::numeric_limits<float>::infinity()));
  EXPECT_TRUE(contains(text, "sam3_image_encoder.onnx: its input 'image' changes nothing"));
  EXPECT_TRUE(contains(text, "sam3_image_encoder.onnx: its output 'mask_fpn_0' is always the same"));
  EXPECT_TRUE(contains(text, "16 places of its output 'backbone_fpn_2' are the same for every picture"));
  EXPECT_TRUE(contains(text, "sam3_decoder.onnx: its input 'mask_fpn_1' changes nothing"));
}

TEST_F(BrokenGraph, NumbersThatAreNotFiniteAreNamed) {
  // 0.04 is a disc's squared radius.
  replace(kDecoderFile, scalar(0.04F), scalar(std::numeric_limits<float>::quiet_NaN()));
  EXPECT_TRUE(contains(sentences(report_of(folder_.path()).faults),
                       "sam3_decoder.onnx: its output 'mask_logits' has numbers that are not finite"));
  const Error error = error_of([&] { (void)require_self_test(folder_.path(), {test_options(), {}, {}}); });
  EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
  EXPECT_TRUE(contains(error.what(), "'mask_logits' has numbers that are not finite"));
}

TEST(SelfTest, ADecoderThatMixesPromptsIsFoundOut) {
  ScratchFolder folder;
  folder.copy(stub("stub-v1"));
  fs::copy_file(stub("mixing-v1") / kDecoderFile, folder.path() / kDecoderFile,
                fs::copy_options::overwrite_existing);
  const auto bytes = std::to_string(fs::file_size(stub("stub-v1") / kDecoderFile));
  folder.edit_manifest(bytes, std::to_string(fs::file_size(folder.path() / kDecoderFile)));
  EXPECT_TRUE(contains(sentences(report_of(folder.path()).faults),
                       "sam3_decoder.onnx: a prompt among others does not give what it gives alone"));
}

TEST(SelfTest, ComparesADeviceWithTheCpu) {
  const auto rows = compare_device(stub("stub-v1"), {test_options(), {}, {}});
  EXPECT_EQ(rows.size(), 7U + 2 * 2 + 5 + 3);
  for (const DeviceDifference& row : rows) {
    EXPECT_EQ(row.difference, 0) << row.graph << " " << row.output;
    EXPECT_GT(row.bound, 0);
  }
}

TEST(SelfTest, CanBeStopped) {
  SelfTestOptions options{test_options(), {}, {}};
  std::vector<std::string> told;
  options.step = [&](std::string_view graph) {
    told.emplace_back(graph);
    if (told.size() == 2) options.cancel.cancel();
  };
  EXPECT_EQ(error_of([&] { (void)run_self_test(stub("stub-v1"), options); }).code(), ErrorCode::kCancelled);
  EXPECT_EQ(told, (std::vector<std::string>{"sam3_image_encoder.onnx", "sam3_language_encoder.onnx"}));
}

TEST(Figures, AreThoseOfTheElements) {
  const std::vector<float> values{1, -3, 2, 0};
  const Tensor tensor = Tensor::from<float>({2, 2}, values);
  const OutputFigures f = figures_of(tensor.view());
  EXPECT_EQ(f.count, 4);
  EXPECT_EQ(f.mean, 0);
  EXPECT_EQ(f.std, std::sqrt(3.5));
  EXPECT_EQ(f.max, 3);
  const std::vector<std::uint16_t> halves{0x3C00, 0xC200, 0x0001, 0x7C00};  // 1, -3, 2^-24, infinity
  const TensorView half(DType::kFloat16, {4}, std::as_bytes(std::span(halves)));
  EXPECT_EQ(Numbers(half)[0], 1);
  EXPECT_EQ(Numbers(half)[1], -3);
  EXPECT_EQ(Numbers(half)[2], std::ldexp(1.0, -24));
  EXPECT_FALSE(is_finite(half));
}

TEST(Figures, DifferencesAreSaidPerOutput) {
  const SelfTestFigures stored{{"a.onnx", {{"x", {4, 1, 2, 10}}, {"y", {1, 0, 0, 0}}}}, {"b.onnx", {}}};
  SelfTestFigures found{{"a.onnx", {{"x", {4, 1.005, 2, 10}}, {"y", {1, 0, 0, 0.00004}}}}, {"b.onnx", {}}};
  EXPECT_TRUE(figure_differences(stored, found, 1e-3).empty());
  found["a.onnx"]["x"].mean = 1.02;
  ASSERT_EQ(figure_differences(stored, found, 1e-3).size(), 1U);
  EXPECT_TRUE(contains(figure_differences(stored, found, 1e-3)[0], "'x' of 'a.onnx'"));
  found["a.onnx"]["x"] = {5, 1, 2, 10};
  found["a.onnx"].erase("y");
  found.erase("b.onnx");
  EXPECT_EQ(figure_differences(stored, found, 1e-3).size(), 3U);
}

TEST(Figures, EqualPlacesAreCountedInBothLayouts) {
  const std::vector<float> a{1, 2, 3, 4};
  const std::vector<float> b{1, 9, 9, 4};
  const auto count = [&](const Shape& shape) {
    return equal_places(Tensor::from<float>(shape, a).view(), Tensor::from<float>(shape, b).view());
  };
  EXPECT_EQ(count({1, 2, 1, 2}), 0U);  // places (1, 3) and (2, 4)
  EXPECT_EQ(count({1, 1, 2, 2}), 2U);
  EXPECT_EQ(count({1, 4, 1}), 2U);
  EXPECT_EQ(count({1, 2, 2}), 0U);
}

}  // namespace
}  // namespace samlet::sam3
