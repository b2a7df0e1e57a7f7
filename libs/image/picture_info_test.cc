// How a picture was read, in words, and the one warning about further pictures in a file.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "libs/image/test_support.h"
#include "samlet/image.h"

namespace samlet {
namespace {

struct Read {
  PictureInfo info;
  std::vector<std::string> warnings;
};

Read read(const std::string& name) {
  Read read;
  DecodeOptions options;
  options.log = [&read](LogLevel level, std::string_view text) {
    EXPECT_EQ(level, LogLevel::kWarning);
    read.warnings.emplace_back(text);
  };
  read.info = decode_picture(test::sample(name), options).info;
  return read;
}

void expect_stored(const PictureInfo& info, const std::string& type, int width, int height, int bits,
                   const std::string& colours) {
  EXPECT_EQ(info.type, type);
  EXPECT_EQ(info.width, width);
  EXPECT_EQ(info.height, height);
  EXPECT_EQ(info.bits, bits);
  EXPECT_EQ(info.colours, colours);
}

TEST(PictureInfo, WebpLossy) {
  const auto [info, warnings] = read("webp_RGB_lossy_7x9.webp");
  expect_stored(info, "WebP", 7, 9, 8, "YCbCr");
  EXPECT_EQ(info.rule, "YCbCr becomes RGB as ITU-R BT.601 defines it for video");
  EXPECT_EQ(info.orientation, 1);
  EXPECT_EQ(info.orientation_source, "");
  EXPECT_EQ(info.frames, 1U);
  EXPECT_TRUE(warnings.empty());
}

TEST(PictureInfo, WebpLossless) {
  expect_stored(read("webp_RGB_lossless_7x9.webp").info, "WebP", 7, 9, 8, "RGB");
  const PictureInfo alpha = read("webp_RGBA_lossless_7x9.webp").info;
  expect_stored(alpha, "WebP", 7, 9, 8, "RGB with alpha");
  EXPECT_EQ(alpha.rule, "alpha is left out, the colours below it count");
  expect_stored(read("webp_RGBA_lossy_7x9.webp").info, "WebP", 7, 9, 8, "YCbCr with alpha");
}

TEST(PictureInfo, WebpOrientation) {
  const PictureInfo exif = read("webp_exif_6.webp").info;
  expect_stored(exif, "WebP", 11, 7, 8, "RGB");
  EXPECT_EQ(exif.orientation, 6);
  EXPECT_EQ(exif.orientation_source, "EXIF");
  const PictureInfo xmp = read("webp_xmp_3.webp").info;
  EXPECT_EQ(xmp.orientation, 3);
  EXPECT_EQ(xmp.orientation_source, "XMP");
  const PictureInfo illegal = read("webp_exif_9.webp").info;
  EXPECT_EQ(illegal.orientation, 1);
  EXPECT_EQ(illegal.orientation_source, "EXIF");
}

TEST(PictureInfo, WebpAnimation) {
  const auto [info, warnings] = read("webp_animation_lossless.webp");
  EXPECT_EQ(info.frames, 3U);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0], "this WebP file holds 3 pictures; the first is used");
  EXPECT_EQ(read("webp_animation_one_frame.webp").info.frames, 1U);
}

TEST(PictureInfo, Gif) {
  const PictureInfo palette = read("gif_bits_4.gif").info;
  expect_stored(palette, "GIF", 23, 16, 4, "palette");
  EXPECT_EQ(palette.rule, "each colour is looked up in the palette");
  EXPECT_EQ(palette.orientation, 1);
  EXPECT_EQ(palette.orientation_source, "");
  expect_stored(read("gif_palette_none.gif").info, "GIF", 13, 9, 8, "grey");
  const PictureInfo transparent = read("gif_offset_transparent_0.gif").info;
  expect_stored(transparent, "GIF", 17, 11, 4, "palette with alpha");
  EXPECT_TRUE(transparent.rule.ends_with("alpha is left out, the colours below it count"));
  // The screen grows with its picture.
  expect_stored(read("gif_partly_outside.gif").info, "GIF", 13, 20, 4, "palette with alpha");
}

TEST(PictureInfo, GifAnimation) {
  const auto [info, warnings] = read("gif_animation_disposal_2.gif");
  EXPECT_EQ(info.frames, 4U);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0], "this GIF file holds 4 pictures; the first is used");
  EXPECT_EQ(read("gif_bytes_between_records.gif").info.frames, 2U);
  EXPECT_EQ(read("gif_no_trailer.gif").info.frames, 1U);
}

