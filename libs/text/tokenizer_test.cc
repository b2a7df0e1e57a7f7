#include "libs/text/tokenizer.h"

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "libs/base/utf8.h"
#include "libs/text/corpus.h"
#include "samlet/error.h"

namespace samlet::text {
namespace {

const std::string kData = SAMLET_SOURCE_DIR "/libs/text/testdata/";
constexpr std::size_t kContext = 32;

std::vector<std::string> read_lines(const std::string& name) {
  std::ifstream in(kData + name);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with('#')) lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> split_tabs(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream in(line);
  for (std::string field; std::getline(in, field, '\t');) fields.push_back(field);
  return fields;
}

// Undoes make_goldens.py's escape(): \u{HEX} for everything but printable ASCII.
std::u32string unescape(const std::string& text) {
  std::u32string out;
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '\\') {
      const std::size_t end = text.find('}', i);
      out.push_back(static_cast<char32_t>(std::stoul(text.substr(i + 3, end - i - 3), nullptr, 16)));
      i = end + 1;
    } else {
      out.push_back(static_cast<unsigned char>(text[i]));
      ++i;
    }
  }
  return out;
}

std::vector<std::int64_t> used_ids(std::string_view phrase, std::size_t context) {
  Tokens tokens = tokenize(phrase, context);
  tokens.ids.resize(tokens.used);
  return tokens.ids;
}

std::string hex(std::uint64_t value) {
  std::ostringstream out;
  out.width(16);
  out.fill('0');
  out << std::hex << value;
  return out.str();
}

std::vector<std::int64_t> padded(std::vector<std::int64_t> ids, std::size_t context = kContext) {
  ids.resize(context, 0);
  return ids;
}

TEST(Tokenizer, GoldenRowsOfTheReference) {
  const auto lines = read_lines("golden.tsv");
  ASSERT_GT(lines.size(), 300U);
  for (const std::string& line : lines) {
    const auto fields = split_tabs(line);
    ASSERT_EQ(fields.size(), 3U) << line;
    const std::u32string phrase = unescape(fields[0]);
    EXPECT_EQ(clean(phrase), unescape(fields[1])) << line;
    std::istringstream numbers(fields[2]);
    std::vector<std::int64_t> ids;
    for (std::int64_t id = 0; numbers >> id;) ids.push_back(id);
    EXPECT_EQ(used_ids(encode_utf8(phrase), kContext), ids) << line;
  }
}

TEST(Tokenizer, EveryCodePointAloneAsTheReference) {
  const auto lines = read_lines("code_points.txt");
  ASSERT_EQ(lines.size(), 0x110000U / 256);
  for (char32_t block = 0; block < lines.size(); ++block) {
    std::uint64_t hash = kHashStart;
    for (char32_t c = block * 256; c < (block + 1) * 256; ++c) {
      if (c >= 0xD800 && c < 0xE000) continue;
      hash = hash_ids(used_ids(encode_utf8(std::u32string(1, c)), kContext), hash);
    }
    EXPECT_EQ(hex(hash), lines[block]) << "block U+" << hex(std::uint64_t{block} * 256);
  }
}

TEST(Tokenizer, RandomCorpusAsTheReference) {
  const auto lines = read_lines("corpus.txt");
  const Ingredients ingredients = read_ingredients(kData + "ingredients.txt");
  ASSERT_EQ(lines.size(), 200U);
  for (std::uint64_t hundred = 0; hundred < lines.size(); ++hundred) {
    std::uint64_t hash = kHashStart;
    for (std::uint64_t seed = hundred * 100; seed < (hundred + 1) * 100; ++seed) {
      hash = hash_ids(used_ids(make_phrase(ingredients, seed), 256), hash);
    }
    EXPECT_EQ(hex(hash), lines[hundred])
        << "seeds from " << hundred * 100 << "; see tools/text/differential.py";
  }
}

// A word is one match of the pattern, so its cost is that of the merging alone. A quadratic one would take
// hours.
TEST(Tokenizer, LongWordsAsTheReference) {
  const auto lines = read_lines("long_words.tsv");
  ASSERT_EQ(lines.size(), 5U);
  for (const std::string& line : lines) {
    const auto fields = split_tabs(line);
    const std::size_t star = fields[0].find('*');
    const std::string unit = encode_utf8(unescape(fields[0].substr(0, star)));
    const std::size_t count = std::stoul(fields[0].substr(star + 1));
    std::string word;
    for (std::size_t i = 0; i < count; ++i) word += unit;
    EXPECT_EQ(hex(hash_ids(used_ids(word, 1'000'000))), fields[1]) << fields[0];
  }
}

