#include "libs/image/png_writer.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "samlet/error.h"
#include "samlet/image.h"

namespace samlet {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Bit depth and colour type, as the header chunk says them.
Bytes depth_and_type(const Bytes& png) {
  return {png.at(24), png.at(25)};
}

TEST(WritePng, GreyOfEightBitsComesBack) {
  const Bytes samples{0, 255, 7, 100, 1, 2};
  const Bytes png = write_png(PngPixels::kGrey8, 3, 2, samples);
  EXPECT_EQ(depth_and_type(png), (Bytes{8, 0}));
  const Image image = decode_image(png);
  ASSERT_EQ(image.width, 3);
  ASSERT_EQ(image.height, 2);
  for (std::size_t i = 0; i < samples.size(); ++i) EXPECT_EQ(image.rgb[3 * i], samples[i]);
}

TEST(WritePng, GreyOfSixteenBitsHasTheHighByteFirst) {
  const Bytes png = write_png(PngPixels::kGrey16, 2, 1, Bytes{0x80, 0x00, 0x00, 0xFF});
  EXPECT_EQ(depth_and_type(png), (Bytes{16, 0}));
  const Image image = decode_image(png);
  EXPECT_EQ(image.rgb, (Bytes{128, 128, 128, 1, 1, 1})) << "0x8000 / 257 = 127.5, 0x00FF / 257 = 0.99";
}

TEST(WritePng, ColoursWithAlphaAreNotMultiplied) {
  const Bytes png = write_png(PngPixels::kRgba8, 1, 2, Bytes{10, 20, 30, 0, 40, 50, 60, 255});
  EXPECT_EQ(depth_and_type(png), (Bytes{8, 6}));
  EXPECT_EQ(decode_image(png).rgb, (Bytes{10, 20, 30, 40, 50, 60}));
}

TEST(WritePng, RgbIsWhatEncodeImageWrites) {
  const Image image{2, 1, {1, 2, 3, 4, 5, 6}};
  EXPECT_EQ(write_png(PngPixels::kRgb8, 2, 1, image.rgb), encode_image(image, ImageFormat::kPng));
}

TEST(WritePng, RefusesSamplesThatDoNotFillTheSize) {
  EXPECT_THROW((void)write_png(PngPixels::kGrey8, 2, 2, Bytes(3)), Error);
  EXPECT_THROW((void)write_png(PngPixels::kGrey8, 2, 2, Bytes(6)), Error);
  EXPECT_THROW((void)write_png(PngPixels::kGrey8, 0, 2, Bytes{}), Error);
  EXPECT_THROW((void)write_png(PngPixels::kGrey8, 2, -1, Bytes{}), Error);
}

}  // namespace
}  // namespace samlet
