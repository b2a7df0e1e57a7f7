// Prompts that cannot be meant: each its sentence and exit code 2, before a model is loaded.
#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

class BadPrompt : public CliTest {
 protected:
  // A model whose graphs cannot be loaded: a refusal that came after loading would be another one.
  BadPrompt() {
    const fs::path broken = model_.path();
    for (const char* name : {"sam3_image_encoder.onnx", "sam3_language_encoder.onnx", "sam3_decoder.onnx"}) {
      fs::copy_file(fs::path(miniature_model()) / name, broken / name);
    }
  }

  void expect_prompt_refused(std::vector<std::string> words, const std::vector<std::string>& parts) const {
    words.insert(words.begin(),
                 {"run", model_.path().native(), sample("shapes_01.png"), "--ort-library", "/nowhere"});
    expect_refused(samlet(words), 2, parts);
  }

  TemporaryFolder model_;
};

TEST_F(BadPrompt, TheControlCaseFailsForTheMissingRuntime) {
  expect_refused(samlet({"run", model_.path().native(), sample("shapes_01.png"), "--ort-library", "/nowhere",
                         "--text", "x"}),
                 1, {"/nowhere"});
}

TEST_F(BadPrompt, TextThatSaysNothing) {
  expect_prompt_refused({"--text", ""}, {"empty"});
  expect_prompt_refused({"--text", "  \t "}, {"empty"});
  expect_prompt_refused({"--text", "dog", "--text", ""}, {"empty"});
}

TEST_F(BadPrompt, TextThatIsNotUtf8) {
  expect_prompt_refused({"--text", "caf\xE9"}, {"UTF-8", "byte 3"});
}

TEST_F(BadPrompt, NothingAskedFor) {
  expect_prompt_refused({}, {"--text"});
}

TEST_F(BadPrompt, OnlyNegativeBoxes) {
  expect_prompt_refused({"--negative-box", "1,2,30,40"}, {"only negative"});
}

TEST_F(BadPrompt, BoxesThatAreNone) {
  expect_prompt_refused({"--box", "nan,0,10,10"}, {"not a number"});
  expect_prompt_refused({"--box", "0,0,inf,10"}, {"not a number"});
  expect_prompt_refused({"--box", "5,5,5,20"}, {"no area"});
  expect_prompt_refused({"--box", "640,10,700,20"}, {"outside", "640x480"});
  expect_prompt_refused({"--box", "-20,-20,-1,-1"}, {"outside", "-20,-20,-1,-1"});
  expect_prompt_refused({"--box", "1,2,3"}, {"four numbers"});
  expect_prompt_refused({"--box", "1e999,2,3,4"}, {"four numbers"});
}

TEST_F(BadPrompt, PixelsGivenAsFractions) {
  expect_prompt_refused({"--normalized", "--box", "10,20,200,300"}, {"--normalized"});
}

TEST_F(BadPrompt, ThresholdsOutsideOfTheirRange) {
  expect_prompt_refused({"--text", "dog", "--threshold", "1.5"}, {"between 0 and 1"});
  expect_prompt_refused({"--text", "dog", "--threshold", "nan"}, {"between 0 and 1"});
}

TEST_F(BadPrompt, AThresholdThatTheGraphCannotServeIsAModelError) {
  expect_refused(samlet({"run", model_.path().native(), sample("shapes_01.png"), "--ort-library", "/nowhere",
                         "--text", "dog", "--threshold", "0.3"}),
                 3, {"0.3", "use 0.5 or more"});
}

TEST_F(BadPrompt, UnknownDevicesAndOptions) {
  expect_prompt_refused({"--text", "dog", "--device", "gpu"}, {"gpu", "cuda"});
  expect_prompt_refused({"--text", "dog", "--colour", "red"}, {"--colour", "--help"});
}

TEST_F(CliTest, BoxesOverTheBorderAndFractionsDrawAWarning) {
  const ProcessResult over = run({sample("shapes_01.png"), "--json", "--box", "-50,100,200,300"});
  EXPECT_EQ(over.exit_code, 0) << over.error;
  EXPECT_TRUE(mentions(over.error, "samlet: warning: ")) << over.error;
  EXPECT_TRUE(mentions(over.error, "over the border")) << over.error;
  EXPECT_EQ(Json::parse(over.output)["warnings"].size(), 1U);
  const ProcessResult fraction = run({sample("shapes_01.png"), "--json", "--box", "0.1,0.1,0.5,0.5"});
  EXPECT_EQ(fraction.exit_code, 0) << fraction.error;
  EXPECT_TRUE(mentions(fraction.error, "--normalized")) << fraction.error;
}

TEST_F(CliTest, APhraseLongerThanTheModelTakesIsCutWithOneWarning) {
  std::string phrase;
  for (int i = 0; i < 1000; ++i) phrase += "red circle ";
  const ProcessResult result = run({sample("shapes_01.png"), "--json", "--text", phrase});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(Json::parse(result.output)["warnings"].size(), 1U);
}

TEST_F(CliTest, PhrasesOfOtherLanguagesAreEchoedUnchanged) {
  // It finds nothing, but a finding would carry the phrase; use exact phrase with a known one beside it.
  const ProcessResult result =
      run({sample("shapes_01.png"), "--json", "--text", "\xE7\xBA\xA2\xE5\x9C\x86", "--text", "red circle"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const Json json = Json::parse(result.output);
  ASSERT_EQ(json["instances"].size(), 2U);
  EXPECT_EQ(json["instances"][0]["prompt_index"], 1);
}

}  // namespace
}  // namespace samlet::test
