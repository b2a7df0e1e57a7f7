#include "libs/engine/formats/coco.h"

#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "libs/engine/formats/test_support.h"
#include "samlet/error.h"

namespace samlet::formats {
namespace {

using Json = nlohmann::json;

std::string record_of(const std::vector<Mask>& masks) {
  return coco_record(picture_of(masks)).text;
}

Json segmentation(const Mask& mask, const CocoOptions& options) {
  const std::vector<std::string> records{record_of({mask})};
  return Json::parse(merge_coco(records, {"cat"}, options)).at("annotations").at(0).at("segmentation");
}

TEST(CocoRecord, IsReadBackAsItWas) {
  AnnotatedPicture picture = picture_of({drawn({"#.", ".#"}), drawn({"##", "##"})});
  picture.file_name = "sub/\"ü\"\n.jpg";
  picture.annotations[1] = {"a, \"b\"",         4,
                            0.1234567890123,    AnnotationKind::kObject,
                            {0.1, 0.2, 1.5, 2}, picture.annotations[1].mask};
  const AnnotatedPicture back = read_coco_record(coco_record(picture).text);
  EXPECT_EQ(back.file_name, picture.file_name);
  EXPECT_EQ(back.width, 2);
  EXPECT_EQ(back.height, 2);
  ASSERT_EQ(back.annotations.size(), 2U);
  EXPECT_EQ(back.annotations[0].mask.counts, picture.annotations[0].mask.counts);
  EXPECT_EQ(back.annotations[0].kind, AnnotationKind::kConcept);
  EXPECT_EQ(back.annotations[1].label, "a, \"b\"");
  EXPECT_EQ(back.annotations[1].category, 4U);
  EXPECT_EQ(back.annotations[1].score, 0.1234567890123);
  EXPECT_EQ(back.annotations[1].kind, AnnotationKind::kObject);
  EXPECT_EQ(back.annotations[1].box, (Box{0.1, 0.2, 1.5, 2}));
}

TEST(CocoRecord, LeavesOutEmptyMasksWithAWarning) {
  const Text record = coco_record(picture_of({drawn({".."}), drawn({"#."}), drawn({".."})}));
  EXPECT_EQ(read_coco_record(record.text).annotations.size(), 1U);
  EXPECT_EQ(record.warnings,
            (std::vector<std::string>{"'a.jpg': 2 of 3 instances have no pixel and are left out"}));
}

TEST(CocoRecord, RefusesEveryTextThatIsCutOff) {
  const std::string record = record_of({drawn({"#.", ".#"})});
  for (std::size_t length = 0; length < record.size(); ++length) {
    try {
      (void)read_coco_record(record.substr(0, length));
      FAIL() << "read " << length << " of " << record.size() << " characters";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo);
    }
  }
}

TEST(CocoRecord, RefusesWhatDoesNotFit) {
  const Json good = Json::parse(record_of({drawn({"#.", ".#"})}));
  EXPECT_NO_THROW((void)read_coco_record(good.dump()));
  const std::vector<std::pair<std::string, Json>> wrong{{"/samlet_record", 2},
                                                        {"/width", 3},
                                                        {"/width", -2},
                                                        {"/width", 1e300},
                                                        {"/width", 2.5},
                                                        {"/height", 0},
                                                        {"/file_name", 7},
                                                        {"/annotations", "none"},
                                                        {"/annotations/0", 1},
                                                        {"/annotations/0/label", nullptr},
                                                        {"/annotations/0/kind", "thing"},
                                                        {"/annotations/0/category", -1},
                                                        {"/annotations/0/score", "0.5"},
                                                        {"/annotations/0/box_xyxy", {1, 2, 3}},
                                                        {"/annotations/0/counts", "~"},
                                                        {"/annotations/0/counts", "4"}};
  for (const auto& [place, value] : wrong) {
    Json bad = good;
    bad[Json::json_pointer(place)] = value;
    try {
      (void)read_coco_record(bad.dump());
      ADD_FAILURE() << place << " = " << value.dump() << " was taken";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo) << place;
    }
  }
}

