// What is written, where, and when nothing is.
#include <unistd.h>

#include <csignal>

#include <algorithm>

#include "samlet/image.h"
#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

TEST_F(CliTest, TheOverlayIsThePictureWithThingsDrawnOnIt) {
  const ProcessResult result = run({sample("shapes_04.jpg"), "--text", "red circle"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error, "");
  EXPECT_TRUE(mentions(result.output, "2 found -> shapes_04.samlet.jpg")) << result.output;
  EXPECT_TRUE(mentions(result.output, "red circle")) << result.output;
  const Image overlay = read_image(folder_.path() / "shapes_04.samlet.jpg");
  const Image picture = read_image(sample("shapes_04.jpg"));
  EXPECT_EQ(overlay.width, picture.width);
  EXPECT_EQ(overlay.height, picture.height);
  EXPECT_NE(overlay.rgb, picture.rgb);
}

TEST_F(CliTest, NothingFoundIsSaidAndIsSuccess) {
  const ProcessResult result = run({sample("shapes_01.png"), "--text", "cat"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(mentions(result.output, "0 found")) << result.output;
  EXPECT_EQ(read_image(folder_.path() / "shapes_01.samlet.png").rgb, read_image(sample("shapes_01.png")).rgb);
}

TEST_F(CliTest, AnExistingOutputIsRefusedBeforeAnythingIsLoaded) {
  write_file(folder_.path() / "shapes_01.samlet.png", "mine");
  remember_entries();
  expect_refused(run({sample("shapes_01.png"), "--text", "red circle", "--ort-library", "/nowhere"}), 1,
                 {"shapes_01.samlet.png", "--overwrite"});
  EXPECT_EQ(read_text(folder_.path() / "shapes_01.samlet.png"), "mine");
  EXPECT_EQ(run({sample("shapes_01.png"), "--text", "red circle", "--overwrite"}).exit_code, 0);
  EXPECT_NE(read_text(folder_.path() / "shapes_01.samlet.png"), "mine");
}

TEST_F(CliTest, JsonGoesToStandardOutputOneLineAPicture) {
  const ProcessResult result =
      run({sample("shapes_01.png"), sample("shapes_07.png"), "--text", "circles", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(std::count(result.output.begin(), result.output.end(), '\n'), 2);
  const Json first = Json::parse(result.output.substr(0, result.output.find('\n')));
  EXPECT_EQ(first["schema"], 1);
  EXPECT_EQ(first["image"]["path"], sample("shapes_01.png"));
  EXPECT_EQ(first["model"]["name"], "onnx-v030");
  EXPECT_EQ(first["device"], "cpu");
  EXPECT_EQ(folder_.entries(), std::vector<std::string>{});
}

TEST_F(CliTest, JsonAndAnOverlayTogether) {
  const ProcessResult result =
      run({sample("shapes_01.png"), "--text", "rings", "--json", "--out", "deep/er/"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(Json::parse(result.output)["instances"].size(), 2U);
  EXPECT_TRUE(fs::exists(folder_.path() / "deep/er/shapes_01.samlet.png"));
}

TEST_F(CliTest, TheOverlayCanGoToStandardOutput) {
  const ProcessResult result = run({sample("shapes_04.jpg"), "--text", "red circle", "--out", "-"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const std::vector<std::uint8_t> bytes(result.output.begin(), result.output.end());
  EXPECT_EQ(decode_image(bytes).width, 600);
  EXPECT_EQ(folder_.entries(), std::vector<std::string>{});
}

TEST_F(CliTest, QuietSaysNothingAndVerboseSaysMore) {
  const ProcessResult quiet = run({sample("shapes_01.png"), "--text", "rings", "-q"});
  EXPECT_EQ(quiet.exit_code, 0);
  EXPECT_EQ(quiet.output + quiet.error, "");
  const ProcessResult verbose = run({sample("shapes_01.png"), "--text", "rings", "-v", "--overwrite"});
  EXPECT_EQ(verbose.exit_code, 0);
  EXPECT_TRUE(mentions(verbose.error, "libonnxruntime")) << verbose.error;
}

TEST_F(CliTest, TheSameCallGivesTheSameBytes) {
  const std::vector<std::string> words{sample("shapes_06.png"), "--text", "orange square", "--out"};
  auto first = words;
  first.emplace_back("a.png");
  auto second = words;
  second.emplace_back("b.png");
  ASSERT_EQ(run(first).exit_code, 0);
  ASSERT_EQ(run(second).exit_code, 0);
  EXPECT_EQ(read_text(folder_.path() / "a.png"), read_text(folder_.path() / "b.png"));
}

TEST_F(CliTest, OddNamesWorkEverywhere) {
  for (const std::string name : {"a b.png", "#%@.png", "\xE5\x9B\xBE\xE7\x89\x87 \xC3\xA9.png", "-dash.png",
                                 "\xF0\x9F\x90\xB6.png", "latin1-\xE9.png"}) {
    SCOPED_TRACE(name);
    TemporaryFolder odd;
    const fs::path inside = odd.path() / ("\xE5\x9B\xBE \xC3\xA9" + name.substr(0, name.size() - 4));
    fs::create_directory(inside);
    fs::copy(miniature_model(), inside / "model");
    fs::copy_file(sample("shapes_07.png"), inside / name);
    ProcessOptions options;
    options.folder = inside;
    const ProcessResult result = samlet(
        {"run", "./model", "--image", name, "--text", "green circle", "--json", "--out", "out/"}, options);
    ASSERT_EQ(result.exit_code, 0) << result.error;
    EXPECT_EQ(Json::parse(result.output)["instances"].size(), 1U);
    EXPECT_TRUE(fs::exists(inside / "out" / (name.substr(0, name.size() - 4) + ".samlet.png")));
  }
}

TEST_F(CliTest, InterruptingLeavesNothingBehind) {
  // Work for a minute at least, and one Ctrl-C after half a second.
  std::vector<std::string> words{sample("shapes_02.jpg")};
  for (int i = 0; i < 5000; ++i) words.insert(words.end(), {"--text", "blue ring"});
  ProcessOptions options;
  options.before_exec = send_signal_after(std::chrono::milliseconds(500), SIGINT);
  expect_refused(run(words, options), 130, {"stopped"});
}

TEST_F(CliTest, HelpAndVersionNeedNoRuntime) {
  ProcessOptions options;
  options.environment["SAMLET_ORT_LIBRARY"] = "/nowhere";
  EXPECT_EQ(samlet({"--version"}, options).exit_code, 0);
  const ProcessResult help = samlet({"run", "--help"}, options);
  EXPECT_EQ(help.exit_code, 0);
  EXPECT_TRUE(mentions(help.output, "--negative-box"));
}

}  // namespace
}  // namespace samlet::test
