// Bytes that are no picture, damaged ones and dishonest ones: refused with the right code, quickly, in little
// memory.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <zlib.h>

#include <gtest/gtest.h>

#include "libs/image/test_refusal.h"
#include "samlet/image.h"

namespace samlet {
namespace {

using std::string_view_literals::operator""sv;
using test::Bytes;
using test::bytes_of;
using test::expect_unreadable;
using test::Refusal;
using test::refusal;

void append_u32(Bytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::uint8_t>(value >> shift));
}

void append_chunk(Bytes& png, std::string_view type, const Bytes& data) {
  append_u32(png, static_cast<std::uint32_t>(data.size()));
  Bytes body = bytes_of(type);
  body.insert(body.end(), data.begin(), data.end());
  png.insert(png.end(), body.begin(), body.end());
  append_u32(png, static_cast<std::uint32_t>(crc32_z(0, body.data(), body.size())));
}

Bytes png_start(std::uint32_t width, std::uint32_t height, std::uint8_t depth = 8,
                std::uint8_t colour_type = 2, std::uint8_t interlaced = 0) {
  Bytes png = bytes_of("\x89PNG\r\n\x1A\n"sv);
  Bytes header;
  append_u32(header, width);
  append_u32(header, height);
  header.insert(header.end(), {depth, colour_type, 0, 0, interlaced});
  append_chunk(png, "IHDR", header);
  return png;
}

Bytes zlib_of(const Bytes& raw) {
  uLongf size = compressBound(static_cast<uLong>(raw.size()));
  Bytes packed(size);
  EXPECT_EQ(compress2(packed.data(), &size, raw.data(), static_cast<uLong>(raw.size()), 9), Z_OK);
  packed.resize(size);
  return packed;
}

/// A sound JPEG whose frame header then claims another size.
Bytes jpeg_claiming(const std::string& name, std::uint16_t width, std::uint16_t height) {
  Bytes bytes = test::sample(name);
  // SOF0, 2 or 9: baseline, progressive, arithmetic.
  auto at = bytes.end();
  for (const std::uint8_t marker : {std::uint8_t{0xC0}, std::uint8_t{0xC2}, std::uint8_t{0xC9}}) {
    const std::array<std::uint8_t, 3> start{0xFF, marker, 0x00};
    if (at == bytes.end()) at = std::search(bytes.begin(), bytes.end(), start.begin(), start.end());
  }
  if (bytes.end() - at < 9) {
    ADD_FAILURE() << "no frame header in " << name;
    return {};
  }
  at[5] = static_cast<std::uint8_t>(height >> 8);
  at[6] = static_cast<std::uint8_t>(height);
  at[7] = static_cast<std::uint8_t>(width >> 8);
  at[8] = static_cast<std::uint8_t>(width);
  return bytes;
}

TEST_F(Refusal, EmptyAndShortFiles) {
  expect_unreadable({}, "the file is empty");
  expect_unreadable({0xFF}, "not a picture");
  expect_unreadable({0xFF, 0xD8}, "JPEG file that is damaged");
  expect_unreadable({0xFF, 0xD8, 0xFF}, "truncated");
  expect_unreadable(bytes_of("\x89PNG\r\n\x1A\n"sv), "IHDR");
  expect_unreadable(bytes_of("\x89PNG\n\x1A\n"sv), "signature is damaged");
  expect_unreadable(Bytes(100, 0), "not a picture");
}

TEST_F(Refusal, OtherPictureKindsAreNamed) {
  constexpr std::pair<std::string_view, const char*> kKinds[] = {
      {"II*\0\x10\0\0\0CR\2\0"sv, "CR2"},
      {"\xFF\x0A\0\0"sv, "JPEG XL"},
      {"\0\0\0\x0CJXL \r\n\x87\n\0"sv, "JPEG XL"},
      {"\0\0\0\x0CjP  \r\n\x87\n\0"sv, "JPEG 2000"},
      {"\xFF\x4F\xFF\x51\0"sv, "JPEG 2000"},
      {"PF\n1 1\n-1.0\n\0\0\0\0"sv, "PFM picture of floating-point numbers"},
      {"Pf\n1 1\n-1.0\n\0\0\0\0"sv, "PFM picture of floating-point numbers"},
      {"P7\nWIDTH 1\n"sv, "PAM picture"},
      {"8BPS\0\1"sv, "Photoshop"},
      {"qoif\0\0"sv, "QOI"},
      {"\0\0\1\0\1\0"sv, "ICO"},
      {"<svg xmlns='x'/>"sv, "SVG"},
      {"<?xml version='1.0'?>\n<svg/>"sv, "SVG"},
      {"\x76\x2F\x31\x01\2"sv, "OpenEXR"},
  };
  for (const auto& [bytes, name] : kKinds) {
    expect_unreadable(bytes_of(bytes), name);
    expect_unreadable(bytes_of(bytes), "convert it to JPEG or PNG");
  }
}

TEST_F(Refusal, OtherFilesAreNamed) {
  constexpr std::pair<std::string_view, const char*> kKinds[] = {
      {"<!DOCTYPE html><html>404</html>"sv, "looks like HTML"},
      {"\xEF\xBB\xBF \r\n<HTML><body>"sv, "looks like HTML"},
      {"<!-- proxy --><html>"sv, "looks like HTML"},
      {"<?xml version='1.0'?><Error/>"sv, "looks like XML"},
      {R"({"error": 404})"sv, "looks like JSON"},
      {"Not found\n"sv, "looks like text"},
      {"%PDF-1.7\n"sv, "PDF"},
      {"PK\3\4\0"sv, "ZIP"},
      {"\x1F\x8B\x08\0"sv, "gzip"},
      {"\0\0\0\x18"
       "ftypisom\0\0"sv,
       "video"},
      {"version https://git-lfs.github.com/spec/v1\noid"sv, "Git LFS pointer"},
      {"\1\2\3\4"sv, "not a picture of a kind that is known"},
  };
  for (const auto& [bytes, name] : kKinds) {
    expect_unreadable(bytes_of(bytes), name);
    expect_unreadable(bytes_of(bytes), "not a picture");
  }
}

TEST_F(Refusal, TooManyPixelsAreRefusedByTheHeader) {
  DecodeOptions options;
  options.max_pixels = 1072;  // 37 x 29 - 1
  for (const char* name :
       {"png_rgb8.png", "jpeg_420.jpg", "png_rgb8_interlaced.png", "jpeg_progressive.jpg"}) {
    const Error error = refusal(test::sample(name), options);
    EXPECT_EQ(error.code(), ErrorCode::kImageTooLarge);
    EXPECT_TRUE(test::contains(error, "37x29 = 1073 pixels"));
    EXPECT_TRUE(test::contains(error, "limit of 1072"));
    EXPECT_TRUE(test::contains(error, "--max-pixels"));
  }
}

TEST_F(Refusal, HugeClaimsAreRefusedByTheHeader) {
  EXPECT_EQ(refusal(jpeg_claiming("jpeg_420.jpg", 65000, 65000)).code(), ErrorCode::kImageTooLarge);
  EXPECT_EQ(refusal(jpeg_claiming("jpeg_420.jpg", 65535, 65535)).code(), ErrorCode::kImageTooLarge);
  EXPECT_EQ(refusal(png_start(65000, 65000)).code(), ErrorCode::kImageTooLarge);
  EXPECT_EQ(refusal(png_start(0xFFFFFFFF, 0xFFFFFFFF)).code(), ErrorCode::kImageTooLarge);
  Bytes png = png_start(0x7FFFFFFF, 1);
  EXPECT_EQ(refusal(png).code(), ErrorCode::kImageTooLarge);
  EXPECT_TRUE(test::contains(refusal(png), "2147483647x1"));
}

TEST_F(Refusal, LyingHeadersWithinTheLimitAreRefusedBeforeMemoryIsTaken) {
  expect_unreadable(jpeg_claiming("jpeg_420.jpg", 15000, 15000), "truncated");
  expect_unreadable(jpeg_claiming("jpeg_progressive.jpg", 15000, 15000), "truncated");
  expect_unreadable(jpeg_claiming("jpeg_cmyk.jpg", 15000, 15000), "truncated");
  expect_unreadable(jpeg_claiming("jpeg_arithmetic.jpg", 15000, 15000), "truncated");
  for (const std::uint8_t interlaced : {std::uint8_t{0}, std::uint8_t{1}}) {
    Bytes png = png_start(15000, 15000, 16, 6, interlaced);
    append_chunk(png, "IDAT", zlib_of(Bytes(1000, 0)));
    expect_unreadable(png, "truncated");
    expect_unreadable(png, "15000x15000");
  }
}

TEST_F(Refusal, NoLimitStillNeedsTheData) {
  DecodeOptions options;
  options.max_pixels = UINT64_MAX;
  EXPECT_EQ(refusal(png_start(0x7FFFFFFF, 0x7FFFFFFF, 16, 6), options).code(), ErrorCode::kImageUnreadable);
  EXPECT_EQ(refusal(png_start(0xFFFFFFFF, 0xFFFFFFFF, 16, 6), options).code(), ErrorCode::kImageUnreadable);
  EXPECT_EQ(refusal(jpeg_claiming("jpeg_420.jpg", 65500, 65500), options).code(),
            ErrorCode::kImageUnreadable);
  EXPECT_EQ(refusal(jpeg_claiming("jpeg_420.jpg", 65535, 65535), options).code(),
            ErrorCode::kImageUnreadable);
}

TEST_F(Refusal, ZeroSides) {
  expect_unreadable(jpeg_claiming("jpeg_420.jpg", 0, 29), "0x29");
  expect_unreadable(jpeg_claiming("jpeg_420.jpg", 37, 0), "37x0");
  expect_unreadable(png_start(0, 5), "0x5");
  expect_unreadable(png_start(5, 0), "5x0");
}

TEST_F(Refusal, EveryTruncationIsAnError) {
  for (const char* name :
       {"jpeg_420.jpg", "jpeg_progressive.jpg", "jpeg_cmyk.jpg", "jpeg_restart.jpg", "jpeg_arithmetic.jpg",
        "png_palette4.png", "png_rgba8_interlaced.png", "jpeg_1x1.jpg"}) {
    SCOPED_TRACE(name);
    const Bytes whole = test::sample(name);
    // A PNG may lack its end chunk, and then the checksum of the pixels (Pillow accepts both).
    const std::size_t optional = whole[0] == 0x89 ? 12 + 4 : 0;
    for (std::size_t size = 0; size + optional < whole.size(); ++size) {
      const Error error = refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      ASSERT_EQ(error.code(), ErrorCode::kImageUnreadable) << size;
    }
  }
}

TEST_F(Refusal, TruncationIsCalledSo) {
  for (const char* name :
       {"jpeg_420.jpg", "jpeg_progressive.jpg", "png_rgb8.png", "png_rgb8_interlaced.png"}) {
    Bytes bytes = test::sample(name);
    bytes.resize(bytes.size() * 2 / 3);
    expect_unreadable(bytes, "truncated");
    expect_unreadable(bytes,
                      bytes[0] == 0x89 ? "this PNG picture is damaged" : "this JPEG picture is damaged");
  }
}

TEST_F(Refusal, TextBombsAreSkipped) {
  // 16 MB of zeros in a few kilobytes, in every kind of chunk that can be packed. The pixels are fine, so
  // that the picture is decoded, cheaply.
  const Bytes bomb = zlib_of(Bytes(std::size_t{16} << 20, 0));
  const auto packed = [&bomb](std::string_view start) {
    Bytes data = bytes_of(start);
    data.insert(data.end(), bomb.begin(), bomb.end());
    return data;
  };
  Bytes png = png_start(1, 1);
  append_chunk(png, "iCCP", packed("name\0\0"sv));
  append_chunk(png, "zTXt", packed("Raw profile type exif\0\0"sv));
  append_chunk(png, "iTXt", packed("XML:com.adobe.xmp\0\1\0\0\0"sv));
  append_chunk(png, "zTXt", packed("Comment\0\0"sv));
  append_chunk(png, "IDAT", zlib_of({0, 10, 20, 30}));
  append_chunk(png, "IEND", {});
  EXPECT_EQ(decode_image(png).rgb, (Bytes{10, 20, 30}));
}

TEST_F(Refusal, PixelBombsCostNoMoreThanTheirRows) {
  // The data goes on for ever after the picture's own rows.
  Bytes png = png_start(1, 1);
  append_chunk(png, "IDAT", zlib_of(Bytes(std::size_t{16} << 20, 0)));
  append_chunk(png, "IEND", {});
  EXPECT_EQ(decode_image(png).rgb, (Bytes{0, 0, 0}));
}

TEST_F(Refusal, DamagedPng) {
  Bytes bad_sum = test::sample("png_rgb8.png");
  bad_sum[20] ^= 1;  // inside of IHDR
  expect_unreadable(bad_sum, "IHDR");
  Bytes no_palette = png_start(1, 1, 8, 3);
  append_chunk(no_palette, "IDAT", zlib_of({0, 0}));
  expect_unreadable(no_palette, "PLTE");
  Bytes odd_depth = png_start(1, 1, 3, 2);
  append_chunk(odd_depth, "IDAT", zlib_of({0, 0}));
  expect_unreadable(odd_depth, "IHDR");
  Bytes odd_colour = png_start(1, 1, 8, 77);
  append_chunk(odd_colour, "IDAT", zlib_of({0, 0}));
  expect_unreadable(odd_colour, "IHDR");
  Bytes odd_filter = png_start(1, 1);
  append_chunk(odd_filter, "IDAT", zlib_of({9, 0, 0, 0}));
  expect_unreadable(odd_filter, "filter");
  Bytes no_pixels = png_start(1, 1);
  append_chunk(no_pixels, "IEND", {});
  expect_unreadable(no_pixels, "IEND");
}

TEST_F(Refusal, DamagedJpeg) {
  Bytes bytes = test::sample("jpeg_420.jpg");
  // A quantization table of an impossible precision.
  static constexpr std::array<std::uint8_t, 2> kTable{0xFF, 0xDB};
  const auto table = std::search(bytes.begin(), bytes.end(), kTable.begin(), kTable.end());
  ASSERT_LT(table, bytes.end() - 5);
  table[4] = 0x0F;
  expect_unreadable(bytes, "this JPEG picture is damaged");
  Bytes no_scan = test::sample("jpeg_420.jpg");
  static constexpr std::array<std::uint8_t, 2> kScan{0xFF, 0xDA};
  no_scan.erase(std::search(no_scan.begin(), no_scan.end(), kScan.begin(), kScan.end()), no_scan.end());
  no_scan.insert(no_scan.end(), {0xFF, 0xD9});
  expect_unreadable(no_scan, "JPEG");
  // Two components are legal JPEG, and no colour.
  Bytes two = test::sample("jpeg_grey.jpg");
  static constexpr std::array<std::uint8_t, 4> kFrame{0xFF, 0xC0, 0x00, 0x0B};
  const auto frame = std::search(two.begin(), two.end(), kFrame.begin(), kFrame.end());
  ASSERT_LT(frame, two.end());
  frame[3] = 14;
  frame[9] = 2;
  two.insert(frame + 13, {2, 0x11, 0});
  expect_unreadable(two, "2 colour components");
}

TEST_F(Refusal, ManyEmptyScansAreStopped) {
  const Bytes whole = test::sample("jpeg_progressive.jpg");
  static constexpr std::array<std::uint8_t, 2> kScan{0xFF, 0xDA};
  const auto scan = std::search(whole.begin(), whole.end(), kScan.begin(), kScan.end());
  // The last scan (a refinement) over and over.
  const auto last = std::find_end(whole.begin(), whole.end(), kScan.begin(), kScan.end());
  ASSERT_LT(scan, last);
  Bytes bomb(whole.begin(), last);
  for (int i = 0; i < 1000; ++i) bomb.insert(bomb.end(), last, whole.end() - 2);
  bomb.insert(bomb.end(), {0xFF, 0xD9});
  expect_unreadable(bomb, "more than 100 scans");
}

TEST_F(Refusal, FilesAboveTheByteLimit) {
  DecodeOptions options;
  options.max_bytes = 10;
  const Error error = refusal(test::sample("png_rgb8.png"), options);
  EXPECT_EQ(error.code(), ErrorCode::kImageTooLarge);
  EXPECT_TRUE(test::contains(error, "limit of 10"));
}

}  // namespace
}  // namespace samlet
