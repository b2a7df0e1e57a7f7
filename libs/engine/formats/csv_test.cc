#include "libs/engine/formats/csv.h"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "libs/engine/formats/test_support.h"

namespace samlet::formats {
namespace {

TEST(Csv, WritesOneLineAnInstance) {
  AnnotatedPicture picture = picture_of(
      {drawn({"....", ".##.", "...."}), drawn({"....", "....", "...."}), drawn({"#...", "....", "...."})});
  picture.annotations[0].box = {0.5, 1, 3.00004, 2.33333333};
  picture.annotations[2].kind = AnnotationKind::kObject;
  picture.annotations[2].score = 0.12345678;
  const Text text = csv_lines(picture);
  EXPECT_EQ(text.text,
            "a.jpg,4,3,1,cat,0,concept,0.9,0.5,1,3,2.3333,2,1,1,2,1\r\n"
            "a.jpg,4,3,3,cat,0,object,0.123457,0,0,1,1,1,0,0,1,1\r\n");
  EXPECT_EQ(text.warnings.size(), 1U);
}

TEST(Csv, QuotesWhatWouldBreakALine) {
  AnnotatedPicture picture = picture_of({drawn({"#"})});
  picture.file_name = "a,b.jpg";
  picture.annotations[0].label = "the \"red\"\r\none; 'x'";
  EXPECT_EQ(csv_lines(picture).text,
            "\"a,b.jpg\",1,1,1,\"the \"\"red\"\"\r\none; 'x'\",0,concept,0.9,0,0,1,1,1,0,0,1,1\r\n");
}

TEST(Csv, HeaderHasAsManyColumnsAsALine) {
  const auto commas = [](const std::string& line) { return std::count(line.begin(), line.end(), ','); };
  EXPECT_EQ(commas(csv_header()), commas(csv_lines(picture_of({drawn({"#"})})).text));
  EXPECT_EQ(csv_header().substr(csv_header().size() - 2), "\r\n");
}

}  // namespace
}  // namespace samlet::formats
