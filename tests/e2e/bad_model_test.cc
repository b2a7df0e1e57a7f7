// Model folders that are none, and files in them that are damaged: exit code 3 and the file's name.
#include <sys/stat.h>

#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

class BadModel : public CliTest {
 protected:
  BadModel() {
    for (const char* name : {"sam3_image_encoder.onnx", "sam3_language_encoder.onnx", "sam3_decoder.onnx"}) {
      fs::copy_file(fs::path(miniature_model()) / name, model_.path() / name);
    }
  }

  void expect_model_refused(const std::string& model, const std::vector<std::string>& parts) const {
    expect_refused(samlet({"run", model, sample("shapes_01.png"), "--text", "red circle"}), 3, parts);
  }

  TemporaryFolder model_;
};

TEST_F(BadModel, NamesAndFolders) {
  expect_model_refused("sam3", {"sam3", "store"});
  expect_model_refused("./none", {"does not exist"});
  expect_model_refused(sample("shapes_01.png"), {"is a file"});
  expect_model_refused(folder_.path().native(), {"sam3_image_encoder.onnx"});
}

TEST_F(BadModel, AMissingGraph) {
  fs::remove(model_.path() / "sam3_language_encoder.onnx");
  expect_model_refused(model_.path().native(), {"sam3_language_encoder.onnx"});
}

TEST_F(BadModel, ACutGraph) {
  fs::resize_file(model_.path() / "sam3_decoder.onnx", 100000);
  expect_model_refused(model_.path().native(), {"sam3_decoder.onnx"});
}

TEST_F(BadModel, AGraphWhoseWeightsWereOverwritten) {
  // Still a model by its declarations; only ONNX Runtime can tell that its insides are broken.
  std::string bytes = read_text(model_.path() / "sam3_decoder.onnx");
  const std::size_t at = bytes.find("LayerNormalization");
  ASSERT_NE(at, std::string::npos);
  for (std::size_t i = at; i != std::string::npos; i = bytes.find("LayerNormalization", i)) {
    bytes.replace(i, 18, "LayerNonsense_____");
  }
  write_file(model_.path() / "sam3_decoder.onnx", bytes);
  expect_model_refused(model_.path().native(), {"sam3_decoder.onnx", "ONNX Runtime: "});
}

TEST_F(BadModel, AGraphThatIsNoRegularFile) {
  const fs::path decoder = model_.path() / "sam3_decoder.onnx";
  fs::remove(decoder);
  fs::create_directory(decoder);
  expect_model_refused(model_.path().native(), {"sam3_decoder.onnx", "folder"});
  fs::remove(decoder);
  ASSERT_EQ(::mkfifo(decoder.c_str(), 0600), 0);
  expect_model_refused(model_.path().native(), {"sam3_decoder.onnx", "not a regular file"});
  fs::remove(decoder);
  fs::create_symlink("sam3_decoder.onnx", decoder);
  expect_model_refused(model_.path().native(), {"sam3_decoder.onnx"});
}

TEST_F(BadModel, GraphsThatBreakTheirWordWhenTheyRun) {
  // Stub decoders that declare the right outputs and give others: scalars, wrong counts, numbers that cannot
  // be.
  const fs::path liars = fs::path(SAMLET_SOURCE_DIR) / "tests/data/liars";
  std::size_t tried = 0;
  for (const auto& liar : fs::directory_iterator(liars)) {
    SCOPED_TRACE(liar.path().filename());
    fs::copy(stub_model(), model_.path(), fs::copy_options::overwrite_existing | fs::copy_options::recursive);
    fs::copy_file(liar.path(), model_.path() / "sam3_decoder.onnx", fs::copy_options::overwrite_existing);
    const ProcessResult result =
        samlet({"run", model_.path().native(), sample("shapes_01.png"), "--text", "x", "--json"});
    const bool not_finite =
        mentions(liar.path().native(), "nan") || mentions(liar.path().native(), "infinite");
    expect_refused(result, not_finite ? 1 : 3, {"decoder"});
    ++tried;
  }
  EXPECT_EQ(tried, 9U);
}

TEST_F(BadModel, ASamOneFolder) {
  TemporaryFolder sam1;
  fs::copy_file(fs::path(SAMLET_SOURCE_DIR) / "tests/data/foreign/sam1_encoder.onnx",
                sam1.path() / "sam_vit_b.encoder.onnx");
  expect_model_refused(sam1.path().native(),
                       {"not a SAM 3 export", "'x' f32 [1, 3, 1024, 1024]", "'image' u8 [3, S, S]"});
}

class ExternalData : public BadModel {
 protected:
  ExternalData() {
    // The stub with its language encoder's weight in a .data file beside it.
    for (const std::string& folder :
         {stub_model(), std::string(SAMLET_SOURCE_DIR "/tests/data/external-v030")}) {
      fs::copy(folder, model_.path(), fs::copy_options::overwrite_existing | fs::copy_options::recursive);
    }
  }
  [[nodiscard]] fs::path data() const { return model_.path() / "sam3_language_encoder.onnx.data"; }
};

TEST_F(ExternalData, IsFoundFromAnyWorkingFolder) {
  const ProcessResult result =
      samlet({"run", model_.path().native(), sample("shapes_01.png"), "--text", "red circle", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
}

TEST_F(ExternalData, MissingIsNamedWithItsPlace) {
  fs::remove(data());
  expect_model_refused(model_.path().native(), {"sam3_language_encoder.onnx.data", "beside"});
}

TEST_F(ExternalData, CutIsNamedWithBothSizes) {
  const auto size = fs::file_size(data());
  fs::resize_file(data(), size - 1);
  expect_model_refused(model_.path().native(),
                       {"sam3_language_encoder.onnx.data", std::to_string(size), std::to_string(size - 1)});
}

TEST_F(ExternalData, SwappedForAnotherIsNoticedByItsSize) {
  write_file(data(), "weights of something else");
  expect_model_refused(model_.path().native(), {"sam3_language_encoder.onnx.data", "25"});
}

}  // namespace
}  // namespace samlet::test
