// BMP files that are damaged or lie: refused with the right code, quickly, in little memory.
#include <cstdint>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "libs/image/test_refusal.h"
#include "samlet/image.h"

namespace samlet {
namespace {

using test::Bytes;
using test::bytes_of;
using test::expect_unreadable;
using test::refusal;
using RefusalBmp = test::Refusal;

void append(Bytes& out, std::uint64_t value, int bytes) {
  // What is longer than the number is filled with zeros.
  for (int i = 0; i < bytes; ++i)
    out.push_back(i < 8 ? static_cast<std::uint8_t>(value >> (8 * i)) : std::uint8_t{0});
}

struct Fields {
  std::uint32_t width = 4;
  std::uint32_t height = 3;
  std::uint32_t bits = 24;
  std::uint32_t compression = 0;
  std::uint32_t colours = 0;
  std::uint32_t offset = 54;
  std::uint32_t header = 40;
};

Bytes bmp(const Fields& fields, const Bytes& rest) {
  Bytes out{'B', 'M'};
  append(out, 0, 8);
  append(out, fields.offset, 4);
  append(out, fields.header, 4);
  append(out, fields.width, 4);
  append(out, fields.height, 4);
  append(out, 1, 2);
  append(out, fields.bits, 2);
  append(out, fields.compression, 4);
  append(out, 0, 12);
  append(out, fields.colours, 4);
  append(out, 0, 4);
  out.insert(out.end(), rest.begin(), rest.end());
  return out;
}

TEST_F(RefusalBmp, TheHelperMakesPictures) {
  EXPECT_EQ(decode_image(bmp({.width = 1, .height = 1}, {30, 20, 10})).rgb, (Bytes{10, 20, 30}));
}

TEST_F(RefusalBmp, EveryTruncationIsAnError) {
  for (const char* name :
       {"bmp_colour_16_40_0_7x9.bmp", "bmp_colour_24_12_0_7x9.bmp", "bmp_indexed_4_124_1_7x9.bmp",
        "bmp_masks_16_0_40_7x9.bmp", "bmp_runs_8_1_0.bmp", "bmp_runs_4_2_1.bmp"}) {
    SCOPED_TRACE(name);
    const Bytes whole = test::sample(name);
    // The padding of the last row may be missing, and what says that run lengths end.
    for (std::size_t size = 0; size + 4 < whole.size(); ++size) {
      const Error error = refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      ASSERT_EQ(error.code(), ErrorCode::kImageUnreadable) << size;
    }
  }
  expect_unreadable(bmp({}, Bytes(35)), "this BMP picture is damaged: it is truncated");
  expect_unreadable(bytes_of("BM"), "this BMP picture is damaged: it is truncated");
  expect_unreadable(bmp({.offset = 55}, Bytes(36)), "truncated");
  expect_unreadable(bmp({.offset = 0xFFFFFFFF}, Bytes(36)), "truncated");
  expect_unreadable(bmp({.compression = 3, .offset = 0}, Bytes(11)), "truncated");
}

TEST_F(RefusalBmp, ClaimsAreCheckedByTheHeader) {
  DecodeOptions options;
  options.max_pixels = 11;
  const Error error = refusal(bmp({}, Bytes(36)), options);
  EXPECT_EQ(error.code(), ErrorCode::kImageTooLarge);
  EXPECT_TRUE(test::contains(error, "4x3 = 12 pixels"));
  EXPECT_TRUE(test::contains(error, "--max-pixels"));
  options.max_pixels = UINT64_MAX;
  for (const std::uint32_t compression : {0U, 1U, 2U, 3U}) {
    Fields fields{.width = 65000, .height = 65000, .compression = compression};
    if (compression == 1) fields.bits = 8;
    if (compression == 2) fields.bits = 4;
    EXPECT_EQ(refusal(bmp(fields, Bytes(2000))).code(), ErrorCode::kImageTooLarge);
    EXPECT_EQ(refusal(bmp(fields, Bytes(2000)), options).code(), ErrorCode::kImageUnreadable);
    fields.width = fields.height = 15000;
    EXPECT_EQ(refusal(bmp(fields, Bytes(2000))).code(), ErrorCode::kImageUnreadable);
    fields.width = fields.height = 0x7FFFFFFF;
    EXPECT_EQ(refusal(bmp(fields, Bytes(2000)), options).code(), ErrorCode::kImageUnreadable);
    fields.width = 0xFFFFFFFF;
    EXPECT_EQ(refusal(bmp(fields, Bytes(2000)), options).code(), ErrorCode::kImageUnreadable);
  }
  expect_unreadable(bmp({.width = 0}, Bytes(36)), "0x3");
  expect_unreadable(bmp({.height = 0}, Bytes(36)), "4x0");
}

TEST_F(RefusalBmp, RunLengthsCannotMakeMuchOfNothing) {
  // The end of the picture, skips, and ends of rows stand for any number of pixels.
  const Fields large{.width = 15000, .height = 15000, .bits = 8, .compression = 1, .colours = 1};
  for (const Bytes& step : {Bytes{0, 1}, Bytes{0, 2, 255, 255}, Bytes{0, 0}, Bytes{0, 0, 1, 0}}) {
    Bytes rest(4);
    for (int i = 0; i < 5000; ++i) rest.insert(rest.end(), step.begin(), step.end());
    expect_unreadable(bmp(large, rest), "15000x15000 pixels");
  }
  const Fields small{.width = 4000, .height = 4000, .bits = 8, .compression = 1, .colours = 1};
  EXPECT_EQ(decode_image(bmp(small, {9, 8, 7, 0, 0, 1})).rgb.back(), 9);
}

TEST_F(RefusalBmp, WhatIsNotReadIsNamed) {
  expect_unreadable(bmp({.header = 16}, Bytes(36)), "a header of 16 bytes");
  expect_unreadable(bmp({.header = 41}, Bytes(36)), "a header of 41 bytes");
  expect_unreadable(bmp({.bits = 3}, Bytes(36)), "3 bits a pixel");
  expect_unreadable(bmp({.bits = 48}, Bytes(360)), "48 bits a pixel");
  expect_unreadable(bmp({.compression = 4}, Bytes(36)), "a JPEG picture inside");
  expect_unreadable(bmp({.compression = 5}, Bytes(36)), "a PNG picture inside");
  expect_unreadable(bmp({.compression = 1}, Bytes(36)), "run lengths of 24 bits a pixel");
  expect_unreadable(bmp({.compression = 3}, Bytes(60)), "the masks 0, 0 and 0 for 24 bits a pixel");
  expect_unreadable(bmp({.compression = 77}, Bytes(36)), "the unknown compression 77");
  expect_unreadable(bmp({.compression = 77}, Bytes(36)), "convert it to JPEG or PNG");
  // Words that begin with the same letters.
  expect_unreadable(bytes_of("BMW and other makers of cars"), "looks like text");
}

}  // namespace
}  // namespace samlet