TEST(PictureInfo, Heic) {
  const PictureInfo colour = read("heic_444_RGB_7x9.heif").info;
  expect_stored(colour, "HEIC", 7, 9, 8, "YCbCr");
  EXPECT_EQ(colour.rule, "YCbCr becomes RGB by libheif, as the file's colour box says");
  EXPECT_EQ(colour.orientation, 1);
  EXPECT_EQ(colour.orientation_source, "");
  expect_stored(read("heic_444_L_7x9.heif").info, "HEIC", 7, 9, 8, "grey");
  expect_stored(read("heic_lossless_RGBA_7x9.heif").info, "HEIC", 7, 9, 8, "YCbCr with alpha");
  const PictureInfo deep = read("heic_12_bits_RGB_16x16.heif").info;
  expect_stored(deep, "HEIC", 16, 16, 12, "YCbCr");
  EXPECT_TRUE(deep.rule.ends_with("12 bits become 8 by v x 255 / 4095, rounded")) << deep.rule;
}

TEST(PictureInfo, Avif) {
  expect_stored(read("avif_444_RGB_7x9.heif").info, "AVIF", 7, 9, 8, "YCbCr");
  expect_stored(read("avif_400_L_7x9.heif").info, "AVIF", 7, 9, 8, "grey");
  expect_stored(read("avif_10_bits.heif").info, "AVIF", 41, 23, 10, "YCbCr");
  expect_stored(read("avif_brand_mif1.heif").info, "AVIF", 16, 16, 8, "YCbCr");
}

TEST(PictureInfo, HeifOrientation) {
  for (const std::string kind : {"heic", "avif"}) {
    for (int number = 1; number <= 8; ++number) {
      const Picture picture =
          decode_picture(test::sample(kind + "_turned_" + std::to_string(number) + ".heif"));
      EXPECT_EQ(picture.info.width, 13);
      EXPECT_EQ(picture.info.height, 9);
      EXPECT_EQ(picture.info.orientation, number);
      EXPECT_EQ(picture.info.orientation_source, number == 1 ? "" : "HEIF irot/imir");
      EXPECT_EQ(picture.image.width, number < 5 ? 13 : 9);
    }
    // EXIF alone does not count.
    const PictureInfo exif = read(kind + "_only_exif.heif").info;
    EXPECT_EQ(exif.orientation, 1);
    EXPECT_EQ(exif.orientation_source, "");
  }
}

TEST(PictureInfo, HeifWithSeveralPictures) {
  for (const auto& [name, type] : {std::pair{"heic_several.heif", "HEIC"}, {"avif_sequence.heif", "AVIF"}}) {
    const auto [info, warnings] = read(name);
    EXPECT_EQ(info.frames, 3U);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_EQ(warnings[0], std::string("this ") + type + " file holds 3 pictures; the first is used");
  }
}

TEST(PictureInfo, Bmp) {
  const auto [info, warnings] = read("bmp_colour_24_40_0_7x9.bmp");
  expect_stored(info, "BMP", 7, 9, 8, "RGB");
  EXPECT_EQ(info.rule, "the samples are used as they are");
  EXPECT_EQ(info.orientation, 1);
  EXPECT_EQ(info.orientation_source, "");
  EXPECT_EQ(info.frames, 1U);
  EXPECT_TRUE(warnings.empty());
  expect_stored(read("bmp_indexed_4_40_1_7x9.bmp").info, "BMP", 7, 9, 4, "palette");
  expect_stored(read("bmp_masks_32_5_56_7x9.bmp").info, "BMP", 7, 9, 8, "RGB with alpha");
  const PictureInfo few = read("bmp_masks_16_0_40_7x9.bmp").info;
  expect_stored(few, "BMP", 7, 9, 5, "RGB");
  EXPECT_EQ(few.rule, "5, 6 and 5 bits become 8 by v x 255 / largest, up to 8 bits rounded down");
}

