// TIFF files that are damaged or lie, and those that cannot be read rightly: refused with the right code,
// quickly, in little memory.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "libs/image/test_refusal.h"
#include "samlet/image.h"

namespace samlet {
namespace {

using test::Bytes;
using test::expect_unreadable;
using test::refusal;
using RefusalTiff = test::Refusal;

// Tags and types.
constexpr int kWidth = 256;
constexpr int kHeight = 257;
constexpr int kBits = 258;
constexpr int kCompression = 259;
constexpr int kPhotometric = 262;
constexpr int kStripOffsets = 273;
constexpr int kBands = 277;
constexpr int kRowsPerStrip = 278;
constexpr int kStripByteCounts = 279;
constexpr int kPlanar = 284;
constexpr int kTileWidth = 322;
constexpr int kTileHeight = 323;
constexpr int kTileOffsets = 324;
constexpr int kTileByteCounts = 325;
constexpr int kExtraSamples = 338;
constexpr int kSampleFormat = 339;

constexpr int kLzw = 5;
constexpr int kDeflate = 8;
constexpr int kZstd = 50000;
constexpr int kG4 = 4;

using Tags = std::map<int, std::vector<std::uint32_t>>;

void append(Bytes& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

/// A little-endian TIFF of one directory: all fields are LONG, and the data follows.
Bytes tiff(const Tags& tags, const Bytes& data) {
  Bytes out{'I', 'I', 42, 0, 8, 0, 0, 0};
  append(out, tags.size(), 2);
  std::uint64_t far = 8 + 2 + 12 * tags.size() + 4;
  Bytes values;
  for (const auto& [tag, numbers] : tags) {
    append(out, static_cast<std::uint64_t>(tag), 2);
    append(out, 4, 2);
    append(out, numbers.size(), 4);
    append(out, numbers.size() == 1 ? numbers[0] : far + values.size(), 4);
    if (numbers.size() == 1) continue;
    for (const std::uint32_t number : numbers) append(values, number, 4);
  }
  append(out, 0, 4);
  out.insert(out.end(), values.begin(), values.end());
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

/// RGB of one strip whose data is all of the file; `changes` replace or add fields.
Bytes rgb(std::uint32_t width, std::uint32_t height, const Bytes& data, const Tags& changes = {}) {
  Tags tags{{kWidth, {width}},
            {kHeight, {height}},
            {kBits, {8, 8, 8}},
            {kCompression, {1}},
            {kPhotometric, {2}},
            {kStripOffsets, {0}},
            {kBands, {3}},
            {kRowsPerStrip, {height}},
            {kStripByteCounts, {static_cast<std::uint32_t>(data.size())}},
            {kPlanar, {1}}};
  for (const auto& [tag, numbers] : changes) tags[tag] = numbers;
  if (changes.contains(kStripOffsets)) return tiff(tags, data);
  const int offsets = tags.contains(kTileOffsets) ? kTileOffsets : kStripOffsets;
  tags[offsets] = {static_cast<std::uint32_t>(tiff(tags, {}).size())};
  return tiff(tags, data);
}

TEST_F(RefusalTiff, TheHelperMakesPictures) {
  const Image image = decode_image(rgb(2, 1, {1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(image.width, 2);
  EXPECT_EQ(image.rgb, (Bytes{1, 2, 3, 4, 5, 6}));
}

TEST_F(RefusalTiff, EveryTruncationIsAnError) {
  for (const char* name : {"tiff_lzw.tif", "tiff_planar.tif", "tiff_tiles.tif", "tiff_jpeg.tif",
                           "tiff_palette4.tif", "tiff_bigtiff.tif", "tiff_group4.tif"}) {
    SCOPED_TRACE(name);
    const Bytes whole = test::sample(name);
    // Fields that do not matter, and the end of the directory, may follow the pixels.
    std::size_t refused = 0;
    for (std::size_t size = 0; size < whole.size(); ++size) {
      try {
        (void)decode_image(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      } catch (const Error& error) {
        ASSERT_EQ(error.code(), ErrorCode::kImageUnreadable) << size;
        ++refused;
      }
    }
    EXPECT_GT(refused + 80, whole.size());
  }
}

TEST_F(RefusalTiff, TruncationIsCalledSo) {
  for (const char* name : {"tiff_lzw.tif", "tiff_planar.tif", "tiff_tiles.tif"}) {
    Bytes bytes = test::sample(name);
    bytes.resize(bytes.size() * 2 / 3);
    expect_unreadable(bytes, "this TIFF picture is damaged: it is truncated");
  }
  expect_unreadable({'I', 'I', 42, 0}, "truncated");
  expect_unreadable({'I', 'I', 42, 0, 255, 0, 0, 0}, "truncated");
  // What is there is shorter than the picture.
  expect_unreadable(rgb(100, 100, Bytes(29000)), "truncated");
  // A packed strip that holds less than it should.
  Bytes packed = test::sample("tiff_packbits.tif");
  const Bytes counts{0x17, 0x01, 4, 0, 2, 0, 0, 0};
  const auto at = std::search(packed.begin(), packed.end(), counts.begin(), counts.end());
  ASSERT_NE(at, packed.end());
  const std::size_t strip = std::size_t{at[8]} + std::size_t{256} * at[9];
  packed[strip] = 3;
  expect_unreadable(packed, "truncated");
}

TEST_F(RefusalTiff, SizesAreCheckedByTheHeader) {
  DecodeOptions options;
  options.max_pixels = 11;
  const Error error = refusal(rgb(4, 3, Bytes(36)), options);
  EXPECT_EQ(error.code(), ErrorCode::kImageTooLarge);
  EXPECT_TRUE(test::contains(error, "4x3 = 12 pixels"));
  EXPECT_TRUE(test::contains(error, "--max-pixels"));
  EXPECT_EQ(refusal(rgb(65000, 65000, Bytes(36))).code(), ErrorCode::kImageTooLarge);
  EXPECT_EQ(refusal(rgb(0xFFFFFFFF, 0xFFFFFFFF, Bytes(36))).code(), ErrorCode::kImageTooLarge);
  options.max_pixels = UINT64_MAX;
  EXPECT_EQ(refusal(rgb(0xFFFFFFFF, 0xFFFFFFFF, Bytes(36)), options).code(), ErrorCode::kImageUnreadable);
  EXPECT_EQ(refusal(rgb(0x7FFFFFFF, 0x7FFFFFFF, Bytes(36)), options).code(), ErrorCode::kImageUnreadable);
  expect_unreadable(rgb(0, 3, Bytes(36)), "0x3");
  expect_unreadable(rgb(4, 0, Bytes(36)), "4x0");
}

TEST_F(RefusalTiff, LyingHeadersWithinTheLimit) {
  for (const int compression : {1, 2, 3, kG4, kLzw, 7, kDeflate, 32773, 34925, kZstd, 50001}) {
    SCOPED_TRACE(compression);
    for (const Tags& layout : {Tags{}, Tags{{kRowsPerStrip, {1}}}, Tags{{kPlanar, {2}}},
                               Tags{{kTileWidth, {15008}},
                                    {kTileHeight, {15008}},
                                    {kTileByteCounts, {1000}},
                                    {kTileOffsets, {0}}}}) {
      Tags changes = layout;
      changes[kCompression] = {static_cast<std::uint32_t>(compression)};
      expect_unreadable(rgb(15000, 15000, Bytes(1000, 0x55), changes), "TIFF");
      // Enough bytes for what is claimed at the best ratio, but not the picture.
      expect_unreadable(rgb(15000, 15000, Bytes(220'000, 0x55), changes), "TIFF");
    }
  }
}

TEST_F(RefusalTiff, WideRowsAndLargeTilesNeedTheirData) {
  Tags changes{{kCompression, {kZstd}}};
  expect_unreadable(rgb(200'000'000, 1, Bytes(5000, 1), changes), "cannot be in");
  changes = {{kCompression, {kZstd}},
             {kTileWidth, {1 << 20}},
             {kTileHeight, {1 << 20}},
             {kTileByteCounts, {5000}},
             {kTileOffsets, {0}}};
  expect_unreadable(rgb(16, 16, Bytes(5000, 1), changes), "TIFF");
  changes[kTileWidth] = {0xFFFFFFF0};
  changes[kTileHeight] = {0xFFFFFFF0};
  expect_unreadable(rgb(16, 16, Bytes(5000, 1), changes), "TIFF");
  changes[kTileWidth] = {0};
  expect_unreadable(rgb(16, 16, Bytes(5000, 1), changes), "TIFF");
  // YCbCr with shared chroma, whose strips are decoded at once.
  Tags clumps{{kCompression, {kZstd}}, {kPhotometric, {6}}, {530, {2, 2}}};
  expect_unreadable(rgb(15000, 15000, Bytes(5000, 1), clumps), "TIFF");
  clumps[530] = {3, 2};
  expect_unreadable(rgb(16, 16, Bytes(5000, 1), clumps), "TIFF");
}

TEST_F(RefusalTiff, DirectoriesThatCostTime) {
  Tags many;
  for (int i = 0; i < 60000; ++i) many[5000 + i] = {1};
  for (const auto& [tag, numbers] : Tags{{kWidth, {2}}, {kHeight, {1}}}) many[tag] = numbers;
  expect_unreadable(tiff(many, {}), "60002 entries");
  // The whole file again and again.
  Tags heavy;
  for (int i = 0; i < 500; ++i) heavy[40000 + i] = {7};
  Bytes bytes = rgb(2, 1, Bytes(1'000'000), heavy);
  std::size_t changed = 0;
  for (std::size_t at = 10; at < 10 + 12 * 510; at += 12) {
    const int tag = bytes[at] | bytes[at + 1] << 8;
    if (tag < 40000 || tag >= 40500) continue;
    const Bytes claim{0x00, 0x80, 0x03, 0x00, 0x08, 0x00, 0x00, 0x00};  // 229,376 numbers at byte 8
    std::copy(claim.begin(), claim.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at) + 4);
    ++changed;
  }
  EXPECT_EQ(changed, 500U);
  expect_unreadable(bytes, "its directory claims");
}

TEST_F(RefusalTiff, PagesThatGoRoundAreCountedOnce) {
  Bytes bytes = rgb(2, 1, {1, 2, 3, 4, 5, 6});
  const std::size_t next = 8 + 2 + 12 * 10;
  ASSERT_EQ(bytes[8], 10);
  bytes[next] = 8;
  EXPECT_EQ(decode_picture(bytes).info.frames, 1U);
  bytes[next] = 0xFF;  // outside
  bytes[next + 1] = 0xFF;
  EXPECT_EQ(decode_picture(bytes).info.frames, 1U);
  // Empty directories in a row, each of six bytes.
  bytes[next] = static_cast<std::uint8_t>(bytes.size());
  bytes[next + 1] = 0;
  for (int i = 0; i < 200'000; ++i) {
    append(bytes, 0, 2);
    append(bytes, bytes.size() + 4, 4);
  }
  EXPECT_EQ(decode_picture(bytes).info.frames, 100'000U);
}

TEST_F(RefusalTiff, WhatCannotBeColoursIsNamed) {
  const auto bands = [](std::uint32_t count, std::uint32_t bits, std::uint32_t format,
                        std::uint32_t photometric) {
    return rgb(3, 2, Bytes(1000),
               {{kBits, std::vector<std::uint32_t>(count, bits)},
                {kBands, {count}},
                {kPhotometric, {photometric}},
                {kSampleFormat, std::vector<std::uint32_t>(count, format)}});
  };
  expect_unreadable(bands(1, 32, 3, 1), "1 band of 32-bit floating-point numbers");
  expect_unreadable(bands(3, 32, 3, 2), "3 bands of 32-bit floating-point numbers");
  expect_unreadable(bands(1, 64, 3, 1), "1 band of 64-bit floating-point numbers");
  expect_unreadable(bands(1, 16, 3, 1), "1 band of 16-bit floating-point numbers");
  expect_unreadable(bands(1, 24, 3, 1), "1 band of 24-bit floating-point numbers");
  expect_unreadable(bands(1, 16, 2, 1), "1 band of 16-bit signed integers");
  expect_unreadable(bands(1, 32, 1, 1), "1 band of 32-bit unsigned integers");
  expect_unreadable(bands(1, 64, 6, 1), "1 band of 64-bit complex floating-point numbers");
  expect_unreadable(bands(4, 8, 1, 1), "4 bands of 8-bit unsigned integers");
  expect_unreadable(bands(12, 16, 1, 1), "12 bands of 16-bit unsigned integers");
  expect_unreadable(bands(7, 8, 1, 2), "7 bands of 8-bit unsigned integers");
  expect_unreadable(bands(2, 8, 1, 2), "2 bands of 8-bit unsigned integers");
  expect_unreadable(bands(1, 32, 3, 1), "convert it to 8 or 16 bits a sample");
  expect_unreadable(bands(3, 8, 1, 8), "CIE L*a*b*");
  expect_unreadable(bands(3, 8, 1, 8), "convert it to RGB");
  expect_unreadable(rgb(3, 2, Bytes(1000), {{kExtraSamples, {0}}}), "3 bands");
  expect_unreadable(rgb(3, 2, Bytes(1000), {{kCompression, {34887}}}), "LERC compression");
  expect_unreadable(rgb(3, 2, Bytes(1000), {{kCompression, {6}}}), "old-style JPEG compression");
}

TEST_F(RefusalTiff, CameraRawIsNotShownAsItsPreview) {
  expect_unreadable(rgb(3, 2, Bytes(1000), {{50706, {0x00000401}}}), "camera raw picture (DNG)");
  expect_unreadable(rgb(3, 2, Bytes(1000), {{254, {1}}, {330, {8}}}), "camera raw picture (NEF, ARW");
  // A preview that does not call itself one; the sensor's data are in the other directory.
  Bytes bytes = rgb(3, 2, Bytes(18), {{330, {0}}});
  const auto sub = static_cast<std::uint8_t>(bytes.size());
  const Bytes entry{0x4A, 0x01, 4, 0, 1, 0, 0, 0};  // SubIFDs
  const auto at = std::search(bytes.begin(), bytes.end(), entry.begin(), entry.end());
  ASSERT_NE(at, bytes.end());
  at[8] = sub;
  append(bytes, 1, 2);
  append(bytes, kPhotometric, 2);
  append(bytes, 3, 2);
  append(bytes, 1, 4);
  append(bytes, 32803, 4);
  expect_unreadable(bytes, "camera raw picture");
  Bytes smaller = rgb(3, 2, Bytes(18), {{254, {1}}});
  EXPECT_EQ(decode_image(smaller).width, 3);
}

TEST_F(RefusalTiff, OddFields) {
  expect_unreadable(tiff({{kHeight, {2}}}, Bytes(100)), "0x2");
  expect_unreadable(rgb(3, 2, Bytes(18), {{kRowsPerStrip, {0}}}), "TIFF");
  expect_unreadable(rgb(3, 2, Bytes(18), {{kStripOffsets, {99999}}}), "truncated");
  expect_unreadable(rgb(3, 2, Bytes(18), {{kPhotometric, {3}}, {kBits, {8}}, {kBands, {1}}}),
                    "its palette has 0 values");
  // BitsPerSample as text, and SamplesPerPixel as a number that is none.
  Bytes text = rgb(3, 2, Bytes(18));
  const Bytes entry{0x15, 0x01, 4, 0};
  const auto at = std::search(text.begin(), text.end(), entry.begin(), entry.end());
  ASSERT_NE(at, text.end());
  at[2] = 2;
  expect_unreadable(text, "the value of its tag 277 is not a number");
  at[2] = 11;
  const Bytes nan{0, 0, 0xC0, 0x7F};
  std::copy(nan.begin(), nan.end(), at + 8);
  expect_unreadable(text, "the value of its tag 277 is not a number");
}

TEST_F(RefusalTiff, AThumbnailBeforeSensorDataIsACameraRawFile) {
  expect_unreadable(
      test::read_bytes(test::testdata() / "corpus" / "decode_image" / "tiff_sensor_in_next_page"),
      "camera raw");
}

}  // namespace
}  // namespace samlet