TEST(Tokenizer, MegabytesAreQuick) {
  std::string mojibake;
  while (mojibake.size() < 1'000'000) mojibake += "caf\xC3\x83\xC2\xA9 &amp;eacute; \xC4\x80 \xE2\x82\xAC ";
  for (const std::string& phrase :
       {std::string(1'000'000, 'x'), std::string(1'000'000, '!'), std::string(1'000'000, '&'), mojibake}) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_TRUE(tokenize(phrase, kContext).truncated);
    // Some tenths of a second in a release build; the limit leaves room for sanitizers and busy machines.
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  }
}

TEST(Tokenizer, RefusesEndlessLayersOfEscapesInsteadOfHanging) {
  std::string phrase = "&";
  for (int i = 0; i < 100'000; ++i) phrase += "amp;";
  try {
    (void)tokenize(phrase, kContext);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPromptInvalid);
    EXPECT_NE(std::string(error.what()).find("layers"), std::string::npos) << error.what();
  }
  // What a person could have done is undone.
  std::string modest = "&";
  for (int i = 0; i < 1000; ++i) modest += "amp;";
  EXPECT_EQ(clean(*decode_utf8(modest)), U"&");
}

TEST(Tokenizer, TruncationKeepsTheEndTokenLast) {
  std::string phrase;
  for (int i = 0; i < 30; ++i) phrase += "dog ";
  const Tokens fits = tokenize(phrase, kContext);
  EXPECT_FALSE(fits.truncated);
  EXPECT_EQ(fits.used, 32U);
  EXPECT_EQ(fits.ids.back(), kEndToken);
  EXPECT_EQ(fits.ids[30], 1929);
  const Tokens cut = tokenize(phrase + "dog", kContext);
  EXPECT_TRUE(cut.truncated);
  EXPECT_EQ(cut.used, 32U);
  EXPECT_EQ(cut.ids, fits.ids);
}

TEST(Tokenizer, ContextsOfAnySize) {
  EXPECT_EQ(tokenize("dog", 16).ids, padded({kStartToken, 1929, kEndToken}, 16));
  EXPECT_EQ(tokenize("dog", 3).ids, (std::vector<std::int64_t>{kStartToken, 1929, kEndToken}));
  EXPECT_FALSE(tokenize("dog", 3).truncated);
  EXPECT_EQ(tokenize("dog", 2).ids, (std::vector<std::int64_t>{kStartToken, kEndToken}));
  EXPECT_TRUE(tokenize("dog", 2).truncated);
  EXPECT_EQ(tokenize("dog", 1).ids, (std::vector<std::int64_t>{kEndToken}));
  EXPECT_EQ(tokenize("", 2).ids, (std::vector<std::int64_t>{kStartToken, kEndToken}));
  EXPECT_FALSE(tokenize("", 2).truncated);
  try {
    (void)tokenize("dog", 0);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
  }
}

TEST(Tokenizer, NamesTheByteThatIsNotUtf8) {
  for (const std::string_view phrase :
       {"dog\xFF", "dog\xC3", "dog\xED\xA0\x80", "dog\xC0\x80", "dog\x80 a"}) {
    try {
      (void)tokenize(phrase, kContext);
      FAIL() << "accepted " << testing::PrintToString(phrase);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kPromptInvalid);
      EXPECT_NE(std::string(error.what()).find("at byte 3"), std::string::npos) << error.what();
    }
  }
}

TEST(Tokenizer, CleanMendsSurrogatesThatCallersPass) {
  EXPECT_EQ(clean(std::u32string{0xD83D, 0xDE00, U' ', 0xDE00, 0xD83D}),
            (std::u32string{0x1F600, U' ', 0xFFFD, 0xFFFD}));
}

TEST(Tokenizer, ThreadsShareNothing) {
  const auto expected = tokenize("a red ball", kContext).ids;
  std::vector<int> wrong(4, 0);
  std::vector<std::thread> threads;
  threads.reserve(wrong.size());
  for (int& count : wrong) {
    threads.emplace_back([&count, &expected] {
      for (int i = 0; i < 500; ++i) count += tokenize("A red&nbsp;ball", kContext).ids == expected ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

}  // namespace
}  // namespace samlet::text
