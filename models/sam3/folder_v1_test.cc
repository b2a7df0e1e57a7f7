// Folders of samlet's own export, read: what is told of them, and the many ways in which one is wrong.
#include <gtest/gtest.h>

#include "models/sam3/contract.h"
#include "models/sam3/folder.h"
#include "models/sam3/test_support.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

class FolderV1 : public testing::Test {
 protected:
  FolderV1() { folder_.copy(stub("stub-v1")); }

  void expect_refused(ErrorCode code, const std::vector<std::string>& parts) const {
    const Error error = error_of([&] { (void)open_folder(folder_.path()); });
    EXPECT_EQ(error_traits(error.code()).name, error_traits(code).name) << error.what();
    for (const std::string& part : parts) EXPECT_TRUE(contains(error.what(), part));
  }

  ScratchFolder folder_;
};

TEST_F(FolderV1, TellsWhatItCanDo) {
  const Folder folder = open_folder(folder_.path());
  EXPECT_EQ(folder.layout, Layout::kSamletV1);
  EXPECT_EQ(folder.info.name, "stub-v1");
  EXPECT_EQ(folder.info.layout, "samlet v1");
  EXPECT_EQ(folder.info.sha256, "725c546b990dd1b41f3d5791b37c3c0edcb1f08cf150bdae32a73dfd166e02d7");
  EXPECT_EQ(folder.info.image_side, 56);
  EXPECT_EQ(folder.info.context, 32U);
  EXPECT_EQ(folder.info.precision, "fp32");
  EXPECT_FALSE(folder.info.max_boxes.has_value());
  EXPECT_EQ(folder.info.min_threshold, 0);
  EXPECT_EQ(folder.prompts_per_call, 8U);
}

TEST_F(FolderV1, IsNamedAfterItselfWhenTheManifestGivesNoName) {
  folder_.edit_manifest(R"("name": "stub-v1",)", "");
  EXPECT_EQ(open_folder(folder_.path()).info.name, folder_.path().filename());
}

TEST_F(FolderV1, EachMissingFileIsNamed) {
  for (const auto& [name, file] : read_manifest(folder_.path()).files) {
    SCOPED_TRACE(name);
    fs::rename(folder_.path() / name, folder_.path() / "away");
    expect_refused(ErrorCode::kModelMissing, {name, "model.json"});
    fs::rename(folder_.path() / "away", folder_.path() / name);
  }
  fs::remove(folder_.path() / kDecoderFile);
  fs::create_directory(folder_.path() / kDecoderFile);
  expect_refused(ErrorCode::kModelDamaged, {"sam3_decoder.onnx", "not a regular file"});
}

TEST_F(FolderV1, EachCutFileIsNamedWithBothSizes) {
  for (const auto& [name, file] : read_manifest(folder_.path()).files) {
    SCOPED_TRACE(name);
    const std::string content = folder_.read(name);
    fs::resize_file(folder_.path() / name, file.bytes - 1);
    expect_refused(ErrorCode::kModelDamaged,
                   {name, std::to_string(file.bytes), std::to_string(file.bytes - 1)});
    folder_.write(name, content);
  }
}

TEST_F(FolderV1, WithoutAWholeManifestIsDamaged) {
  folder_.write(kManifestFile, "");
  expect_refused(ErrorCode::kModelDamaged, {"model.json", "not JSON"});
  fs::remove(folder_.path() / kManifestFile);
  fs::create_symlink("nowhere", folder_.path() / kManifestFile);
  expect_refused(ErrorCode::kModelMissing, {"model.json"});
}

TEST_F(FolderV1, TheManifestMustDescribeTheGraphs) {
  folder_.edit_manifest(R"("decoder": "dynamic")", R"("decoder": "static")");
  expect_refused(ErrorCode::kModelUnsupported, {"sam3_decoder.onnx", "'boxes' f32 [-1, 4]"});
  folder_.copy(stub("stub-v1"));
  folder_.edit_manifest("\"width\": 8", "\"width\": 16");
  expect_refused(ErrorCode::kModelUnsupported, {"sam3_image_encoder.onnx", "[1, 16, 4, 4]"});
  folder_.copy(stub("stub-v1"));
  folder_.edit_manifest("\"context\": 32", "\"context\": 31");
  expect_refused(ErrorCode::kModelUnsupported, {"sam3_language_encoder.onnx", "[-1, 31]"});
}

TEST_F(FolderV1, DataThatTheManifestDoesNotNameIsRefused) {
  const std::string text = folder_.read(kManifestFile);
  const std::size_t at = text.find("    \"sam3_image_encoder.onnx.data\"");
  ASSERT_NE(at, std::string::npos);
  const std::size_t end = text.find("},\n", at) + 3;
  folder_.write(kManifestFile, text.substr(0, at) + text.substr(end));
  expect_refused(ErrorCode::kModelDamaged, {"sam3_image_encoder.onnx.data", "does not name"});
}

TEST_F(FolderV1, GraphsOfAnotherExportDoNotFit) {
  // The same sizes in the manifest, but features of another type.
  fs::copy_file(stub("stub-v1-fp16") / kDecoderFile, folder_.path() / kDecoderFile,
                fs::copy_options::overwrite_existing);
  const auto bytes = std::to_string(fs::file_size(stub("stub-v1") / kDecoderFile));
  folder_.edit_manifest(bytes, std::to_string(fs::file_size(folder_.path() / kDecoderFile)));
  expect_refused(ErrorCode::kModelDamaged, {"sam3_image_encoder.onnx", "sam3_decoder.onnx", "f16"});
}

TEST_F(FolderV1, WithoutADecoderThereIsNothingToRun) {
  folder_.edit_manifest("\"sam3_decoder.onnx\": {\n      \"flops\": 0\n    },", "");
  expect_refused(ErrorCode::kModelUnsupported, {"no sam3_decoder.onnx"});
}

}  // namespace
}  // namespace samlet::sam3
