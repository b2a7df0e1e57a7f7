#include "libs/engine/formats/yolo.h"

#include <gtest/gtest.h>

#include "libs/engine/formats/test_support.h"

namespace samlet::formats {
namespace {

TEST(YoloSegments, AreFractionsOfTheSides) {
  AnnotatedPicture picture = picture_of({drawn({"....", ".##.", "....", "...."})});
  picture.annotations[0].category = 7;
  const Text text = yolo_segments(picture);
  EXPECT_EQ(text.text, "7 0.250000 0.500000 0.250000 0.250000 0.750000 0.250000 0.750000 0.500000\n");
  EXPECT_TRUE(text.warnings.empty());
}

TEST(YoloSegments, OfABorderEndAtOne) {
  EXPECT_EQ(yolo_segments(picture_of({drawn({"#"})})).text,
            "0 0.000000 1.000000 0.000000 0.000000 1.000000 0.000000 1.000000 1.000000\n");
}

TEST(YoloSegments, JoinPartsIntoOneLine) {
  const Text text = yolo_segments(picture_of({drawn({"#.#."})}));
  EXPECT_EQ(
      text.text,
      "0 0.250000 0.000000 0.500000 0.000000 0.750000 0.000000 0.750000 1.000000 0.500000 1.000000 0.500000 "
      "0.000000 0.250000 0.000000 0.250000 1.000000 0.000000 1.000000 0.000000 0.000000\n");
  EXPECT_TRUE(text.warnings.empty()) << "nothing is lost";
}

TEST(YoloSegments, GivePartsALineEachWhenAsked) {
  const Text text = yolo_segments(picture_of({drawn({"#.#."})}), {YoloParts::kSeparate, 0});
  EXPECT_EQ(text.text,
            "0 0.000000 1.000000 0.000000 0.000000 0.250000 0.000000 0.250000 1.000000\n"
            "0 0.500000 1.000000 0.500000 0.000000 0.750000 0.000000 0.750000 1.000000\n");
  EXPECT_EQ(text.warnings,
            (std::vector<std::string>{"'a.jpg': instance 1 (cat) is in 2 parts, each on its own line: "
                                      "YOLO will take them for 2 instances"}));
}

TEST(YoloSegments, FillHolesAndSayHowMuch) {
  const Text text = yolo_segments(picture_of({drawn({"####", "#..#", "####", "####"})}));
  EXPECT_EQ(text.text, "0 0.000000 1.000000 0.000000 0.000000 1.000000 0.000000 1.000000 1.000000\n");
  EXPECT_EQ(text.warnings,
            (std::vector<std::string>{"'a.jpg': instance 1 (cat) has holes, which YOLO's format cannot "
                                      "say: they are filled, 2 pixels more than its 14"}));
}

TEST(YoloSegments, CountAnIslandInAHoleOnce) {
  const Text text = yolo_segments(picture_of({drawn({"#####", "#...#", "#.#.#", "#...#", "#####"})}));
  EXPECT_EQ(text.text, "0 0.000000 1.000000 0.000000 0.000000 1.000000 0.000000 1.000000 1.000000\n");
  ASSERT_EQ(text.warnings.size(), 1U);
  EXPECT_NE(text.warnings[0].find("8 pixels more than its 17"), std::string::npos) << text.warnings[0];
}

TEST(YoloBoxes, AreCentreAndSizeOfTheMask) {
  const Text text = yolo_boxes(
      picture_of({drawn({"....", ".##.", "....", "...."}), drawn({"....", "....", "....", "...."})}));
  EXPECT_EQ(text.text, "0 0.500000 0.375000 0.500000 0.250000\n");
  EXPECT_EQ(text.warnings.size(), 1U);
}

TEST(YoloDataYaml, QuotesNames) {
  const std::vector<std::string> names{"cat", "a: \"b\" \\ # c\n", "\xC3\xBC \xF0\x9F\x98\x80\xE2\x80\xA8"};
  EXPECT_EQ(yolo_data_yaml(names, {"/data", "a/images", "b/images"}),
            "path: \"/data\"\ntrain: \"a/images\"\nval: \"b/images\"\nnc: 3\nnames:\n  0: \"cat\"\n"
            "  1: \"a: \\\"b\\\" \\\\ # c\\u000A\"\n  2: \"\xC3\xBC \xF0\x9F\x98\x80\\u2028\"\n");
  EXPECT_EQ(yolo_data_yaml({}), "path: \".\"\ntrain: \"images\"\nval: \"images\"\nnc: 0\nnames: {}\n");
}

}  // namespace
}  // namespace samlet::formats
