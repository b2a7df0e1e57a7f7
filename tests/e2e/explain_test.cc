// samlet check --image: how a picture was read.
#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

class Explain : public CliTest {
 protected:
  [[nodiscard]] static std::string decoded(const std::string& name) {
    return (fs::path(SAMLET_SOURCE_DIR) / "libs/image/testdata/decode" / name).native();
  }
};

TEST_F(Explain, SaysTypeSizeBitsColoursAndOrientation) {
  const ProcessResult result = samlet({"check", "--image", decoded("exif_jpeg_6.jpg")});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  for (const char* part : {"JPEG", "YCbCr, 8 bits", "turned clockwise by 90 degrees (orientation 6 by EXIF)",
                           "1 in the file", "values"}) {
    EXPECT_TRUE(mentions(result.output, part)) << part << " in: " << result.output;
  }
  EXPECT_TRUE(mentions(samlet({"check", "--image", sample("shapes_01.png")}).output, "640x480, as stored"));
}

TEST_F(Explain, SaysHowSixteenBitsWereReduced) {
  const ProcessResult result = samlet({"check", "--image", decoded("png_grey16_every_value.png"), "--json"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  const Json json = Json::parse(result.output);
  EXPECT_EQ(json["stored"]["bits"], 16);
  EXPECT_EQ(json["stored"]["colours"], "grey");
  EXPECT_TRUE(mentions(json["rule"].get<std::string>(), "v / 257")) << json;
  EXPECT_EQ(json["values"], Json::array({0, 255}));
}

TEST_F(Explain, RefusesWhatRunWouldRefuse) {
  write_file(folder_.path() / "page.jpg", "<!DOCTYPE html><html></html>");
  remember_entries();
  expect_refused(samlet({"check", "--image", "page.jpg"}), 1, {"page.jpg", "HTML"});
  expect_refused(samlet({"check", "--image", sample("shapes_01.png"), "--max-pixels", "1000"}), 1,
                 {"640x480", "--max-pixels"});
  expect_refused(samlet({"check", "--image", "none.png"}), 1, {"none.png", "does not exist"});
}

TEST_F(Explain, GoesOnAfterABadPicture) {
  const ProcessResult result =
      samlet({"check", "--image", "none.png", "--image", sample("shapes_01.png"), "--json"});
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_TRUE(mentions(result.error, "1 of 2 pictures cannot be read")) << result.error;
  EXPECT_EQ(Json::parse(result.output)["stored"]["type"], "PNG");
}

TEST_F(Explain, ReadsStandardInput) {
  ProcessOptions options;
  options.input = read_text(sample("shapes_02.jpg"));
  const ProcessResult result = samlet({"check", "--image", "-"}, options);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(mentions(result.output, "standard input: JPEG, 1600x1000")) << result.output;
}

TEST_F(Explain, TakesNoModelAndAModelTakesNoSilence) {
  expect_refused(samlet({"check", miniature_model(), "--image", sample("shapes_01.png")}), 2, {"--images"});
  expect_refused(samlet({"check"}), 2, {"no model was named", "--image"});
}

}  // namespace
}  // namespace samlet::test
