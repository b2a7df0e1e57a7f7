// The memory promise: a 108 MP picture with 200 masks stays within model + 1 GB.
#include "samlet/image.h"
#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

constexpr long kGigabyteInKb = 1L << 20;

/// A picture of one colour with some texture, so that its file is neither tiny nor huge.
void write_picture(const fs::path& path, int width, int height) {
  Image image{width, height,
              std::vector<std::uint8_t>(std::size_t{3} * static_cast<std::size_t>(width) *
                                        static_cast<std::size_t>(height))};
  for (std::size_t i = 0; i < image.rgb.size(); ++i)
    image.rgb[i] = static_cast<std::uint8_t>((i >> 14) & 0xFF);
  const auto bytes = encode_image(image, ImageFormat::kJpeg);
  write_file(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

TEST_F(CliTest, AHugePictureWithTwoHundredMasksStaysWithinTheModelPlusAGigabyte) {
  write_picture(folder_.path() / "small.jpg", 32, 32);
  write_picture(folder_.path() / "huge.jpg", 12000, 9000);
  const auto measure = [&](const char* picture) {
    const ProcessResult result = samlet({"run", stub_model(), picture, "--text", "disc"});
    EXPECT_EQ(result.exit_code, 0) << result.error;
    EXPECT_TRUE(mentions(result.output, "200 found")) << result.output.substr(0, 200);
    return result.peak_rss_kb;
  };
  const long model = measure("small.jpg");
  const long huge = measure("huge.jpg");
  EXPECT_LT(huge - model, kGigabyteInKb) << "model " << model << " kB, huge " << huge << " kB";
  const Image overlay = read_image(folder_.path() / "huge.samlet.jpg");
  EXPECT_EQ(overlay.width, 12000);
}

}  // namespace
}  // namespace samlet::test
