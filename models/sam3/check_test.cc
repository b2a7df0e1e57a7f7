// What a check says of sound and of damaged folders.
#include "models/sam3/check.h"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "libs/base/sha256.h"
#include "models/sam3/contract.h"
#include "models/sam3/self_test.h"
#include "models/sam3/test_support.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

std::vector<CheckLine> lines_of(const fs::path& folder, const std::string& device = {}) {
  std::vector<CheckLine> lines;
  FolderCheckOptions options;
  options.model = test_options();
  options.compare_device = device;
  options.found = [&](const CheckLine& line) { lines.push_back(line); };
  check_folder(folder, options);
  return lines;
}

/// "part subject: message" of the failed ones, a line each.
std::string failed(const std::vector<CheckLine>& lines) {
  std::string text;
  for (const CheckLine& line : lines) {
    if (line.status == CheckStatus::kFailed)
      text += line.part + " " + line.subject + ": " + line.message + "\n";
  }
  return text;
}

std::size_t count_of(const std::vector<CheckLine>& lines, std::string_view part, CheckStatus status) {
  std::size_t count = 0;
  for (const CheckLine& line : lines) {
    if (line.part == part && line.status == status) ++count;
  }
  return count;
}

class Check : public testing::Test {
 protected:
  Check() { folder_.copy(stub("stub-v1")); }
  [[nodiscard]] std::string failures() const { return failed(lines_of(folder_.path())); }

  ScratchFolder folder_;
};

TEST_F(Check, ASoundFolderPasses) {
  const auto lines = lines_of(folder_.path(), "cpu");
  EXPECT_EQ(failed(lines), "");
  EXPECT_EQ(count_of(lines, "files", CheckStatus::kPassed), 6U);
  EXPECT_EQ(count_of(lines, "contract", CheckStatus::kPassed), 5U);
  EXPECT_EQ(count_of(lines, "self-test", CheckStatus::kPassed), 5U);
  EXPECT_EQ(count_of(lines, "self-test", CheckStatus::kNote), 1U) << "there are no figures to compare";
  EXPECT_EQ(count_of(lines, "device", CheckStatus::kPassed), 19U);
}

TEST_F(Check, FiguresOfTheExportAreCompared) {
  Manifest manifest = read_manifest(folder_.path());
  manifest.self_test = require_self_test(folder_.path(), {test_options(), {}, {}});
  folder_.write(kManifestFile, manifest_to_json(manifest));
  EXPECT_EQ(failures(), "");
  manifest.self_test->figures[std::string(kDecoderFile)]["scores"].mean += 0.1;
  folder_.write(kManifestFile, manifest_to_json(manifest));
  EXPECT_TRUE(
      contains(failures(), "self-test figures: 'scores' of 'sam3_decoder.onnx' is not what the export"));
}

TEST_F(Check, FiguresThatAreLeftOutAreAFault) {
  Manifest manifest = read_manifest(folder_.path());
  manifest.self_test = require_self_test(folder_.path(), {test_options(), {}, {}});
  manifest.self_test->figures.erase(std::string(kDecoderFile));
  folder_.write(kManifestFile, manifest_to_json(manifest));
  EXPECT_TRUE(contains(failures(), "figures: 'scores' of 'sam3_decoder.onnx' has no figures of the export"));
  EXPECT_FALSE(contains(failures(), "sam3_image_encoder.onnx"));
  manifest.self_test->figures.clear();
  folder_.write(kManifestFile, manifest_to_json(manifest));
  EXPECT_TRUE(contains(failures(), "of 'sam3_image_encoder.onnx' has no figures of the export"));
}

TEST_F(Check, APrecisionThatTheGraphsDoNotHaveIsAFault) {
  folder_.edit_manifest(R"("precision": "fp32")", R"("precision": "fp16")");
  EXPECT_TRUE(contains(failures(), "contract sam3_image_encoder.onnx: "));
  EXPECT_TRUE(contains(failures(), "f32 [1, 8, 4, 4] was expected to be f16"));
  folder_.copy(stub("stub-v1-fp16"));
  EXPECT_EQ(failures(), "");
  folder_.edit_manifest(R"("precision": "fp16")", R"("precision": "fp32")");
  EXPECT_TRUE(contains(failures(), "f16 [1, 8, 4, 4] was expected to be f32"));
}

TEST_F(Check, APipeInPlaceOfTheManifestIsNotWaitedFor) {
  fs::remove(folder_.path() / kManifestFile);
  ASSERT_EQ(::mkfifo((folder_.path() / kManifestFile).c_str(), 0600), 0);
  const Error error = error_of([&] { (void)lines_of(folder_.path()); });
  EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
  EXPECT_TRUE(contains(error.what(), "model.json' is not a regular file"));
}

TEST_F(Check, AHugeManifestIsNotRead) {
  fs::resize_file(folder_.path() / kManifestFile, std::uintmax_t{1} << 40U);
  const Error error = error_of([&] { (void)lines_of(folder_.path()); });
  EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
  EXPECT_TRUE(contains(error.what(), "holds more than 1048576 bytes"));
}

