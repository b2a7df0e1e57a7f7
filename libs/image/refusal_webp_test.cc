// WebP files that are damaged or lie: refused with the right code, quickly, in little memory.
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
using RefusalWebp = test::Refusal;

void append_le(Bytes& out, std::uint32_t value, int count) {
  for (int i = 0; i < count; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

void append(Bytes& out, const Bytes& more) {
  out.insert(out.end(), more.begin(), more.end());
}

Bytes chunk(std::string_view name, const Bytes& data) {
  Bytes bytes = bytes_of(name);
  append_le(bytes, static_cast<std::uint32_t>(data.size()), 4);
  append(bytes, data);
  if (data.size() % 2 != 0) bytes.push_back(0);
  return bytes;
}

Bytes riff(const Bytes& chunks) {
  Bytes bytes = bytes_of("RIFF");
  append_le(bytes, static_cast<std::uint32_t>(chunks.size() + 4), 4);
  append(bytes, bytes_of("WEBP"));
  append(bytes, chunks);
  return bytes;
}

constexpr std::uint8_t kAnimation = 2;

Bytes extended(std::uint8_t flags, std::uint32_t width, std::uint32_t height) {
  Bytes data{flags, 0, 0, 0};
  append_le(data, width - 1, 3);
  append_le(data, height - 1, 3);
  return chunk("VP8X", data);
}

/// The picture's chunk of a plain file.
Bytes picture_of(const std::string& name) {
  Bytes bytes = test::sample(name);
  bytes.erase(bytes.begin(), bytes.begin() + 12);
  return bytes;
}

/// An ANMF chunk in the canvas' corner.
Bytes frame(const Bytes& picture, std::uint32_t width, std::uint32_t height) {
  Bytes data(6, 0);
  append_le(data, width - 1, 3);
  append_le(data, height - 1, 3);
  append_le(data, 100, 4);  // duration and flags
  append(data, picture);
  return chunk("ANMF", data);
}

Bytes lossy_claiming(std::uint32_t width, std::uint32_t height) {
  Bytes bytes = test::sample("webp_RGB_lossy_7x9.webp");
  bytes[26] = static_cast<std::uint8_t>(width);
  bytes[27] = static_cast<std::uint8_t>(width >> 8);
  bytes[28] = static_cast<std::uint8_t>(height);
  bytes[29] = static_cast<std::uint8_t>(height >> 8);
  return bytes;
}

Bytes lossless_claiming(std::uint32_t width, std::uint32_t height) {
  Bytes bytes = test::sample("webp_RGB_lossless_7x9.webp");
  const std::uint32_t sides = (width - 1) | (height - 1) << 14;
  for (std::size_t i = 0; i < 4; ++i) bytes[21 + i] = static_cast<std::uint8_t>(sides >> (8 * i));
  return bytes;
}

TEST_F(RefusalWebp, TooManyPixelsAreRefusedByTheHeader) {
  DecodeOptions options;
  options.max_pixels = 62;
  for (const char* name :
       {"webp_RGB_lossy_7x9.webp", "webp_RGB_lossless_7x9.webp", "webp_RGBA_lossy_7x9.webp"}) {
    const Error error = refusal(test::sample(name), options);
    EXPECT_EQ(error.code(), ErrorCode::kImageTooLarge);
    EXPECT_TRUE(test::contains(error, "7x9 = 63 pixels"));
    EXPECT_TRUE(test::contains(error, "--max-pixels"));
  }
  // Even when nothing but the header is there.
  Bytes header = riff(extended(0, 1U << 24, 1U << 24));
  EXPECT_EQ(refusal(header).code(), ErrorCode::kImageTooLarge);
  options.max_pixels = UINT64_MAX;
  EXPECT_EQ(refusal(header, options).code(), ErrorCode::kImageUnreadable);
}

TEST_F(RefusalWebp, LyingHeadersAreRefusedBeforeMemoryIsTaken) {
  expect_unreadable(lossy_claiming(15000, 15000), "can only hold a flat colour");
  expect_unreadable(lossy_claiming(4096, 4096),
                    "truncated: a picture of 4096x4096 needs at least 24576 bytes");
  expect_unreadable(lossless_claiming(15000, 15000), "can only hold a flat colour");
  expect_unreadable(lossless_claiming(4096, 4096), "damaged");
  expect_unreadable(riff(extended(0, 8, 9)), "contradict");
  Bytes other = extended(0, 8, 9);
  append(other, picture_of("webp_RGB_lossy_7x9.webp"));
  expect_unreadable(riff(other), "contradict");
}

TEST_F(RefusalWebp, ASpeckOnAHugeCanvas) {
  Bytes chunks = extended(kAnimation, 16000, 15000);
  append(chunks, chunk("ANIM", Bytes(6, 0)));
  append(chunks, frame(picture_of("webp_RGB_lossy_7x9.webp"), 7, 9));
  expect_unreadable(riff(chunks), "16000x15000");
}

TEST_F(RefusalWebp, ManyFramesAreCountedQuickly) {
  Bytes chunks = extended(kAnimation, 7, 9);
  append(chunks, chunk("ANIM", Bytes(6, 0)));
  const Bytes one = frame(picture_of("webp_RGB_lossless_1x1.webp"), 1, 1);
  constexpr std::uint64_t kFrames = 50000;
  for (std::uint64_t i = 0; i < kFrames; ++i) append(chunks, one);
  const Picture picture = decode_picture(riff(chunks));
  EXPECT_EQ(picture.info.frames, kFrames);
  EXPECT_EQ(picture.image.width, 7);
}

TEST_F(RefusalWebp, ZeroSides) {
  expect_unreadable(lossy_claiming(0, 9), "0x9");
  expect_unreadable(lossy_claiming(7, 0), "7x0");
}

TEST_F(RefusalWebp, EveryTruncationIsAnError) {
  for (const char* name : {"webp_RGB_lossy_7x9.webp", "webp_RGBA_lossless_7x9.webp", "webp_exif_6.webp",
                           "webp_animation_offset_1.webp"}) {
    SCOPED_TRACE(name);
    const Bytes whole = test::sample(name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      const Error error = refusal(part);
      ASSERT_EQ(error.code(), ErrorCode::kImageUnreadable) << size;
      if (size >= 12) {
        ASSERT_TRUE(test::contains(error, "this WebP picture is damaged: it is truncated")) << size;
      }
    }
  }
}

TEST_F(RefusalWebp, DataThatEndsEarlyInAWholeContainer) {
  const Bytes lossy = picture_of("webp_RGB_lossy_7x9.webp");
  const Bytes lossless = picture_of("webp_RGB_lossless_7x9.webp");
  for (const int eighths : {3, 4, 5, 6}) {
    const auto part = [&](const Bytes& whole) {
      return Bytes(whole.begin() + 8,
                   whole.begin() + static_cast<std::ptrdiff_t>(whole.size()) * eighths / 8);
    };
    expect_unreadable(riff(chunk("VP8 ", part(lossy))), "this WebP picture is damaged");
    expect_unreadable(riff(chunk("VP8L", part(lossless))), "this WebP picture is damaged");
  }
}

TEST_F(RefusalWebp, UnknownForms) {
  expect_unreadable(riff(chunk("VP9 ", Bytes(20, 0))), "its first chunk is 'VP9 '");
  expect_unreadable(bytes_of("RIFF\4\0\0\0WEBP"sv), "truncated");
  expect_unreadable(riff(chunk("VP8 ", Bytes(40, 0xAA))), "contradict");
}

}  // namespace
}  // namespace samlet
