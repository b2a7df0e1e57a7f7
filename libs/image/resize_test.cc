#include "libs/image/resize.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "libs/image/test_support.h"

namespace samlet {
namespace {

/// The same bytes as source() of tools/image/make_testdata.py.
Image make_source(const std::string& kind, std::uint64_t seed, int width, int height) {
  Image image{width, height, {}};
  image.rgb.resize(std::size_t{3} * static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
  for (std::size_t i = 0; i < image.rgb.size(); ++i) {
    auto h = static_cast<std::uint32_t>(i * 2654435761U + seed * 40503U);
    h ^= h >> 15;
    h *= 2246822519U;
    h ^= h >> 13;
    const auto byte = static_cast<std::uint8_t>(h >> 24);
    image.rgb[i] = byte;
    if (kind == "extremes") image.rgb[i] = (byte & 1) != 0 ? 255 : 0;
    if (kind == "white") image.rgb[i] = 255;
  }
  return image;
}

TEST(ResizeBilinear, EqualsPillowBitForBit) {
  std::ifstream cases(test::testdata() / "resize.txt");
  std::string kind, hash;
  std::uint64_t seed = 0;
  int width = 0, height = 0, new_width = 0, new_height = 0;
  int count = 0;
  while (cases >> kind >> seed >> width >> height >> new_width >> new_height >> hash) {
    const Image out = resize_bilinear(make_source(kind, seed, width, height), new_width, new_height);
    ASSERT_EQ(out.width, new_width);
    ASSERT_EQ(out.height, new_height);
    EXPECT_EQ(test::sha256(out.rgb), hash)
        << kind << ' ' << width << 'x' << height << " -> " << new_width << 'x' << new_height;
    ++count;
  }
  EXPECT_EQ(count, 114);
}

// A few values by hand (Pillow 13.0.0), for a failure that can be read.
TEST(ResizeBilinear, SmallValues) {
  const Image ramp{4, 1, {0, 10, 255, 40, 50, 255, 80, 90, 0, 120, 130, 0}};
  EXPECT_EQ(resize_bilinear(ramp, 2, 1).rgb, (std::vector<std::uint8_t>{29, 39, 219, 91, 101, 36}));
  const Image two{1, 2, {0, 0, 0, 100, 200, 255}};
  EXPECT_EQ(resize_bilinear(two, 1, 4).rgb,
            (std::vector<std::uint8_t>{0, 0, 0, 25, 50, 64, 75, 150, 191, 100, 200, 255}));
}

TEST(ResizeBilinear, RefusesImpossibleArguments) {
  const Image good{1, 1, {1, 2, 3}};
  const auto code = [](const Image& image, int width, int height) {
    return test::error_of([&] { (void)resize_bilinear(image, width, height); }).code();
  };
  EXPECT_EQ(code(good, 0, 1), ErrorCode::kInternal);
  EXPECT_EQ(code(good, 1, -1), ErrorCode::kInternal);
  EXPECT_EQ(code(Image{}, 1, 1), ErrorCode::kInternal);
  EXPECT_EQ(code(Image{2, 1, {1, 2, 3}}, 1, 1), ErrorCode::kInternal);
}

TEST(ToPlanes, SeparatesTheChannels) {
  const Image image{2, 2, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}};
  EXPECT_EQ(to_planes(image), (std::vector<std::uint8_t>{1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12}));
}

TEST(TestSupport, Sha256OfTheStandard) {
  EXPECT_EQ(test::sha256({'a', 'b', 'c'}),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace samlet