TEST(PictureInfo, Pnm) {
  const auto [info, warnings] = read("pnm_3_7x9.pnm");
  expect_stored(info, "PPM", 7, 9, 8, "RGB");
  EXPECT_EQ(info.rule, "the samples are used as they are");
  EXPECT_EQ(info.orientation, 1);
  EXPECT_EQ(info.orientation_source, "");
  EXPECT_TRUE(warnings.empty());
  expect_stored(read("pnm_1_plain_7x9.pnm").info, "PGM", 7, 9, 8, "grey");
  expect_stored(read("pnm_bits_7x9.pnm").info, "PBM", 7, 9, 1, "bilevel");
  expect_stored(read("pnm_1_largest_1.pnm").info, "PGM", 17, 33, 1, "grey");
  const PictureInfo deep = read("pnm_1_largest_65535.pnm").info;
  expect_stored(deep, "PGM", 17, 33, 16, "grey");
  EXPECT_EQ(deep.rule, "grey is given to all three channels; 16 bits become 8 by v / 257, rounded");
  const PictureInfo odd = read("pnm_1_largest_100.pnm").info;
  expect_stored(odd, "PGM", 17, 33, 7, "grey");
  EXPECT_EQ(odd.rule, "grey is given to all three channels; v becomes v x 255 / 100, rounded");
  // Further pictures are not counted, as Pillow does.
  EXPECT_EQ(read("pnm_two_pictures.pnm").info.frames, 1U);
  EXPECT_TRUE(read("pnm_two_pictures.pnm").warnings.empty());
}

TEST(PictureInfo, Tiff) {
  const auto [info, warnings] = read("tiff_rgb.tif");
  expect_stored(info, "TIFF", 19, 13, 8, "RGB");
  EXPECT_EQ(info.rule, "the samples are used as they are");
  EXPECT_EQ(info.orientation_source, "");
  EXPECT_EQ(info.frames, 1U);
  EXPECT_TRUE(warnings.empty());
  expect_stored(read("tiff_white1.tif").info, "TIFF", 19, 13, 1, "bilevel");
  expect_stored(read("tiff_palette4.tif").info, "TIFF", 19, 13, 4, "palette");
  expect_stored(read("tiff_cmyk.tif").info, "TIFF", 19, 13, 8, "CMYK");
  expect_stored(read("tiff_ycbcr_22.tif").info, "TIFF", 19, 13, 8, "YCbCr");
  expect_stored(read("tiff_rgbx.tif").info, "TIFF", 19, 13, 8, "RGB");
  expect_stored(read("tiff_rgba.tif").info, "TIFF", 19, 13, 8, "RGB with alpha");
  expect_stored(read("tiff_rgba_unnamed.tif").info, "TIFF", 19, 13, 8, "RGB with alpha");
}

TEST(PictureInfo, TiffRules) {
  EXPECT_EQ(read("tiff_white16.tif").info.rule,
            "grey is given to all three channels; the largest value is black; 16 bits become 8 by v / 257, "
            "rounded");
  EXPECT_EQ(read("tiff_grey12.tif").info.rule,
            "grey is given to all three channels; 12 bits become 8 by v x 255 / 4095, rounded");
  const PictureInfo premultiplied = read("tiff_premultiplied.tif").info;
  EXPECT_EQ(premultiplied.colours, "RGB with premultiplied alpha");
  EXPECT_EQ(premultiplied.rule, "the colours are divided by alpha, which is left out then");
}

TEST(PictureInfo, TiffOrientation) {
  const PictureInfo tag = read("tiff_orientation_6.tif").info;
  expect_stored(tag, "TIFF", 11, 7, 8, "RGB");
  EXPECT_EQ(tag.orientation, 6);
  EXPECT_EQ(tag.orientation_source, "TIFF");
  EXPECT_EQ(read("tiff_orientation_9.tif").info.orientation, 1);
  EXPECT_EQ(read("tiff_orientation_9.tif").info.orientation_source, "TIFF");
  EXPECT_EQ(read("tiff_xmp_6.tif").info.orientation, 6);
  EXPECT_EQ(read("tiff_xmp_6.tif").info.orientation_source, "XMP");
  EXPECT_EQ(read("tiff_bigtiff_big.tif").info.orientation, 6);
}

TEST(PictureInfo, TiffPages) {
  const auto [info, warnings] = read("tiff_three_pages.tif");
  EXPECT_EQ(info.frames, 3U);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0], "this TIFF file holds 3 pictures; the first is used");
}

}  // namespace
}  // namespace samlet
