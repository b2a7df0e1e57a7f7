// The parts on their own, with values that can be read off the standards; the whole is compared with the
// reference in tokenizer_test.cc.
#include "libs/text/unicode.h"

#include <string>

#include <gtest/gtest.h>

#include "libs/text/html.h"
#include "libs/text/mojibake.h"
#include "libs/text/utf8_repair.h"

namespace samlet::text {
namespace {

TEST(Unicode, NormalizationFormC) {
  EXPECT_EQ(to_nfc(U"e\u0301"), U"\u00e9");
  EXPECT_EQ(to_nfc(U"\u1e9b\u0323"), U"\u1e9b\u0323");                    // UAX 15, figure 6
  EXPECT_EQ(to_nfc(U"a\u0301\u0323"), U"\u1ea1\u0301");                   // reordered by class
  EXPECT_EQ(to_nfc(U"\u212b\u2126\u0958"), U"\u00c5\u03a9\u0915\u093c");  // singletons and an exclusion
  EXPECT_EQ(to_nfc(U"\u1112\u1161\u11ab\u1100\u1161"), U"\ud55c\uac00");
  EXPECT_EQ(to_nfc(U"\uac00\u11a7"), U"\uac00\u11a7");  // the place before the first tail is no tail
  EXPECT_EQ(to_nfc(U"a\u0300\u0300"), U"\u00e0\u0300");
  EXPECT_EQ(to_nfc(U"e\u0334\u0301"), U"\u00e9\u0334");  // a lower class in between does not block
  EXPECT_EQ(to_nfc(U""), U"");
}

TEST(Unicode, LowerCaseOfPython) {
  EXPECT_EQ(lower(U"\u039f\u0394\u03a5\u03a3\u03a3\u0395\u03a5\u03a3"),
            U"\u03bf\u03b4\u03c5\u03c3\u03c3\u03b5\u03c5\u03c2");
  EXPECT_EQ(lower(U"\u03a3"), U"\u03c3");
  EXPECT_EQ(lower(U"A.\u03a3."), U"a.\u03c2.");  // full stops are case-ignorable
  EXPECT_EQ(lower(U"A\u03a3.B"), U"a\u03c3.b");
  EXPECT_EQ(lower(U"\u0130"), U"i\u0307");
  EXPECT_EQ(lower(U"\u1e9e\u212a\u01c5"), U"\u00dfk\u01c6");
}

TEST(Unicode, SpacesDifferBetweenPythonAndRegex) {
  for (const char32_t c : {U'\x1c', U'\x1f'}) {
    EXPECT_TRUE(is_python_space(c));
    EXPECT_FALSE(is_pattern_space(c));
  }
  for (const char32_t c : {U' ', U'\t', U'\u0085', U'\u00a0', U'\u3000'}) {
    EXPECT_TRUE(is_python_space(c));
    EXPECT_TRUE(is_pattern_space(c));
  }
  EXPECT_FALSE(is_python_space(U'\u200b'));
  EXPECT_EQ(strip(U" \x1f a b\u3000"), U"a b");
  EXPECT_EQ(strip(U" \n"), U"");
}

TEST(Unicode, WordClasses) {
  EXPECT_EQ(word_class(U'a'), WordClass::kLetter);
  EXPECT_EQ(word_class(U'\u00b2'), WordClass::kNumber);
  EXPECT_EQ(word_class(U'_'), WordClass::kOther);
  EXPECT_EQ(word_class(U' '), WordClass::kNone);
  EXPECT_EQ(word_class(U'\u0345'), WordClass::kNone);
  EXPECT_EQ(word_class(char32_t{0x110000}), WordClass::kNone);
  EXPECT_EQ(word_class(char32_t{0xFFFFFFFF}), WordClass::kNone);
}

TEST(Html, PythonAndFtfyDiffer) {
  EXPECT_EQ(html_unescape(U"&notit; &amp &EACUTE;"), U"\u00acit; & &EACUTE;");
  EXPECT_EQ(ftfy_unescape_html(U"&notit; &amp &EACUTE;"), U"&notit; &amp \u00c9");
  EXPECT_EQ(html_unescape(U"&#59;"), U";");
  EXPECT_EQ(ftfy_unescape_html(U"&#59;"), U"&#59;");
  EXPECT_EQ(html_unescape(U"&#x80;&#0;&#xd800;&#1;&#xZ&#"), U"\u20ac\ufffd\ufffd&#xZ&#");
  EXPECT_EQ(html_unescape(U"&#" + std::u32string(10'000, U'9') + U";"), U"\ufffd");
}

TEST(Mojibake, Badness) {
  EXPECT_TRUE(is_bad(U"\u00c3\u00a9\u00c3\u00a8"));
  EXPECT_TRUE(is_bad(U"\u00c3 a"));  // only at the beginning
  EXPECT_FALSE(is_bad(U"-\u00c3 a"));
  EXPECT_TRUE(is_bad(U"x \u00c3 a"));
  EXPECT_FALSE(is_bad(U"caf\u00e9"));
  EXPECT_FALSE(is_bad(U""));
}

TEST(Utf8Repair, VariantsOfUtf8) {
  EXPECT_EQ(decode_utf8_variants("\xED\xA0\xBD\xED\xB8\x8D"), U"\U0001f60d");
  EXPECT_EQ(decode_utf8_variants("a\xC0\x80z"), (std::u32string{U'a', U'\0', U'z'}));
  EXPECT_EQ(decode_utf8_variants("\xED\x95\x9C"), U"\ud55c");
  EXPECT_EQ(decode_utf8_variants("\xC0\n"), (std::u32string{U'\0'}));  // as ftfy's `$` has it
  for (const std::string_view bad :
       {"\xED\xA0\xBD", "\xED\xA0\xBDxyz", "\xC0", "\xC0\x81", "\xC0\nx", "\xFF"}) {
    EXPECT_FALSE(decode_utf8_variants(bad).has_value()) << testing::PrintToString(bad);
  }
}

TEST(Utf8Repair, SpacesForNoBreakSpaces) {
  EXPECT_EQ(restore_byte_a0("voil\xC3 le"), "voil\xC3\xA0 le");
  EXPECT_EQ(restore_byte_a0("\xC3 s "), "\xC3\xA0s ");
  EXPECT_EQ(restore_byte_a0("\xE2 \x80"), "\xE2\xA0\x80");
  EXPECT_FALSE(restore_byte_a0("\xE2 \x85").has_value());
  EXPECT_FALSE(restore_byte_a0("\xC3").has_value());
}

TEST(Utf8Repair, LostBytes) {
  EXPECT_EQ(replace_lossy_sequences("\xE2\x80\x1A"), "\xEF\xBF\xBD");
  EXPECT_EQ(replace_lossy_sequences("\xC3?"), "\xEF\xBF\xBD");
  EXPECT_EQ(replace_lossy_sequences("\xC4?"), "\xC4?");
  EXPECT_EQ(replace_lossy_sequences("\xED\xA0?\xED\xB0\x80"), "\xEF\xBF\xBD");
  EXPECT_EQ(replace_lossy_sequences("a\x1A"), "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace samlet::text
