// Pictures that are none: refused by content, fast, with nothing written.
#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

class BadPicture : public CliTest {
 protected:
  void expect_picture_refused(const std::string& name, const std::vector<std::string>& parts,
                              std::vector<std::string> words = {}) {
    remember_entries();
    words.insert(words.begin(), {name, "--text", "red circle"});
    std::vector<std::string> all = parts;
    all.push_back(name);
    const ProcessResult result = run(words);
    expect_refused(result, 1, all);
    EXPECT_LT(result.peak_rss_kb, 300 * 1024 * (SAMLET_SANITIZED ? 8 : 1)) << "a refusal needs little memory";
  }

  [[nodiscard]] fs::path here(const std::string& name) const { return folder_.path() / name; }
};

TEST_F(BadPicture, MissingOrAFolder) {
  expect_picture_refused("none.jpg", {"does not exist"});
  fs::create_directory(here("folder.jpg"));
  expect_picture_refused("folder.jpg", {"is a folder"});
}

TEST_F(BadPicture, Unreadable) {
  // Reading at its start fails with an I/O error for everybody, root included, for whom permission bits do
  // not count.
  expect_picture_refused("/proc/self/mem", {"cannot read"});
}

TEST_F(BadPicture, EmptyOrNotAPicture) {
  write_file(here("empty.jpg"), "");
  expect_picture_refused("empty.jpg", {"empty"});
  write_file(here("page.jpg"), "<!DOCTYPE html><html><body>404</body></html>");
  expect_picture_refused("page.jpg", {"HTML"});
  write_file(here("noise.png"), std::string(1000, '\x07'));
  expect_picture_refused("noise.png", {});
}

TEST_F(BadPicture, OtherKindsAreNamed) {
  write_file(here("a.jpg"), "8BPS" + std::string(100, 'x'));
  expect_picture_refused("a.jpg", {"Photoshop", "convert"});
  write_file(here("b.png"), std::string("\0\0\0\x0CJXL \r\n\x87\n", 12) + std::string(100, 'x'));
  expect_picture_refused("b.png", {"JPEG XL", "convert"});
}

TEST_F(BadPicture, OtherKindsThatAreReadAreKnownByTheirContent) {
  write_file(here("c.jpg"), std::string("RIFF\x10\x00\x00\x00WEBPVP8 ", 16) + std::string(100, 'x'));
  expect_picture_refused("c.jpg", {"WebP", "damaged"});
  write_file(here("d.png"), "GIF89a" + std::string(100, 'x'));
  expect_picture_refused("d.png", {"GIF", "damaged"});
}

TEST_F(BadPicture, CutFiles) {
  for (const char* name : {"shapes_01.png", "shapes_02.jpg"}) {
    const std::string whole = read_text(sample(name));
    write_file(here(name), whole.substr(0, whole.size() / 2));
    expect_picture_refused(name, {});
    fs::remove(here(name));
  }
}

TEST_F(BadPicture, LostPixelsAreWarnedAbout) {
  // Pillow shows such a picture without a word; so do we, with one.
  const std::string whole = read_text(sample("shapes_02.jpg"));
  write_file(here("p.jpg"), whole.substr(0, whole.size() / 2) + "\xFF\xD9");
  const ProcessResult result = run({"p.jpg", "--text", "red circle", "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(mentions(result.error, "damaged")) << result.error;
  EXPECT_EQ(Json::parse(result.output)["warnings"].size(), 1U);
  EXPECT_EQ(
      Json::parse(run({sample("shapes_02.jpg"), "--text", "red circle", "--json"}).output)["warnings"].size(),
      0U);
}

TEST_F(BadPicture, AnEndlessStreamStopsAtALimit) {
  const ProcessResult result = run({"/dev/zero", "--text", "red circle"});
  expect_refused(result, 1, {"/dev/zero", "more than"});
  EXPECT_LT(result.peak_rss_kb, 1024 * 1024 * (SAMLET_SANITIZED ? 3 : 1));
}

TEST_F(BadPicture, MoreThanTheLimitIsRefusedWithBothNumbersAndTheFlag) {
  fs::copy_file(sample("shapes_01.png"), here("p.png"));
  expect_picture_refused("p.png", {"640", "480", "--max-pixels"}, {"--max-pixels", "300000"});
  EXPECT_EQ(run({"p.png", "--text", "red circle", "--max-pixels", "307200"}).exit_code, 0);
}

TEST_F(BadPicture, AHeaderThatClaimsGigabytesCostsNothing) {
  // A PNG header of 60000 x 60000 and nothing behind it, and a JPEG whose header was changed to 65500 x
  // 65500.
  const std::string png("\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\xEA\x60\0\0\xEA\x60\x08\x02\0\0\0", 29);
  write_file(here("bomb.png"), png + std::string(64, '\0'));
  expect_picture_refused("bomb.png", {});
  std::string jpeg = read_text(sample("shapes_02.jpg"));
  const std::size_t frame = jpeg.find(std::string("\xFF\xC0", 2));
  ASSERT_NE(frame, std::string::npos);
  jpeg.replace(frame + 5, 4, std::string("\xFF\xDC\xFF\xDC", 4));
  write_file(here("bomb.jpg"), jpeg);
  expect_picture_refused("bomb.jpg", {"65500", "--max-pixels"});
}

TEST_F(BadPicture, SomeOfManyFailAndTheOthersAreDone) {
  fs::copy_file(sample("shapes_01.png"), here("good.png"));
  write_file(here("bad.png"), "x");
  const ProcessResult result = run({"good.png", "bad.png", "none.png", "--text", "red circle"});
  EXPECT_EQ(result.exit_code, 4) << result.error;
  EXPECT_TRUE(mentions(result.error, "bad.png")) << result.error;
  EXPECT_TRUE(mentions(result.error, "none.png")) << result.error;
  EXPECT_TRUE(mentions(result.error, "2 of 3 pictures failed; the others are done")) << result.error;
  EXPECT_TRUE(mentions(result.output, "good.png")) << result.output;
  EXPECT_EQ(folder_.entries(), (std::vector<std::string>{"bad.png", "good.png", "good.samlet.png"}));
}

}  // namespace
}  // namespace samlet::test
