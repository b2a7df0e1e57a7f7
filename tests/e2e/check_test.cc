// samlet check from outside: what it prints, its JSON, and its exit status.
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

std::string data(const std::string& name) {
  return (fs::path(SAMLET_SOURCE_DIR) / "tests/data" / name).native();
}

class CheckCommand : public CliTest {
 protected:
  CheckCommand() { fs::copy(data("stub-v1"), model_.path(), fs::copy_options::recursive); }

  [[nodiscard]] ProcessResult check(std::vector<std::string> words) const {
    words.insert(words.begin(), {"check", model_.path().native()});
    return samlet(std::move(words));
  }

  /// Exit status 3, and a line "FAILED ..." with all parts.
  void expect_failed(const ProcessResult& result, const std::vector<std::string>& parts) const {
    EXPECT_EQ(result.exit_code, 3) << result.error;
    EXPECT_TRUE(mentions(result.error, "checks of '" + model_.path().native() + "' failed")) << result.error;
    const std::size_t at = result.output.find("FAILED");
    ASSERT_NE(at, std::string::npos) << result.output;
    for (const std::string& part : parts)
      EXPECT_TRUE(mentions(result.output.substr(at), part)) << part << " in: " << result.output;
    EXPECT_EQ(folder_.entries(), before_);
  }

  TemporaryFolder model_;
};

TEST_F(CheckCommand, ASoundFolderPassesLineByLine) {
  const ProcessResult result = check({});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(result.output.starts_with("ok      files      sam3_decoder.onnx: ")) << result.output;
  EXPECT_TRUE(mentions(result.output, "ok      self-test  sam3_point_decoder.onnx: ")) << result.output;
  EXPECT_TRUE(result.output.ends_with("all 16 checks passed\n")) << result.output;
  EXPECT_EQ(folder_.entries(), before_) << "nothing was to be written";
}

