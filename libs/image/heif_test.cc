// The boxes that samlet reads itself, and a machine without libheif or without its decoders.
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "libs/image/heif_boxes.h"
#include "libs/image/heif_codec.h"
#include "libs/image/heif_library.h"
#include "libs/image/test_support.h"
#include "samlet/image.h"

namespace samlet {
namespace {

using std::string_view_literals::operator""sv;
using test::Bytes;

Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

HeifBrand brand_of(std::string_view text) {
  return heif_brand(bytes_of(text));
}

TEST(HeifBrand, MajorOrCompatible) {
  EXPECT_EQ(brand_of("\0\0\0\x18"
                     "ftypheic\0\0\0\0mif1heic"sv),
            HeifBrand::kHeic);
  for (const std::string_view name : {"heic", "heix", "heim", "heis", "hevc", "hevx", "hevm", "hevs"}) {
    EXPECT_EQ(brand_of(std::string("\0\0\0\x10"
                                   "ftyp"sv) +
                       std::string(name) + std::string(4, '\0')),
              HeifBrand::kHeic);
  }
  EXPECT_EQ(brand_of("\0\0\0\x1C"
                     "ftypmif1\0\0\0\0miafheicmif1"sv),
            HeifBrand::kHeic);
  EXPECT_EQ(brand_of("\0\0\0\x18"
                     "ftypmsf1\0\0\0\0miafavis"sv),
            HeifBrand::kAvif);
  EXPECT_EQ(brand_of("\0\0\0\x14"
                     "ftypavif\0\0\0\0mif1"sv),
            HeifBrand::kAvif);
  EXPECT_EQ(brand_of("\0\0\0\x14"
                     "ftypmsf1\0\0\0\0miaf"sv),
            HeifBrand::kGeneric);
  EXPECT_EQ(brand_of("\0\0\0\x14"
                     "ftypmiaf\0\0\0\0mif1"sv),
            HeifBrand::kGeneric);
}

TEST(HeifBrand, SizesInOtherForms) {
  // In 64 bits, up to the end of the file, and cut short.
  EXPECT_EQ(brand_of("\0\0\0\1ftyp\0\0\0\0\0\0\0\x1Cheic\0\0\0\0mif1"sv), HeifBrand::kHeic);
  EXPECT_EQ(brand_of("\0\0\0\0ftypavif\0\0\0\0mif1"sv), HeifBrand::kAvif);
  EXPECT_EQ(brand_of("\0\0\1\0ftypavif\0\0\0\0"sv), HeifBrand::kAvif);
}

TEST(HeifBrand, OtherFilesOfThatFamily) {
  EXPECT_EQ(brand_of("\0\0\0\x18"
                     "ftypisom\0\0\0\0isommp41"sv),
            HeifBrand::kNone);
  EXPECT_EQ(brand_of("\0\0\0\x18"
                     "ftypcrx \0\0\0\1crx isom"sv),
            HeifBrand::kNone);
  EXPECT_EQ(brand_of("\0\0\0\7ftypheic\0\0\0\0"sv), HeifBrand::kNone);
  EXPECT_EQ(brand_of("\0\0\0\x10"
                     "fTypheic\0\0\0\0"sv),
            HeifBrand::kNone);
  EXPECT_EQ(brand_of(""sv), HeifBrand::kNone);
}

TEST(HeifBoxes, SizesThatTheCodecsSay) {
  const HeifBoxes heic = read_heif_boxes(test::sample("heic_brand_mif1.heif"));
  EXPECT_EQ(heic.item_type, "hvc1");
  EXPECT_FALSE(heic.truncated);
  EXPECT_FALSE(heic.grey);
  ASSERT_EQ(heic.coded.size(), 1U);
  EXPECT_EQ(heic.coded[0].width, 64U);  // x265 rounds up
  EXPECT_EQ(heic.coded[0].height, 64U);
  const HeifBoxes avif = read_heif_boxes(test::sample("avif_10_bits.heif"));
  EXPECT_EQ(avif.item_type, "av01");
  ASSERT_EQ(avif.coded.size(), 1U);
  EXPECT_EQ(avif.coded[0].width, 41U);
  EXPECT_EQ(avif.coded[0].height, 23U);
  ASSERT_EQ(avif.claimed.size(), 1U);
  EXPECT_EQ(avif.claimed[0].width, 41U);
}

TEST(HeifBoxes, SamplesOfASequence) {
  EXPECT_EQ(read_heif_boxes(test::sample("avif_sequence.heif")).samples, 3U);
  EXPECT_EQ(read_heif_boxes(test::sample("avif_10_bits.heif")).samples, 0U);
}

TEST(HeifBoxes, TruncationIsSeen) {
  Bytes bytes = test::sample("heic_444_RGB_7x9.heif");
  bytes.pop_back();
  EXPECT_TRUE(read_heif_boxes(bytes).truncated);
}

TEST(HeifLibrary, WithoutItTheErrorSaysWhatToInstall) {
  std::string problem;
  EXPECT_EQ(open_heif_library("libsamlet_no_such_heif.so.1", problem), nullptr);
  EXPECT_NE(problem.find("libsamlet_no_such_heif"), std::string::npos) << problem;
  const auto expect_advice = [&problem](const std::string& name, const std::string& words) {
    const Bytes bytes = test::sample(name);
    const Error error = test::error_of([&] { (void)decode_heif_with(nullptr, problem, bytes, {}); });
    EXPECT_EQ(error.code(), ErrorCode::kImageUnreadable);
    EXPECT_TRUE(test::contains(error, words));
    EXPECT_TRUE(test::contains(error, "libsamlet_no_such_heif"));
    EXPECT_TRUE(test::contains(error, "apt install libheif1 libheif-plugin-libde265 libheif-plugin-dav1d"));
  };
  expect_advice("heic_444_RGB_7x9.heif", "this is a HEIC picture, and libheif");
  expect_advice("avif_10_bits.heif", "this is an AVIF picture, and libheif");
}

TEST(HeifLibrary, ALibraryOfAnotherKindIsRefused) {
  std::string problem;
#ifdef __APPLE__
  EXPECT_EQ(open_heif_library("libz.dylib", problem), nullptr);
#else
  EXPECT_EQ(open_heif_library("libc.so.6", problem), nullptr);
#endif
  EXPECT_NE(problem.find("lacks functions"), std::string::npos) << problem;
}

/// A libheif whose decoders are not installed.
class Bare final : public HeifLibrary {
 public:
  [[nodiscard]] bool has_decoder(HeifCodec) const override { return false; }
  [[nodiscard]] std::unique_ptr<HeifFile> parse(std::span<const std::uint8_t>,
                                                std::string_view) const override {
    ADD_FAILURE() << "asked to parse without a decoder";
    return nullptr;
  }
};

TEST(HeifLibrary, WithoutADecoderTheErrorNamesItsPackage) {
  const Bare bare;
  const auto error_for = [&](const char* name) {
    return test::error_of([&] { (void)decode_heif_with(&bare, "", test::sample(name), DecodeOptions{}); });
  };
  EXPECT_TRUE(test::contains(error_for("heic_444_RGB_7x9.heif"), "apt install libheif-plugin-libde265"));
  EXPECT_TRUE(test::contains(error_for("avif_10_bits.heif"), "apt install libheif-plugin-dav1d"));
  EXPECT_EQ(error_for("avif_10_bits.heif").code(), ErrorCode::kImageUnreadable);
}

/// The build needs libheif on its machine; scripts/setup installs it with its decoders.
TEST(HeifLibrary, TheInstalledOneDecodesBoth) {
  std::string problem;
  const auto library = open_heif_library(kHeifLibraryName, problem);
  ASSERT_NE(library, nullptr) << problem;
  EXPECT_TRUE(library->has_decoder(HeifCodec::kHevc));
  EXPECT_TRUE(library->has_decoder(HeifCodec::kAv1));
}

}  // namespace
}  // namespace samlet
