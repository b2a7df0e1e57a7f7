// HEIC and AVIF files that are damaged or lie: refused with the right code, quickly, in little memory.
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
using RefusalHeif = test::Refusal;

constexpr const char* kHeic = "heic_brand_mif1.heif";  // 16x16, in a block of 64x64
constexpr const char* kAvif = "avif_10_bits.heif";     // 41x23

/// The file with other sides in its first ispe box.
Bytes claiming(const std::string& name, std::uint32_t width, std::uint32_t height) {
  Bytes bytes = test::sample(name);
  static constexpr std::string_view kBox = "ispe";
  const auto at = std::search(bytes.begin(), bytes.end(), kBox.begin(), kBox.end());
  if (bytes.end() - at < 16) {
    ADD_FAILURE() << "no ispe in " << name;
    return {};
  }
  for (int i = 0; i < 4; ++i) {
    at[8 + i] = static_cast<std::uint8_t>(width >> (24 - 8 * i));
    at[12 + i] = static_cast<std::uint8_t>(height >> (24 - 8 * i));
  }
  return bytes;
}

/// The file with one box under another name.
Bytes without(const std::string& name, std::string_view box) {
  Bytes bytes = test::sample(name);
  const auto at = std::search(bytes.begin(), bytes.end(), box.begin(), box.end());
  EXPECT_LT(at, bytes.end()) << box;
  if (at < bytes.end()) *at = 'x';
  return bytes;
}

TEST_F(RefusalHeif, TooManyPixelsAreRefusedByTheHeader) {
  DecodeOptions options;
  options.max_pixels = 942;  // 41 x 23 - 1
  const Error error = refusal(test::sample(kAvif), options);
  EXPECT_EQ(error.code(), ErrorCode::kImageTooLarge);
  EXPECT_TRUE(test::contains(error, "41x23 = 943 pixels"));
  EXPECT_TRUE(test::contains(error, "--max-pixels"));
  EXPECT_EQ(refusal(claiming(kHeic, 60000, 60000)).code(), ErrorCode::kImageTooLarge);
  EXPECT_EQ(refusal(claiming(kAvif, 0xFFFFFFFF, 0xFFFFFFFF)).code(), ErrorCode::kImageTooLarge);
}

TEST_F(RefusalHeif, LyingHeadersAreRefusedBeforeMemoryIsTaken) {
  for (const char* name : {kHeic, kAvif}) {
    expect_unreadable(claiming(name, 15000, 15000), "can hold next to nothing");
    expect_unreadable(claiming(name, 4000, 4000), "of which its header says nothing");
    expect_unreadable(claiming(name, 0, 23), "0x23");
  }
  DecodeOptions options;
  options.max_pixels = UINT64_MAX;
  EXPECT_EQ(refusal(claiming(kAvif, 0xFFFFFFFF, 0xFFFFFFFF), options).code(), ErrorCode::kImageUnreadable);
}

TEST_F(RefusalHeif, EveryTruncationIsAnError) {
  for (const char* name : {kHeic, kAvif}) {
    SCOPED_TRACE(name);
    const Bytes whole = test::sample(name);
    for (std::size_t size = 0; size < whole.size(); ++size) {
      const Bytes part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
      ASSERT_EQ(refusal(part).code(), ErrorCode::kImageUnreadable) << size;
    }
    Bytes most = whole;
    most.resize(whole.size() * 2 / 3);
    expect_unreadable(most, "picture is damaged: it is truncated");
  }
}

TEST_F(RefusalHeif, MissingBoxes) {
  for (const char* name : {kHeic, kAvif}) {
    for (const char* box : {"meta", "pitm", "iloc", "iinf", "iprp", "ipco", "ipma"}) {
      const Error error = refusal(without(name, box));
      EXPECT_EQ(error.code(), ErrorCode::kImageUnreadable) << box << ": " << error.what();
    }
  }
}

TEST_F(RefusalHeif, FlippedBytesAreAPictureOrAnError) {
  for (const char* name : {kHeic, kAvif})
    EXPECT_GT(test::refused_of_flipped(test::sample(name), 0x55), 100) << name;
}

TEST_F(RefusalHeif, BrandsWithoutAPicture) {
  expect_unreadable(bytes_of("\0\0\0\x18"
                             "ftypheic\0\0\0\0mif1heic"sv),
                    "this HEIC picture is damaged");
  expect_unreadable(bytes_of("\0\0\0\x18"
                             "ftypmsf1\0\0\0\0mif1avis"sv),
                    "this AVIF picture is damaged");
  expect_unreadable(bytes_of("\0\0\0\x14"
                             "ftypmif1\0\0\0\0miaf"sv),
                    "this HEIF picture");
}

// libheif decodes what a picture is made of to any depth: each of these ended the program, or did not end.
TEST_F(RefusalHeif, PicturesMadeOfThemselves) {
  for (const char* name :
       {"heic_iden_of_itself", "heic_grids_of_each_other", "heic_overlay_tree", "heic_overlay_of_nothing"}) {
    SCOPED_TRACE(name);
    expect_unreadable(test::read_bytes(test::testdata() / "corpus" / "decode_image" / name), "circle");
  }
}

}  // namespace
}  // namespace samlet
