#include "models/registry.h"

#include <unistd.h>

#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet {
namespace {

namespace fs = std::filesystem;

class Registry : public testing::Test {
 protected:
  Registry() {
    std::string pattern = (fs::temp_directory_path() / "samlet-registry-XXXXXX").native();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Registry() override { fs::remove_all(folder_); }

  static std::string refusal(const fs::path& folder, ErrorCode code, const ModelOptions& options = {}) {
    try {
      (void)open_concept_segmenter(folder, options);
    } catch (const Error& e) {
      EXPECT_EQ(error_traits(e.code()).name, error_traits(code).name) << e.what();
      return e.what();
    }
    ADD_FAILURE() << "was opened";
    return "";
  }

  fs::path folder_;
};

TEST(Families, HaveUniqueNames) {
  std::set<std::string_view> names;
  for (const Family& family : families()) EXPECT_TRUE(names.insert(family.name).second);
  EXPECT_EQ(names.count("sam3"), 1U);
}

TEST_F(Registry, OpensTheMiniature) {
  const auto model = open_concept_segmenter(fs::path(SAMLET_SOURCE_DIR) / "examples/miniature/onnx-v030", {});
  EXPECT_EQ(model->info().family, "sam3");
}

TEST_F(Registry, SaysWhatIsNotAModelFolder) {
  EXPECT_NE(refusal(folder_ / "none", ErrorCode::kModelMissing).find("does not exist"), std::string::npos);
  EXPECT_NE(refusal(folder_, ErrorCode::kModelMissing).find("sam3_image_encoder.onnx"), std::string::npos);
  std::ofstream(folder_ / "file") << "x";
  EXPECT_NE(refusal(folder_ / "file", ErrorCode::kModelMissing).find("is a file"), std::string::npos);
}

TEST_F(Registry, ASamOneFolderIsToldByWhatItTakes) {
  fs::copy_file(fs::path(SAMLET_SOURCE_DIR) / "examples/miniature/onnx-v030/sam3_decoder.onnx",
                folder_ / "sam_vit_b_01ec64.decoder.onnx");
  const std::string message = refusal(folder_, ErrorCode::kModelUnsupported);
  EXPECT_NE(message.find("not a SAM 3 export"), std::string::npos) << message;
  EXPECT_NE(message.find("'box_coords' f32 [1, 1, 4]"), std::string::npos) << message;
  EXPECT_NE(message.find("'image' u8 [3, S, S]"), std::string::npos) << message;
}

TEST_F(Registry, UnknownDevicesAreRefusedAtOnce) {
  ModelOptions options;
  options.device = "gpu";
  EXPECT_NE(refusal(folder_, ErrorCode::kUsage, options).find("cuda"), std::string::npos);
}

}  // namespace
}  // namespace samlet