TEST_F(Check, AFlippedByteIsFoundInEachFile) {
  for (const auto& [name, file] : read_manifest(folder_.path()).files) {
    std::string bytes = folder_.read(name);
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
    folder_.write(name, bytes);
    const auto lines = lines_of(folder_.path());
    EXPECT_TRUE(contains(failed(lines), "files " + name + ": was changed")) << name;
    EXPECT_EQ(count_of(lines, "files", CheckStatus::kFailed), 1U) << name;
    EXPECT_EQ(count_of(lines, "self-test", CheckStatus::kNote), 1U) << "what is damaged is not run";
    folder_.copy(stub("stub-v1"));
  }
}

TEST_F(Check, CutAndMissingFilesAreNamed) {
  fs::resize_file(folder_.path() / kDecoderFile, 100);
  fs::remove(folder_.path() / "sam3_image_encoder.onnx.data");
  const std::string text = failures();
  EXPECT_TRUE(contains(text, "files sam3_decoder.onnx: has 100 bytes instead of"));
  EXPECT_TRUE(contains(text, "cut"));
  EXPECT_TRUE(contains(text, "files sam3_image_encoder.onnx.data: is missing"));
}

TEST_F(Check, SwappedFilesAreToldFromChangedOnes) {
  const fs::path a = folder_.path() / "sam3_language_encoder.onnx";
  const fs::path b = folder_.path() / "sam3_litetext_s0_language_encoder.onnx";
  fs::rename(a, folder_.path() / "away");
  fs::rename(b, a);
  fs::rename(folder_.path() / "away", b);
  const std::string text = failures();
  EXPECT_TRUE(contains(text,
                       "files sam3_language_encoder.onnx: holds what belongs into "
                       "sam3_litetext_s0_language_encoder.onnx"));
  EXPECT_TRUE(contains(text,
                       "files sam3_litetext_s0_language_encoder.onnx: holds what belongs into "
                       "sam3_language_encoder.onnx"));
}

TEST_F(Check, UnknownFilesAreNoted) {
  folder_.write("notes.txt", "x");
  const auto lines = lines_of(folder_.path());
  EXPECT_EQ(failed(lines), "");
  EXPECT_EQ(count_of(lines, "files", CheckStatus::kNote), 1U);
}

TEST_F(Check, DataOutsideOfTheFolderIsRefused) {
  // The same length, so that the graph stays whole: its data's name becomes a path upwards. Whoever does
  // that fills in the hash too.
  std::string bytes = folder_.read(kImageEncoderFile);
  const std::string location = "sam3_image_encoder.onnx.data";
  const std::size_t at = bytes.find(location);
  ASSERT_NE(at, std::string::npos);
  folder_.write(kImageEncoderFile, bytes.replace(at, location.size(), "../3_image_encoder.onnx.data"));
  Manifest manifest = read_manifest(folder_.path());
  manifest.files[std::string(kImageEncoderFile)].sha256 = sha256_of_file(folder_.path() / kImageEncoderFile);
  folder_.write(kManifestFile, manifest_to_json(manifest));
  EXPECT_TRUE(contains(failures(), "'../3_image_encoder.onnx.data' lies outside of the model's folder"));
}

TEST_F(Check, AGraphThatBreaksTheContractIsNamed) {
  // A sound file by its hash, which declares something else: the manifest says that the decoder is static.
  folder_.edit_manifest(R"("decoder": "dynamic")", R"("decoder": "static")");
  const auto lines = lines_of(folder_.path());
  EXPECT_TRUE(contains(failed(lines), "contract sam3_decoder.onnx: "));
  EXPECT_EQ(count_of(lines, "self-test", CheckStatus::kPassed), 0U);
  EXPECT_EQ(count_of(lines, "contract", CheckStatus::kPassed), 2U);
}

TEST_F(Check, AFolderWithoutManifestIsCheckedAsFarAsItGoes) {
  const auto lines = lines_of(fs::path(SAMLET_SOURCE_DIR) / "examples/miniature/onnx-v030");
  EXPECT_EQ(failed(lines), "");
  EXPECT_EQ(count_of(lines, "files", CheckStatus::kNote), 1U);
  EXPECT_EQ(count_of(lines, "contract", CheckStatus::kPassed), 1U);
  EXPECT_EQ(count_of(lines, "self-test", CheckStatus::kPassed), 3U);
  std::string all;
  for (const CheckLine& line : lines) all += line.subject + ": " + line.message + "\n";
  EXPECT_TRUE(contains(all, "sam3_language_encoder.onnx: its 2 outputs are finite, and every input matters"));
  EXPECT_TRUE(contains(all, "sam3_decoder.onnx: its 3 outputs are finite; whether its inputs matter cannot"));
}

TEST_F(Check, WhatIsTheMachinesFaultIsAnError) {
  FolderCheckOptions options;
  options.model = test_options();
  options.compare_device = "openvino";
  EXPECT_EQ(error_of([&] { check_folder(folder_.path(), options); }).code(), ErrorCode::kDeviceUnavailable);
}

}  // namespace
}  // namespace samlet::sam3
