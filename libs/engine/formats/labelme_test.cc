#include "libs/engine/formats/labelme.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "libs/engine/formats/base64.h"
#include "libs/engine/formats/test_support.h"
#include "samlet/image.h"

namespace samlet::formats {
namespace {

using Json = nlohmann::json;

Json shapes(const Text& text) {
  return Json::parse(text.text).at("shapes");
}

TEST(Base64, IsThatOfTheStandard) {
  const auto of = [](std::string_view text) {
    return base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  // RFC 4648, section 10.
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(of("f"), "Zg==");
  EXPECT_EQ(of("fo"), "Zm8=");
  EXPECT_EQ(of("foo"), "Zm9v");
  EXPECT_EQ(of("foob"), "Zm9vYg==");
  EXPECT_EQ(of("\xFF\xFE\xFD"), "//79");
}

TEST(Labelme, WritesAFileExactly) {
  EXPECT_EQ(
      labelme_json(picture_of({drawn({"...", ".#."})})).text,
      "{\"version\":\"6.3.1\",\"flags\":{},\"shapes\":[\n"
      "{\"label\":\"cat\",\"description\":\"{\\\"score\\\": 0.9, \\\"text\\\": \\\"cat\\\"}\",\"flags\":{},"
      "\"group_id\":null,\"shape_type\":\"polygon\",\"points\":[[1,1.99],[1,1],[1.99,1],[1.99,1.99]]}\n"
      "],\"imagePath\":\"a.jpg\",\"imageData\":null,\"imageHeight\":2,\"imageWidth\":3}\n");
}

TEST(Labelme, GroupsThePartsOfAnInstance) {
  const Json found = shapes(labelme_json(picture_of({drawn({"#..."}), drawn({"#.#."}), drawn({".#.#"})})));
  ASSERT_EQ(found.size(), 5U);
  EXPECT_EQ(found[0].at("group_id"), nullptr);
  EXPECT_EQ(found[1].at("group_id"), 2);
  EXPECT_EQ(found[2].at("group_id"), 2);
  EXPECT_EQ(found[3].at("group_id"), 3);
}

/// Undoes base64, the plain way.
std::vector<std::uint8_t> from_base64(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = (bits << 6) | static_cast<std::uint32_t>(letters.find(c));
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes.push_back(static_cast<std::uint8_t>((bits >> count) & 0xFF));
  }
  return bytes;
}

TEST(Labelme, WritesAMaskWhereThereIsAHole) {
  const Json found = shapes(labelme_json(picture_of({drawn({".....", ".###.", ".#.#.", ".###."})})));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at("shape_type"), "mask");
  EXPECT_EQ(found[0].at("points"), Json({{1, 1}, {3, 3}})) << "the last pixel belongs to it";
  const Image mask = decode_image(from_base64(found[0].at("mask")));
  ASSERT_EQ(mask.width, 3);
  ASSERT_EQ(mask.height, 3);
  for (std::size_t i = 0; i < 9; ++i) EXPECT_EQ(mask.rgb[3 * i], i == 4 ? 0 : 1);
}

TEST(Labelme, WritesMasksOnlyWhenAsked) {
  const Json found = shapes(labelme_json(picture_of({drawn({"#.#"})}), {LabelmeShapes::kMasks, 0}));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at("shape_type"), "mask");
  EXPECT_EQ(found[0].at("points"), Json({{0, 0}, {2, 0}}));
}

TEST(Labelme, LeavesOutEmptyMasksWithAWarning) {
  const Text text = labelme_json(picture_of({drawn({".."})}));
  EXPECT_EQ(shapes(text), Json::array());
  EXPECT_EQ(text.warnings,
            (std::vector<std::string>{"'a.jpg': 1 of 1 instance has no pixel and is left out"}));
}

TEST(Labelme, SimplifiesByTheTolerance) {
  const auto corners = [](double tolerance) {
    const Mask stairs = drawn({"#...", "##..", "###.", "####"});
    return shapes(labelme_json(picture_of({stairs}), {LabelmeShapes::kPolygons, tolerance}))[0]
        .at("points")
        .size();
  };
  EXPECT_EQ(corners(0), 10U);
  EXPECT_LT(corners(1), 6U);
}

}  // namespace
}  // namespace samlet::formats
