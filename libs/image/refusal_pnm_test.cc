// PBM, PGM and PPM files that are damaged or lie: refused with the right code, quickly, in little memory.
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
using RefusalPnm = test::Refusal;

TEST_F(RefusalPnm, EveryTruncationIsAnError) {
  for (const char* name : {"pnm_3_7x9.pnm", "pnm_1_16_bits_7x9.pnm", "pnm_bits_7x9.pnm",
                           "pnm_1_plain_7x9.pnm", "pnm_bits_plain_7x9.pnm"}) {
    SCOPED_TRACE(name);
    const Bytes whole = test::sample(name);
    // The last line end of a plain picture may be missing, and digits of its last number are not missed.
    const std::size_t optional = whole[1] <= '3' ? 3 : 0;
    for (std::size_t size = 0; size + optional < whole.size(); ++size) {
      const Error error = refusal(Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      ASSERT_EQ(error.code(), ErrorCode::kImageUnreadable) << size;
    }
  }
  expect_unreadable(bytes_of("P6 2 2 255 12345678901"), "this PPM picture is damaged: it is truncated");
  expect_unreadable(bytes_of("P2 2 2 255 1 2 3"), "this PGM picture is damaged: it is truncated");
  expect_unreadable(bytes_of("P4 9 2 123"), "this PBM picture is damaged: it is truncated");
  expect_unreadable(bytes_of("P5 2"), "it is truncated: it ends in its header");
}

TEST_F(RefusalPnm, ClaimsAreCheckedByTheHeader) {
  DecodeOptions options;
  options.max_pixels = 5;
  const Error error = refusal(bytes_of("P5 3 2 255 123456"), options);
  EXPECT_EQ(error.code(), ErrorCode::kImageTooLarge);
  EXPECT_TRUE(test::contains(error, "3x2 = 6 pixels"));
  EXPECT_TRUE(test::contains(error, "--max-pixels"));
  for (const std::string_view head : {"P1 ", "P2 ", "P3 ", "P4 ", "P5 ", "P6 "}) {
    const std::string start(head);
    EXPECT_EQ(refusal(bytes_of(start + "70000 70000 255 1 2 3")).code(), ErrorCode::kImageTooLarge);
    EXPECT_EQ(refusal(bytes_of(start + "4294967295 4294967295 255 1")).code(), ErrorCode::kImageTooLarge);
    EXPECT_EQ(refusal(bytes_of(start + "99999999999999999999999 1 255 1")).code(), ErrorCode::kImageTooLarge);
    expect_unreadable(bytes_of(start + "15000 15000 255 1 2 3"), "truncated");
    expect_unreadable(bytes_of(start + "0 3 255 1 2 3"), "0x3");
    expect_unreadable(bytes_of(start + "3 0 255 1 2 3"), "3x0");
    options.max_pixels = UINT64_MAX;
    EXPECT_EQ(refusal(bytes_of(start + "4294967295 4294967295 255 1"), options).code(),
              ErrorCode::kImageUnreadable);
  }
}

TEST_F(RefusalPnm, ManyBytesThatAreNoPicture) {
  std::string text = "P3 1500 1000 255 ";
  text.append(9'000'000, ' ');
  expect_unreadable(bytes_of(text), "truncated: the data ends at row 0");
  std::string comment = "P2 2 2 255 #";
  comment.append(10'000'000, '#');
  expect_unreadable(bytes_of(comment), "truncated: the data ends at row 0");
  std::string digits = "P2 2 2 255 ";
  digits.append(10'000'000, '7');
  expect_unreadable(bytes_of(digits), "above its largest of 255");
}

TEST_F(RefusalPnm, WrongWords) {
  expect_unreadable(bytes_of("P6 -2 2 255 1234"), "its byte 3 should belong to a number");
  expect_unreadable(bytes_of("P5 2 2 0 1234"), "its largest value is 0");
  expect_unreadable(bytes_of("P5 2 2 65536 12345678"), "its largest value is 65536");
  expect_unreadable(bytes_of("P2 2 1 9 3 10"), "it has a value of 10 in row 0, above its largest of 9");
  expect_unreadable(bytes_of("P2 2 1 9 3 x0"), "should belong to a number");
  expect_unreadable(bytes_of("P1 2 1 0 2"), "is no 0 or 1");
  expect_unreadable(bytes_of("P7\nWIDTH 1\n"), "PAM picture");
  expect_unreadable(bytes_of("PF 1 1 -1.0 1234"), "floating-point numbers");
  expect_unreadable(bytes_of("Pf 1 1 -1.0 1234"), "convert it to JPEG or PNG");
}

}  // namespace
}  // namespace samlet