TEST_F(CheckCommand, JsonIsOneDocument) {
  const ProcessResult result = check({"--json", "--device", "cpu"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  const Json json = Json::parse(result.output);
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["folder"], model_.path().native());
  EXPECT_EQ(json["passed"], true);
  EXPECT_EQ(json["checks"].size(), 17U + 19U);
  const Json& last = json["checks"].back();
  EXPECT_EQ(last["part"], "device");
  EXPECT_EQ(last["subject"], "sam3_point_decoder.onnx object_score");
  EXPECT_EQ(last["numbers"]["difference"], 0.0);
}

TEST_F(CheckCommand, DamageIsNamedAndEndsWithStatus3) {
  std::string bytes = read_text(model_.path() / "sam3_image_encoder.onnx.data");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  write_file(model_.path() / "sam3_image_encoder.onnx.data", bytes);
  expect_failed(check({}), {"sam3_image_encoder.onnx.data", "was changed"});
  const ProcessResult json = check({"--json"});
  EXPECT_EQ(json.exit_code, 3);
  EXPECT_EQ(Json::parse(json.output)["passed"], false);
  const ProcessResult quiet = check({"-q"});
  EXPECT_TRUE(quiet.output.starts_with("FAILED")) << quiet.output;

  fs::resize_file(model_.path() / "sam3_image_encoder.onnx.data", 10);
  expect_failed(check({}), {"sam3_image_encoder.onnx.data", "10 bytes instead of 18880", "cut"});
  fs::remove(model_.path() / "sam3_image_encoder.onnx.data");
  expect_failed(check({}), {"sam3_image_encoder.onnx.data", "is missing"});
}

TEST_F(CheckCommand, TwoFoldersAreComparedOnPictures) {
  const ProcessResult same =
      check({"--against", data("stub-v1-static"), "--images", (miniature() / "samples").native(), "--text",
             "red circle", "--text", "dog"});
  EXPECT_EQ(same.exit_code, 0) << same.error << same.output;
  EXPECT_TRUE(mentions(same.output, "note    against    bounds: ")) << same.output;
  EXPECT_TRUE(mentions(same.output, "shapes_08.png: ")) << same.output;
  EXPECT_TRUE(same.output.ends_with("all 24 checks passed\n")) << same.output;

  // Another model: the miniature finds circles where they are.
  const ProcessResult other =
      check({"--against", miniature_model(), "--images", sample("shapes_01.png"), "--text", "red circle"});
  expect_failed(other, {"shapes_01.png, red circle", "without a counterpart"});
  EXPECT_TRUE(mentions(other.error, "1 of 17 checks of ")) << "the phrase is the picture's: " << other.error;
  EXPECT_TRUE(mentions(other.error, "the folder itself is sound")) << other.error;
  EXPECT_FALSE(mentions(other.error, "again")) << other.error;
}

TEST_F(CheckCommand, AFolderOfAnotherLayoutIsComparedToo) {
  const ProcessResult result = samlet({"check", miniature_model(), "--against", miniature_model(), "--images",
                                       sample("shapes_01.png"), "--text", "red circle"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(mentions(result.output, "threshold 0.5")) << result.output;
  EXPECT_TRUE(mentions(result.output, "2 found by both")) << result.output;
}

TEST_F(CheckCommand, NothingFoundIsNoProof) {
  const ProcessResult result = samlet({"check", miniature_model(), "--against", miniature_model(), "--images",
                                       sample("shapes_01.png"), "--text", "elephant"});
  EXPECT_EQ(result.exit_code, 3) << result.output;
  EXPECT_TRUE(mentions(result.output, "nothing was compared")) << result.output;
}

TEST_F(CheckCommand, WhatCannotBeMeantIsRefused) {
  expect_refused(check({"--against", data("stub-v1")}), 2, {"--images"});
  expect_refused(check({"--images", sample("shapes_01.png")}), 2, {"--against"});
  expect_refused(check({"--device", "gpu"}), 2, {"gpu", "cuda"});
  expect_refused(check({"--against", data("stub-v1"), "--images", "none.png"}), 1, {"none.png"});
  expect_refused(check({"--against", data("stub-v1"), "--images", model_.path().native()}), 1,
                 {"there is no picture in"});
  // Before anything is checked: nothing is on standard output.
  const std::vector<std::string> pictures{"--images", sample("shapes_01.png"), "--against"};
  const auto against = [&](const std::string& other, std::vector<std::string> more = {}) {
    more.insert(more.begin(), pictures.begin(), pictures.end());
    more.insert(more.begin() + 3, other);
    return check(more);
  };
  expect_refused(against("./none"), 3, {"./none", "--against"});
  expect_refused(against(folder_.path().native()), 3, {"--against", "no SAM 3 graphs"});
  expect_refused(against(data("stub-v1"), {"--text", ""}), 2, {"--text is empty"});
  expect_refused(against(data("stub-v1"), {"--text", "dog", "--text", " "}), 2, {"--text is empty"});
  expect_refused(samlet({"check"}), 2, {"model"});
  expect_refused(samlet({"check", "./none"}), 3, {"does not exist"});
  expect_refused(samlet({"check", folder_.path().native()}), 3, {"sam3_image_encoder.onnx"});
  write_file(model_.path() / "model.json", "{");
  expect_refused(check({}), 3, {"model.json", "not JSON"});
}

TEST_F(CheckCommand, AFolderThatMayNotBeReadIsNotCalledEmpty) {
  // Root, as whom tests may run, is bound by permissions only without these rights. Others have none.
  ProcessOptions bound;
  bound.before_exec = [] {
    (void)::prctl(PR_CAPBSET_DROP, CAP_DAC_OVERRIDE);
    (void)::prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH);
  };
  fs::permissions(model_.path(), fs::perms::none);
  const ProcessResult result = samlet({"check", model_.path().native()}, bound);
  fs::permissions(model_.path(), fs::perms::owner_all);
  expect_refused(result, 1, {model_.path().native(), "Permission denied"});
}

TEST_F(CheckCommand, APipeInPlaceOfTheManifestIsNotWaitedFor) {
  fs::remove(model_.path() / "model.json");
  ASSERT_EQ(::mkfifo((model_.path() / "model.json").c_str(), 0600), 0);
  expect_refused(check({}), 3, {"model.json", "not a regular file"});
  expect_refused(samlet({"run", model_.path().native(), sample("shapes_01.png"), "--text", "dog"}), 3,
                 {"model.json", "not a regular file"});
}

TEST_F(CheckCommand, ADeviceThatIsNotThereIsTheMachinesFault) {
  const ProcessResult result = check({"--device", "tensorrt"});
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_TRUE(mentions(result.error, "tensorrt")) << result.error;
  EXPECT_TRUE(mentions(result.output, "ok      self-test")) << "the rest was checked: " << result.output;
}

TEST_F(CheckCommand, WithoutHashesTheLastLineSaysThatContentsWereNotChecked) {
  const ProcessResult result = samlet({"check", miniature_model()});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(mentions(result.output, "checks passed; contents were not checked")) << result.output;
}

}  // namespace
}  // namespace samlet::test
