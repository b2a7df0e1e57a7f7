#include "libs/engine/formats/pictures.h"

#include <random>

#include <gtest/gtest.h>

#include "libs/engine/formats/test_support.h"
#include "samlet/error.h"

namespace samlet::formats {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// The grey values of an 8-bit PNG.
Bytes grey_of(const Bytes& png) {
  const Image image = decode_image(png);
  Bytes grey;
  for (std::size_t i = 0; i < image.rgb.size(); i += 3) grey.push_back(image.rgb[i]);
  return grey;
}

TEST(InstanceMaskPng, Is255WhereSet) {
  EXPECT_EQ(grey_of(instance_mask_png(drawn({"#.", ".#", "##"}))), (Bytes{255, 0, 0, 255, 255, 255}));
  EXPECT_EQ(grey_of(instance_mask_png(drawn({"#"}))), Bytes{255});
  EXPECT_EQ(grey_of(instance_mask_png(drawn({".."}))), (Bytes{0, 0}));
}

TEST(LabelMap, HoldsTheNumbersOfInstances) {
  const LabelMap map =
      label_map(picture_of({drawn({"#..", "..."}), drawn({"...", "..."}), drawn({"..#", ".##"})}));
  EXPECT_EQ(grey_of(map.png), (Bytes{1, 0, 3, 0, 3, 3}));
  EXPECT_EQ(map.bits, 8);
  EXPECT_EQ(map.hidden_pixels, 0U);
  EXPECT_EQ(map.warnings,
            (std::vector<std::string>{"'a.jpg': 1 of 3 instances has no pixel and is left out"}));
}

TEST(LabelMap, ShowsTheBetterScoreWhereInstancesOverlap) {
  AnnotatedPicture picture = picture_of({drawn({"##.."}), drawn({".##."}), drawn({"..##"})});
  picture.annotations[1].score = 0.95;
  const LabelMap map = label_map(picture);
  EXPECT_EQ(grey_of(map.png), (Bytes{1, 2, 2, 3}));
  EXPECT_EQ(map.hidden_pixels, 2U);
  ASSERT_EQ(map.warnings.size(), 1U);
  EXPECT_NE(map.warnings[0].find("2 of 6 pixels are hidden"), std::string::npos) << map.warnings[0];
}

TEST(LabelMap, ShowsTheEarlierOneOfEqualScores) {
  EXPECT_EQ(grey_of(label_map(picture_of({drawn({"##."}), drawn({".##"})})).png), (Bytes{1, 1, 2}));
}

TEST(LabelMap, HasSixteenBitsFrom256Instances) {
  Mask one = drawn({"#."});
  EXPECT_EQ(label_map(picture_of(std::vector<Mask>(255, one))).bits, 8);
  std::vector<Mask> masks(255, one);
  masks.push_back(drawn({".#"}));
  const LabelMap map = label_map(picture_of(masks));
  EXPECT_EQ(map.bits, 16);
  EXPECT_EQ(map.png.at(24), 16);
  EXPECT_EQ(map.hidden_pixels, 254U);
  EXPECT_EQ(grey_of(map.png), (Bytes{0, 1})) << "1 and 256 of 65535, cut to eight bits";
}

TEST(LabelMap, RefusesMasksOfAnotherSize) {
  AnnotatedPicture picture = picture_of({drawn({"##"})});
  picture.height = 2;
  EXPECT_THROW((void)label_map(picture), Error);
  picture.height = 0;
  EXPECT_THROW((void)label_map(picture), Error);
}

Image numbered(int width, int height) {
  Image image{width, height, {}};
  for (int i = 0; i < 3 * width * height; ++i) image.rgb.push_back(static_cast<std::uint8_t>(i + 1));
  return image;
}

TEST(Cutout, ShowsTheThingAndNothingElse) {
  const auto cutout = cutout_png(numbered(3, 2), drawn({".#.", "..#"}), CutoutFrame::kTight);
  ASSERT_TRUE(cutout);
  EXPECT_EQ(cutout->box, (PixelBox{1, 0, 2, 2}));
  EXPECT_EQ(decode_image(cutout->png).rgb, (Bytes{4, 5, 6, 0, 0, 0, 0, 0, 0, 16, 17, 18}));
  EXPECT_EQ(cutout->png.at(25), 6) << "colours with alpha";
}

TEST(Cutout, OfTheWholePictureHasItsSize) {
  const auto cutout = cutout_png(numbered(3, 1), drawn({".#."}), CutoutFrame::kWhole);
  ASSERT_TRUE(cutout);
  EXPECT_EQ(cutout->box, (PixelBox{0, 0, 3, 1}));
  EXPECT_EQ(decode_image(cutout->png).rgb, (Bytes{0, 0, 0, 4, 5, 6, 0, 0, 0}));
}

TEST(Cutout, IsNoneForAnEmptyMaskAndRefusesAnotherSize) {
  EXPECT_FALSE(cutout_png(numbered(2, 1), drawn({".."}), CutoutFrame::kTight));
  EXPECT_FALSE(cutout_png(numbered(2, 1), drawn({".."}), CutoutFrame::kWhole));
  EXPECT_THROW((void)cutout_png(numbered(2, 1), drawn({"#", "#"}), CutoutFrame::kTight), Error);
}

}  // namespace
}  // namespace samlet::formats
