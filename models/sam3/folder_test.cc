// Folders that are right, and the many ways in which one is wrong.
#include "models/sam3/folder.h"

#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "libs/base/file.h"
#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

const fs::path kMiniature = fs::path(SAMLET_SOURCE_DIR) / "examples/miniature/onnx-v030";

class FolderTest : public testing::Test {
 protected:
  FolderTest() {
    std::string pattern = (fs::temp_directory_path() / "samlet-folder-XXXXXX").native();
    folder_ = ::mkdtemp(pattern.data());
    for (const auto name : {kImageEncoderFile, kLanguageEncoderFile, kDecoderFile}) {
      fs::copy_file(kMiniature / name, folder_ / name);
    }
  }
  ~FolderTest() override { fs::remove_all(folder_); }

  std::string refusal(ErrorCode code) const {
    try {
      (void)open_folder(folder_);
    } catch (const Error& e) {
      EXPECT_EQ(error_traits(e.code()).name, error_traits(code).name) << e.what();
      return e.what();
    }
    ADD_FAILURE() << "was opened";
    return "";
  }

  fs::path folder_;
};

bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_F(FolderTest, TheMiniatureIsReadWithoutLoadingIt) {
  const Folder folder = open_folder(folder_);
  EXPECT_EQ(folder.layout, Layout::kSam3OnnxV030);
  EXPECT_EQ(folder.info.image_side, 168);
  EXPECT_EQ(folder.info.context, 32U);
  EXPECT_EQ(folder.info.max_boxes, 1U);
  EXPECT_EQ(folder.info.min_threshold, 0.5);
  EXPECT_EQ(folder.info.name, path_to_utf8(folder_.filename()));
}

TEST_F(FolderTest, EachMissingGraphIsNamed) {
  for (const auto name : {kImageEncoderFile, kLanguageEncoderFile, kDecoderFile}) {
    fs::rename(folder_ / name, folder_ / "away");
    EXPECT_TRUE(mentions(refusal(ErrorCode::kModelMissing), name));
    fs::rename(folder_ / "away", folder_ / name);
  }
}

TEST_F(FolderTest, CutGraphsAreDamaged) {
  fs::resize_file(folder_ / kDecoderFile, 2000000);
  EXPECT_TRUE(mentions(refusal(ErrorCode::kModelDamaged), kDecoderFile));
  fs::resize_file(folder_ / kDecoderFile, 0);
  EXPECT_TRUE(mentions(refusal(ErrorCode::kModelDamaged), kDecoderFile));
}

TEST_F(FolderTest, SwappedGraphsAreNamedWithWhatTheyTake) {
  fs::rename(folder_ / kImageEncoderFile, folder_ / "away");
  fs::rename(folder_ / kDecoderFile, folder_ / kImageEncoderFile);
  fs::rename(folder_ / "away", folder_ / kDecoderFile);
  const std::string message = refusal(ErrorCode::kModelUnsupported);
  EXPECT_TRUE(mentions(message, kImageEncoderFile)) << message;
  EXPECT_TRUE(mentions(message, "'box_coords' f32 [1, 1, 4]")) << message;
}

TEST_F(FolderTest, SmallTextEncodersBesideTheGraphsCanBeChosen) {
  EXPECT_EQ(open_folder(folder_).info.text_encoder, "full");
  fs::copy_file(kMiniature / kLanguageEncoderFile, folder_ / "sam3_litetext_s0_language_encoder.onnx");
  EXPECT_EQ(open_folder(folder_).info.text_encoder, "full");
  const Folder folder = open_folder(folder_, "s0");
  EXPECT_EQ(folder.info.text_encoder, "litetext-s0");
  EXPECT_EQ(folder.info.context, 32U);
  EXPECT_EQ(folder.text_encoder.graph, folder_ / "sam3_litetext_s0_language_encoder.onnx");
}

TEST_F(FolderTest, ATextEncoderMayComeFromAFolderWithoutManifest) {
  const Folder folder = open_folder(folder_, kMiniature.native());
  EXPECT_EQ(folder.info.text_encoder, "full");
  EXPECT_EQ(folder.text_encoder.graph, kMiniature / kLanguageEncoderFile);
  const fs::path other = folder_ / "other";
  const auto refused = [&] {
    try {
      (void)open_folder(folder_, other.native());
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kModelUnsupported);
      return std::string(e.what());
    }
    return std::string("was opened");
  };
  fs::create_directory(other);
  EXPECT_TRUE(mentions(refused(), "/other' holds no text encoder (sam3_language_encoder.onnx)")) << refused();
  fs::copy_file(kMiniature / kLanguageEncoderFile, other / "sam3_litetext_s1_language_encoder.onnx");
  EXPECT_EQ(open_folder(folder_, other.native()).info.text_encoder, "litetext-s1");
  fs::copy_file(kMiniature / kLanguageEncoderFile, other / "sam3_litetext_l_language_encoder.onnx");
  EXPECT_TRUE(
      mentions(refused(), "(sam3_litetext_l_language_encoder.onnx, sam3_litetext_s1_language_encoder.onnx)"))
      << refused();
  fs::copy_file(kMiniature / kLanguageEncoderFile, other / kLanguageEncoderFile);
  EXPECT_EQ(open_folder(folder_, other.native()).info.text_encoder, "full");
}

TEST_F(FolderTest, AFolderOfANewerExportSaysSo) {
  std::ofstream(folder_ / kManifestFile) << R"({"format": 2})";
  EXPECT_TRUE(mentions(refusal(ErrorCode::kModelUnsupported), "newer samlet"));
}

TEST_F(FolderTest, RecognisesSam3ByItsFileNames) {
  EXPECT_TRUE(recognises(folder_));
  EXPECT_FALSE(recognises(folder_ / "none"));
}

}  // namespace
}  // namespace samlet::sam3
