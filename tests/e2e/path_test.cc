// Names that trip programs up: whatever a file system takes as a name, samlet reads and writes.
#include <chrono>

#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

class Path : public CliTest {
 protected:
  /// Copies a sample to this name, runs the stub model on it, and expects the overlay beside.
  void expect_read(const std::string& name) {
    SCOPED_TRACE(name);
    TemporaryFolder place;
    fs::copy_file(sample("shapes_01.png"), place.path() / name);
    ProcessOptions options;
    options.folder = place.path();
    const ProcessResult result = samlet({"run", stub_model(), "--text", "red circle", "--", name}, options);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_TRUE(fs::exists(place.path() / (fs::path(name).stem().native() + ".samlet.png")));
  }

  ProcessResult run_with_input(std::vector<std::string> words, std::string input) const {
    ProcessOptions options;
    options.input = std::move(input);
    return run(std::move(words), options);
  }
};

TEST_F(Path, OddNamesAreNames) {
  for (const char* name : {"two words.png",
                           "a#b.png",
                           "100%.png",
                           "%20.png",
                           "@list.png",
                           "a@b.png",
                           "-dash.png",
                           "--text.png",
                           "[a,b].png",
                           "{x}.png",
                           "\xF0\x9F\x90\xB6.png",
                           "\xE5\x9B\xBE\xE7\x89\x87 \xC3\xA9.png",
                           "q'uote\".png",
                           "$HOME.png",
                           "~.png",
                           "a;b&c.png",
                           "back\\slash.png",
                           "*.png",
                           "line\nbreak.png",
                           ".hidden.png",
                           "...png"}) {
    expect_read(name);
  }
}

TEST_F(Path, NamesOfTwoHundredCharacters) {
  expect_read(std::string(200, 'n') + ".png");
  std::string of_three_bytes;
  for (int i = 0; i < 79; ++i) of_three_bytes += "\xE5\x9B\xBE";
  expect_read(of_three_bytes + ".png");  // 241 bytes; the overlay has 248 of the 255 that there are
}

TEST_F(Path, ANameWithoutRoomForItsOverlayIsRefusedBeforeAnythingIsLoaded) {
  const std::string name = std::string(250, 'n') + ".png";
  fs::copy_file(sample("shapes_01.png"), folder_.path() / name);
  remember_entries();
  expect_refused(run({name, "--text", "red circle", "--ort-library", "/nowhere"}), 1, {"too long", "--out"});
  EXPECT_EQ(run({name, "--text", "red circle", "--out", "short.png"}).exit_code, 0);
}

TEST_F(Path, ATextIsNeverTakenForAFile) {
  std::string text;
  while (text.size() < 5000) text += "red circle ";
  const ProcessResult result = run({sample("shapes_01.png"), "--json", "--text", text});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_FALSE(mentions(result.error, "too long to be a file")) << result.error;
  // A file of that name changes nothing.
  write_file(folder_.path() / "red circle", "not read");
  EXPECT_TRUE(mentions(run({sample("shapes_01.png"), "--text", "red circle"}).output, "2 found"));
}

TEST_F(Path, LongWordsAsPicturesAreRefusedInASentence) {
  expect_refused(run({std::string(5000, 'p'), "--text", "red circle"}), 1, {"too long"});
}

TEST_F(Path, ADashIsStandardInput) {
  const ProcessResult result =
      run_with_input({"-", "--text", "red circle"}, read_text(sample("shapes_01.png")));
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(mentions(result.output, "standard input (640x480): 2 found")) << result.output;
  EXPECT_EQ(folder_.entries(), std::vector<std::string>{"stdin.samlet.png"});
  const ProcessResult json =
      run_with_input({"--image", "-", "--json", "--text", "red circle"}, read_text(sample("shapes_01.png")));
  EXPECT_EQ(Json::parse(json.output)["image"]["path"], "-");
}

TEST_F(Path, AFileNamedDashIsReadWithItsFolder) {
  fs::copy_file(sample("shapes_01.png"), folder_.path() / "-");
  const ProcessResult result = run({"./-", "--json", "--text", "red circle"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(Json::parse(result.output)["image"]["path"], "./-");
}

TEST_F(Path, StandardInputThatIsNoPicture) {
  expect_refused(run_with_input({"-", "--text", "x"}, ""), 1, {"standard input", "empty"});
  expect_refused(run_with_input({"-", "--text", "x"}, "hello"), 1, {"standard input", "not a picture"});
  expect_refused(run_with_input({"-", "-", "--text", "x"}, ""), 2, {"standard input", "twice"});
}

TEST_F(Path, ALinkThatLeadsNowhereOrRoundIsRefused) {
  fs::create_symlink("nowhere.png", folder_.path() / "broken.png");
  fs::create_symlink("loop.png", folder_.path() / "loop.png");
  remember_entries();
  expect_refused(run({"broken.png", "--text", "x"}), 1, {"broken.png", "does not exist"});
  expect_refused(run({"loop.png", "--text", "x"}), 1, {"loop.png"});
}

}  // namespace
}  // namespace samlet::test
