// GIF files that are damaged or lie: refused with the right code, quickly, in little memory.
#include <algorithm>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "libs/image/test_refusal.h"
#include "samlet/image.h"

namespace samlet {
namespace {

using std::string_view_literals::operator""sv;
using test::Bytes;
using test::bytes_of;
using test::expect_unreadable;
using test::refusal;
using RefusalGif = test::Refusal;

void append(Bytes& out, std::string_view more) {
  out.insert(out.end(), more.begin(), more.end());
}

void append_u16(Bytes& out, std::uint32_t value) {
  out.push_back(static_cast<std::uint8_t>(value));
  out.push_back(static_cast<std::uint8_t>(value >> 8));
}

/// The screen without a palette.
Bytes screen(std::uint32_t width, std::uint32_t height) {
  Bytes gif = bytes_of("GIF89a");
  append_u16(gif, width);
  append_u16(gif, height);
  append(gif, "\0\0\0"sv);
  return gif;
}

/// The descriptor of a picture in the corner, and the code size.
void append_frame(Bytes& gif, std::uint32_t width, std::uint32_t height, std::uint8_t code_bits = 8) {
  append(gif, ",\0\0\0\0"sv);
  append_u16(gif, width);
  append_u16(gif, height);
  gif.push_back(0);
  gif.push_back(code_bits);
}

/// One pixel of index 1: clear, 1, end, in nine bits each.
constexpr std::string_view kOnePixel{"\4\0\3\4\4\0", 6};

TEST_F(RefusalGif, TheSmallestPicture) {
  Bytes gif = screen(1, 1);
  append_frame(gif, 1, 1);
  append(gif, kOnePixel);
  EXPECT_EQ(decode_image(gif).rgb, (Bytes{1, 1, 1}));
}

TEST_F(RefusalGif, TooManyPixelsAreRefusedByTheHeader) {
  DecodeOptions options;
  options.max_pixels = 116;  // 13 x 9 - 1
  const Error error = refusal(test::sample("gif_palette_none.gif"), options);
  EXPECT_EQ(error.code(), ErrorCode::kImageTooLarge);
  EXPECT_TRUE(test::contains(error, "13x9 = 117 pixels"));
  EXPECT_TRUE(test::contains(error, "--max-pixels"));
  // By the screen, and by a picture that enlarges it.
  Bytes large = screen(65535, 65535);
  append_frame(large, 1, 1);
  append(large, kOnePixel);
  EXPECT_EQ(refusal(large).code(), ErrorCode::kImageTooLarge);
  Bytes frame = screen(1, 1);
  append_frame(frame, 65535, 65535);
  append(frame, kOnePixel);
  EXPECT_EQ(refusal(frame).code(), ErrorCode::kImageTooLarge);
  options.max_pixels = UINT64_MAX;
  EXPECT_EQ(refusal(large, options).code(), ErrorCode::kImageUnreadable);
  EXPECT_EQ(refusal(frame, options).code(), ErrorCode::kImageUnreadable);
}

TEST_F(RefusalGif, LyingHeadersAreRefusedBeforeMemoryIsTaken) {
  Bytes speck = screen(15000, 15000);
  append_frame(speck, 1, 1);
  append(speck, kOnePixel);
  expect_unreadable(speck, "can hold next to nothing");
  Bytes frame = screen(1, 1);
  append_frame(frame, 4000, 4000);
  append(frame, kOnePixel);
  expect_unreadable(frame, "truncated: a picture of 4000x4000 cannot be in 6 bytes");
}

TEST_F(RefusalGif, BombsCostNoMoreThanTheirPixels) {
  // Longer and longer strings of index 0: the densest that LZW can be, far more than the picture's own
  // pixels.
  Bytes gif = screen(3, 2);
  append_frame(gif, 3, 2);
  std::uint64_t held = 256;
  int bits = 9;
  unsigned code_bits = 9;
  Bytes data;
  for (unsigned code = 257; code < 4095; ++code) {
    held |= std::uint64_t{code == 257 ? 0 : code} << bits;
    bits += static_cast<int>(code_bits);
    for (; bits >= 8; bits -= 8, held >>= 8) data.push_back(static_cast<std::uint8_t>(held));
    if (code + 1 == 1U << code_bits) ++code_bits;
  }
  for (std::size_t at = 0; at + 200 < data.size(); at += 200) {
    gif.push_back(200);
    gif.insert(gif.end(), data.begin() + static_cast<std::ptrdiff_t>(at),
               data.begin() + static_cast<std::ptrdiff_t>(at) + 200);
  }
  EXPECT_EQ(decode_image(gif).rgb, Bytes(18, 0));
}

TEST_F(RefusalGif, ZeroSides) {
  for (const auto& [width, height, words] : {std::tuple{0U, 9U, "0x9"}, {9U, 0U, "9x0"}}) {
    Bytes gif = screen(9, 9);
    append_frame(gif, width, height);
    append(gif, kOnePixel);
    expect_unreadable(gif, words);
  }
}

TEST_F(RefusalGif, EveryTruncationIsAnError) {
  for (const char* name :
       {"gif_palette_none.gif", "gif_offset_local_transparent_1.gif", "gif_extensions.gif"}) {
    SCOPED_TRACE(name);
    const Bytes whole = test::sample(name);
    // The end marks of the data and of the file may be missing.
    for (std::size_t size = 0; size + 2 < whole.size(); ++size) {
      const Error error = refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      ASSERT_EQ(error.code(), ErrorCode::kImageUnreadable) << size;
      if (size >= 6) {
        ASSERT_TRUE(test::contains(error, "this GIF picture is damaged: it is truncated")) << size;
      }
    }
  }
}

TEST_F(RefusalGif, ManyFramesAreCountedQuickly) {
  Bytes gif = screen(1, 1);
  constexpr std::uint64_t kFrames = 200'000;
  for (std::uint64_t i = 0; i < kFrames; ++i) {
    append_frame(gif, 1, 1);
    append(gif, kOnePixel);
  }
  EXPECT_EQ(decode_picture(gif).info.frames, kFrames);
  // A frame of which only the beginning is there does not count; blocks that go on for ever end with the
  // file.
  append(gif, ",\0\0\0\0");
  EXPECT_EQ(decode_picture(gif).info.frames, kFrames);
  gif = screen(1, 1);
  append_frame(gif, 1, 1);
  append(gif, kOnePixel);
  append(gif, "!\xFE"sv);
  gif.insert(gif.end(), 1'000'000, 1);
  EXPECT_EQ(decode_picture(gif).info.frames, 1U);
}

TEST_F(RefusalGif, ImpossibleCodes) {
  Bytes first = screen(2, 2);
  append_frame(first, 2, 2);
  append(first, "\4\0\x59\6\4\0"sv);  // clear, 300, ...
  expect_unreadable(first, "impossible code after 0 of 4 pixels");
  Bytes wide = screen(2, 2);
  append_frame(wide, 2, 2, 9);
  append(wide, kOnePixel);
  expect_unreadable(wide, "codes have 9 bits");
  Bytes none = screen(2, 2);
  append(none, ";");
  expect_unreadable(none, "holds no picture");
}

TEST_F(RefusalGif, FlippedBytesAreAPictureOrAnError) {
  EXPECT_GT(test::refused_of_flipped(test::sample("gif_offset_local_transparent_1.gif"), 0xA5), 10);
}

}  // namespace
}  // namespace samlet
