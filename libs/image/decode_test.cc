// Decoding against recorded results of Pillow (tools/image/make_testdata.py).
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "libs/base/file.h"
#include "libs/image/test_support.h"
#include "samlet/image.h"

namespace samlet {
namespace {

namespace fs = std::filesystem;

/// The most by which a sample differs.
int largest_difference(const Image& a, const Image& b) {
  int largest = 0;
  for (std::size_t i = 0; i < std::min(a.rgb.size(), b.rgb.size()); ++i)
    largest = std::max(largest, std::abs(int{a.rgb[i]} - int{b.rgb[i]}));
  return largest;
}

/// Decodes every recorded picture whose name starts with `prefix`; returns their number.
int check_recorded(const std::string& prefix, int tolerance = 0) {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(test::testdata() / "decode")) {
    const fs::path& path = entry.path();
    if (path.extension() == ".ppm" || !path.filename().string().starts_with(prefix)) continue;
    SCOPED_TRACE(path.filename().string());
    ++count;
    fs::path recorded = path;
    const Image expected = test::read_ppm(recorded.replace_extension(".ppm"));
    Image image;
    EXPECT_NO_THROW(image = decode_image(test::read_bytes(path)));
    EXPECT_EQ(image.width, expected.width);
    EXPECT_EQ(image.height, expected.height);
    EXPECT_EQ(image.rgb.size(), expected.rgb.size());
    const auto difference =
        std::mismatch(image.rgb.begin(), image.rgb.end(), expected.rgb.begin(), expected.rgb.end());
    EXPECT_LE(largest_difference(image, expected), tolerance)
        << "first difference at byte " << difference.first - image.rgb.begin();
  }
  return count;
}

// The counts are exact, so that a lost file is seen.
TEST(DecodeImage, JpegEqualsPillow) {
  EXPECT_EQ(check_recorded("jpeg_"), 34);
}
TEST(DecodeImage, PngEqualsPillow) {
  EXPECT_EQ(check_recorded("png_"), 57);
}
TEST(DecodeImage, OrientationsEqualPillow) {
  EXPECT_EQ(check_recorded("exif_"), 79);
}

TEST(DecodeImage, BmpEqualsPillow) {
  EXPECT_EQ(check_recorded("bmp_"), 116);
}

TEST(DecodeImage, PnmEqualsPillow) {
  EXPECT_EQ(check_recorded("pnm_"), 40);
}

TEST(DecodeImage, TiffEqualsPillow) {
  EXPECT_EQ(check_recorded("tiff_"), 62);
}

TEST(DecodeImage, WebpEqualsPillow) {
  EXPECT_EQ(check_recorded("webp_"), 75);
}

TEST(DecodeImage, GifEqualsPillow) {
  EXPECT_EQ(check_recorded("gif_"), 71);
}

// libheif's conversion from YCbCr changes by a rounding between its versions; Pillow's AVIF plugin has
// another one, which also blends the chroma between the pixels. tools/pictures/heif.py has the tolerances in
// detail.
TEST(DecodeImage, HeicEqualsPillowHeif) {
  EXPECT_EQ(check_recorded("heic_lossless"), 6);
  EXPECT_EQ(check_recorded("heic_", 1), 44);
}
TEST(DecodeImage, AvifIsCloseToPillow) {
  EXPECT_EQ(check_recorded("avif_444", 1), 6);
  EXPECT_EQ(check_recorded("avif_", 4), 37);
}

TEST(DecodeImage, SixteenBitsAreRoundedForEveryValue) {
  const Image image = decode_image(test::sample("png_grey16_every_value.png"));
  ASSERT_EQ(image.rgb.size(), 3U * 65536U);
  for (std::uint32_t v = 0; v < 65536; ++v) {
    ASSERT_EQ(image.rgb[std::size_t{3} * v + 1], (v * 255 + 32767) / 65535) << v;
  }
}

TEST(DecodeImage, LimitIsInclusive) {
  DecodeOptions options;
  options.max_pixels = 1073;  // 37 x 29
  EXPECT_EQ(decode_image(test::sample("png_rgb8.png"), options).width, 37);
  EXPECT_EQ(decode_image(test::sample("jpeg_420.jpg"), options).width, 37);
}

TEST(ReadImage, ReadsByContentAndNotByName) {
  const fs::path path = fs::path(testing::TempDir()) / "samlet_really_png.jpg";
  write_file_atomic(path, test::sample("png_rgb8.png"), Overwrite::kReplace);
  EXPECT_EQ(read_image(path).rgb, decode_image(test::sample("png_rgb8.png")).rgb);
  fs::remove(path);
}

TEST(ReadImage, ErrorsCarryThePath) {
  const fs::path folder = testing::TempDir();
  const fs::path path = folder / "samlet_not_a_picture.jpg";
  write_file_atomic(path, std::vector<std::uint8_t>{'h', 'i'}, Overwrite::kReplace);
  const Error damaged = test::error_of([&] { (void)read_image(path); });
  EXPECT_EQ(damaged.code(), ErrorCode::kImageUnreadable);
  EXPECT_TRUE(test::contains(damaged, path.string() + ": not a picture"));
  fs::remove(path);
  const Error missing = test::error_of([&] { (void)read_image(path); });
  EXPECT_EQ(missing.code(), ErrorCode::kNotFound);
  EXPECT_TRUE(test::contains(missing, path.string()));
  const Error is_folder = test::error_of([&] { (void)read_image(folder); });
  EXPECT_EQ(is_folder.code(), ErrorCode::kIo);
}

}  // namespace
}  // namespace samlet