TEST(MergeCoco, WritesOnePictureExactly) {
  const std::vector<std::string> records{record_of({drawn({".#", ".#", ".."})})};
  EXPECT_EQ(
      merge_coco(records, {"cat", "\"dog\""}),
      "{\"info\":{\"description\":\"Made by samlet\"},\n\"licenses\":[],\n\"categories\":[\n"
      "{\"id\":1,\"name\":\"cat\",\"supercategory\":\"\"},\n"
      "{\"id\":2,\"name\":\"\\\"dog\\\"\",\"supercategory\":\"\"}\n],\n\"annotations\":[\n"
      "{\"id\":1,\"image_id\":1,\"category_id\":1,\"iscrowd\":0,\"area\":2,\"bbox\":[1,0,1,2],\"score\":0.9,"
      "\"segmentation\":{\"size\":[3,2],\"counts\":\"321\"}}\n],\n\"images\":[\n"
      "{\"id\":1,\"file_name\":\"a.jpg\",\"width\":2,\"height\":3}\n]}\n");
}

TEST(MergeCoco, OfNothingIsAFileWithoutAnything) {
  const Json json = Json::parse(merge_coco({}, {}));
  EXPECT_EQ(json.at("images"), Json::array());
  EXPECT_EQ(json.at("annotations"), Json::array());
  EXPECT_EQ(json.at("categories"), Json::array());
}

TEST(MergeCoco, NumbersWithoutGaps) {
  const std::vector<std::string> records{record_of({drawn({"#."}), drawn({".."}), drawn({".#"})}),
                                         record_of({drawn({".."})}), record_of({drawn({"##"})})};
  const Json json = Json::parse(merge_coco(records, {"cat"}));
  std::vector<int> ids;
  std::vector<int> images;
  for (const Json& annotation : json.at("annotations")) {
    ids.push_back(annotation.at("id"));
    images.push_back(annotation.at("image_id"));
  }
  EXPECT_EQ(ids, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(images, (std::vector<int>{1, 1, 3}));
  ASSERT_EQ(json.at("images").size(), 3U) << "a picture without instances is a picture too";
  EXPECT_EQ(json.at("images").at(2).at("id"), 3);
}

TEST(MergeCoco, WritesPolygonsWhereNoPartHasAHole) {
  const CocoOptions polygons{CocoSegmentation::kPolygons, 0};
  EXPECT_EQ(segmentation(drawn({"#.#"}), polygons),
            Json({{0, 1, 0, 0, 1, 0, 1, 1}, {2, 1, 2, 0, 3, 0, 3, 1}}));
  EXPECT_EQ(segmentation(drawn({"###", "#.#", "###"}), polygons).at("size"), Json({3, 3}));
  EXPECT_EQ(segmentation(drawn({"#.#"}), {}).at("size"), Json({1, 3}));
}

TEST(MergeCoco, SimplifiesPolygonsByTheTolerance) {
  const Mask stairs = drawn({"#...", "##..", "###.", "####"});
  EXPECT_EQ(segmentation(stairs, {CocoSegmentation::kPolygons, 0}).at(0).size(), 20U);
  EXPECT_LT(segmentation(stairs, {CocoSegmentation::kPolygons, 1}).at(0).size(), 12U);
}

TEST(MergeCoco, RefusesRecordsOfOtherPrompts) {
  const std::vector<std::string> records{record_of({drawn({"#"})})};
  for (const std::vector<std::string>& categories :
       {std::vector<std::string>{"dog"}, std::vector<std::string>{}}) {
    try {
      (void)merge_coco(records, categories);
      ADD_FAILURE() << "taken with " << categories.size() << " categories";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kIo);
      EXPECT_NE(std::string(error.what()).find("'cat'"), std::string::npos) << error.what();
    }
  }
}

TEST(CocoWriter, WritesEachPictureWhenItIsGiven) {
  std::string out;
  CocoWriter writer({"cat"}, {}, [&](std::string_view text) { out += text; });
  EXPECT_EQ(out, "");
  writer.add(record_of({drawn({"#"})}));
  EXPECT_NE(out.find(R"("id":1,"image_id":1)"), std::string::npos);
  writer.add(picture_of({drawn({"#"}), drawn({"#"})}));
  writer.finish();
  EXPECT_EQ(writer.pictures(), 2U);
  EXPECT_EQ(writer.annotations(), 3U);
  EXPECT_EQ(Json::parse(out).at("annotations").size(), 3U);
}

}  // namespace
}  // namespace samlet::formats
