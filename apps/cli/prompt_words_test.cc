#include "apps/cli/prompt_words.h"

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet::cli {
namespace {

template <typename F>
std::string refusal(F&& parse) {
  try {
    (void)parse();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPromptInvalid);
    return error.what();
  }
  return "accepted";
}

TEST(PromptWords, PointsAndBoxesAreNumbersWithCommas) {
  EXPECT_EQ(parse_point("12,-3.5"), (Point{12, -3.5}));
  EXPECT_EQ(parse_point(" +1 , 2 "), (Point{1, 2}));
  EXPECT_EQ(parse_box("1,2,3,4"), (Box{1, 2, 3, 4}));
  for (const char* text : {"", "1", "1,2,3", "a,b", "1;2", "1,", ",1", "0x1,2", "1e999,2"})
    EXPECT_NE(refusal([&] { return parse_point(text); }).find("two numbers"), std::string::npos) << text;
  for (const char* text : {"1,2,3", "1,2,3,4,5", "1,2,3,x"})
    EXPECT_NE(refusal([&] { return parse_box(text); }).find("four numbers"), std::string::npos) << text;
}

TEST(PromptWords, ObjectsAreParts) {
  const ObjectPrompt object = parse_object("box=1,2,3,4;point=5,6;not=7,8;point=9,10");
  EXPECT_EQ(object.box, (Box{1, 2, 3, 4}));
  const std::vector<ObjectPoint> points{{{5, 6}, true}, {{7, 8}, false}, {{9, 10}, true}};
  EXPECT_EQ(object.points, points);
  EXPECT_EQ(parse_object("point=1,2;").points.size(), 1U) << "a semicolon at the end is no part";
  EXPECT_TRUE(parse_object("").points.empty());
}

TEST(PromptWords, WhatIsNoObjectIsRefused) {
  for (const char* text : {"1,2", "dot=1,2", "point", ";point=1,2", "point=1,2;;point=3,4"})
    EXPECT_NE(refusal([&] { return parse_object(text); }).find("box=x1,y1,x2,y2"), std::string::npos) << text;
  EXPECT_NE(refusal([] { return parse_object("box=1,2,3,4;box=1,2,3,4"); }).find("two boxes"),
            std::string::npos);
  EXPECT_NE(refusal([] { return parse_object("point=1"); }).find("two numbers"), std::string::npos);
}

}  // namespace
}  // namespace samlet::cli
