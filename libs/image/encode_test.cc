#include <cmath>

#include <gtest/gtest.h>

#include "libs/image/test_support.h"
#include "samlet/image.h"

namespace samlet {
namespace {

Image gradient(int width, int height) {
  Image image{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      image.rgb.push_back(static_cast<std::uint8_t>(x * 255 / width));
      image.rgb.push_back(static_cast<std::uint8_t>(y * 255 / height));
      image.rgb.push_back(static_cast<std::uint8_t>((x + y) & 255));
    }
  }
  return image;
}

TEST(EncodeImage, PngKeepsEveryPixel) {
  for (const auto& [width, height] :
       {std::pair(1, 1), std::pair(1, 70), std::pair(70, 1), std::pair(123, 77)}) {
    const Image image = gradient(width, height);
    const Image back = decode_image(encode_image(image, ImageFormat::kPng));
    EXPECT_EQ(back.width, width);
    EXPECT_EQ(back.height, height);
    EXPECT_EQ(back.rgb, image.rgb);
  }
}

TEST(EncodeImage, JpegIsCloseAndSubsampled) {
  const Image image = gradient(200, 150);
  const auto bytes = encode_image(image, ImageFormat::kJpeg);
  const Image back = decode_image(bytes);
  ASSERT_EQ(back.rgb.size(), image.rgb.size());
  double squares = 0;
  for (std::size_t i = 0; i < image.rgb.size(); ++i) {
    const double difference = static_cast<double>(back.rgb[i]) - image.rgb[i];
    squares += difference * difference;
  }
  // The blue channel wraps, a hard edge; quality 90 gives 37 dB here, quality 50 gives 32 dB.
  EXPECT_GT(10 * std::log10(255.0 * 255.0 * static_cast<double>(image.rgb.size()) / squares), 34.0);
  // SOF0: length 17, 8 bits, height 150, width 200, 3 components, the first with factors 2x2.
  const std::string text(bytes.begin(), bytes.end());
  const std::string frame("\xFF\xC0\0\x11\x08\0\x96\0\xC8\3\1\x22", 12);
  EXPECT_NE(text.find(frame), std::string::npos);
}

// The same bytes as Pillow 13.0.0 with quality=90 would be chance; the tables are a fact of quality 90.
TEST(EncodeImage, JpegQualityIs90) {
  const auto bytes = encode_image(gradient(8, 8), ImageFormat::kJpeg);
  const std::string text(bytes.begin(), bytes.end());
  // The first entries of the luminance table of T.81 annex K (16, 11, 12, 14 in zigzag order) times 0.2.
  const std::string table("\xFF\xDB\0\x43\0\3\2\2\3", 9);
  EXPECT_NE(text.find(table), std::string::npos);
}

TEST(EncodeImage, RefusesWhatCannotBe) {
  const auto code = [](const Image& image, ImageFormat format) {
    return test::error_of([&] { (void)encode_image(image, format); }).code();
  };
  const Image wide{65501, 1, std::vector<std::uint8_t>(std::size_t{3} * 65501)};
  EXPECT_EQ(code(wide, ImageFormat::kJpeg), ErrorCode::kImageTooLarge);
  EXPECT_EQ(decode_image(encode_image(wide, ImageFormat::kPng)).width, 65501);
  EXPECT_EQ(code(Image{}, ImageFormat::kPng), ErrorCode::kInternal);
  EXPECT_EQ(code(Image{2, 2, {1, 2, 3}}, ImageFormat::kJpeg), ErrorCode::kInternal);
  EXPECT_EQ(code(Image{1, 1, {1, 2, 3, 4}}, ImageFormat::kJpeg), ErrorCode::kInternal);
}

TEST(EncodeImage, LongestJpegSideIsWritten) {
  const Image wide{65500, 1, std::vector<std::uint8_t>(std::size_t{3} * 65500)};
  EXPECT_EQ(decode_image(encode_image(wide, ImageFormat::kJpeg)).width, 65500);
}

TEST(EncodeImage, PngSidesAboveAMillionGoBothWays) {
  const Image wide{1000001, 1, std::vector<std::uint8_t>(std::size_t{3} * 1000001, 7)};
  EXPECT_EQ(decode_image(encode_image(wide, ImageFormat::kPng)).rgb, wide.rgb);
}

}  // namespace
}  // namespace samlet
