#include "libs/engine/formats/geojson.h"

#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "libs/engine/formats/test_support.h"
#include "samlet/error.h"

namespace samlet::formats {
namespace {

using Json = nlohmann::json;

Json polygons(const Text& text) {
  return Json::parse(text.text).at("features").at(0).at("geometry").at("coordinates");
}

/// Twice the area; positive when the ring runs counter-clockwise with Y up.
double turn(const Json& ring) {
  double twice = 0;
  for (std::size_t i = 0; i + 1 < ring.size(); ++i) {
    twice += ring[i][0].get<double>() * ring[i + 1][1].get<double>() -
             ring[i + 1][0].get<double>() * ring[i][1].get<double>();
  }
  return twice;
}

TEST(Geojson, WritesAFileExactly) {
  EXPECT_EQ(geojson(picture_of({drawn({"...", ".#."})})).text,
            "{\"type\":\"FeatureCollection\",\"features\":[\n"
            "{\"type\":\"Feature\",\"properties\":{\"image\":\"a.jpg\",\"instance\":1,\"label\":\"cat\","
            "\"category\":0,"
            "\"kind\":\"concept\",\"score\":0.9,\"area\":1},\"geometry\":{\"type\":\"MultiPolygon\","
            "\"coordinates\":"
            "[[[[1,2],[1,1],[2,1],[2,2],[1,2]]]]}}\n]}\n");
}

TEST(Geojson, HasHolesTheOtherWayRound) {
  const Json found = polygons(geojson(picture_of({drawn({"###.#", "#.#..", "###.."})})));
  ASSERT_EQ(found.size(), 2U);
  ASSERT_EQ(found[0].size(), 2U);
  EXPECT_EQ(turn(found[0][0]), 18);
  EXPECT_EQ(turn(found[0][1]), -2);
  EXPECT_EQ(found[1].size(), 1U);
  for (const Json& polygon : found) {
    for (const Json& ring : polygon) EXPECT_EQ(ring.front(), ring.back());
  }
}

TEST(Geojson, TakesTheCoordinatesOfAMap) {
  GeojsonOptions options;
  options.reference = GeoReference{{0.5, 0, 400000, 0, -0.5, 5000000}, 32632};
  const Text text = geojson(picture_of({drawn({"###", "#.#", "###"})}), options);
  EXPECT_EQ(Json::parse(text.text).at("crs"),
            Json::parse(R"({"type":"name","properties":{"name":"urn:ogc:def:crs:EPSG::32632"}})"));
  const Json found = polygons(text);
  EXPECT_EQ(found[0][0],
            Json::parse("[[400000,4999998.5],[400001.5,4999998.5],[400001.5,5000000],[400000,5000000],"
                        "[400000,4999998.5]]"));
  EXPECT_EQ(turn(found[0][0]), 4.5) << "Y is up here, so the order of corners turned round";
  EXPECT_EQ(turn(found[0][1]), -0.5);
}

TEST(Geojson, NamesNoSystemThatIsNotKnown) {
  GeojsonOptions options;
  options.reference = GeoReference{{2, 0, 10, 0, 2, 20}, std::nullopt};
  const Text text = geojson(picture_of({drawn({"#"})}), options);
  EXPECT_FALSE(Json::parse(text.text).contains("crs"));
  EXPECT_EQ(polygons(text)[0][0], Json::parse("[[10,22],[10,20],[12,20],[12,22],[10,22]]"));
}

TEST(Geojson, RefusesAMapWithoutArea) {
  for (const auto& affine :
       {std::array<double, 6>{1, 2, 0, 2, 4, 0},
        std::array<double, 6>{1, 0, std::numeric_limits<double>::quiet_NaN(), 0, 1, 0}}) {
    GeojsonOptions options;
    options.reference = GeoReference{affine, std::nullopt};
    EXPECT_THROW((void)geojson(picture_of({drawn({"#"})}), options), Error);
  }
}

TEST(Geojson, LeavesOutEmptyMasksWithAWarning) {
  const Text text = geojson(picture_of({drawn({"."}), drawn({"#"})}));
  ASSERT_EQ(Json::parse(text.text).at("features").size(), 1U);
  EXPECT_EQ(Json::parse(text.text).at("features").at(0).at("properties").at("instance"), 2);
  EXPECT_EQ(text.warnings.size(), 1U);
}

}  // namespace
}  // namespace samlet::formats
