#include "libs/base/utf8.h"

#include <gtest/gtest.h>

namespace samlet {
namespace {

TEST(Utf8, RoundTripsTheBordersOfEveryLength) {
  const std::u32string borders = {0x0, 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF};
  EXPECT_EQ(decode_utf8(encode_utf8(borders)), borders);
}

TEST(Utf8, RefusesWhatTheStandardRefuses) {
  for (const std::string_view bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xFF"}) {
    EXPECT_FALSE(decode_utf8(bad).has_value()) << testing::PrintToString(bad);
  }
  EXPECT_EQ(find_invalid_utf8("ab\xFF"), 2U);
  EXPECT_FALSE(find_invalid_utf8("a\xC3\xA9").has_value());
}

TEST(Utf8, CodePointsWithoutAnEncodingBecomeTheReplacementCharacter) {
  EXPECT_EQ(encode_utf8(std::u32string{0xD800, 0x110000}), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Utf8, PrintableHidesControlCharactersAndBadBytes) {
  EXPECT_EQ(printable("a\x1b[31m\n\xC2\x9B\xFF\xC3\xA9"), "a\\x1b[31m\\x0a\\x9b\xEF\xBF\xBD\xC3\xA9");
}

TEST(Utf8, TheFirstCharactersAreWhole) {
  EXPECT_EQ(first_characters("dog", 3), "dog");
  EXPECT_EQ(first_characters("\xC3\xA9\xF0\x9F\x90\x95z", 2), "\xC3\xA9\xF0\x9F\x90\x95...");
  EXPECT_EQ(first_characters("a\n\xFF\xFFz", 3), "a\\x0a\xEF\xBF\xBD...");
  EXPECT_EQ(first_characters("", 0), "");
  EXPECT_EQ(first_characters("x", 0), "...");
}

}  // namespace
}  // namespace samlet
