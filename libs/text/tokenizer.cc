#include "libs/text/tokenizer.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "libs/base/utf8.h"
#include "libs/text/bpe.h"
#include "libs/text/fix_text.h"
#include "libs/text/html.h"
#include "libs/text/unicode.h"
#include "samlet/error.h"

namespace samlet::text {
namespace {

struct Special {
  std::u32string_view text;
  std::uint16_t id;
};
constexpr std::array<Special, 2> kSpecials{{{U"<start_of_text>", static_cast<std::uint16_t>(kStartToken)},
                                            {U"<end_of_text>", static_cast<std::uint16_t>(kEndToken)}}};
constexpr std::array<std::u32string_view, 7> kContractions{U"'s", U"'t",  U"'re", U"'ve",
                                                           U"'m", U"'ll", U"'d"};

std::u32string squeeze_white_space(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  bool in_space = false;
  for (const char32_t c : text) {
    const bool space = is_pattern_space(c);
    if (!space) {
      out.push_back(c);
    } else if (!in_space) {
      out.push_back(U' ');
    }
    in_space = space;
  }
  return out;
}

// The pattern ignores case. In text that is lower case already only the long s is another form of a letter in
// it.
bool begins_with(std::u32string_view text, std::u32string_view literal) noexcept {
  constexpr char32_t kLongS = 0x17F;
  if (text.size() < literal.size()) return false;
  for (std::size_t i = 0; i < literal.size(); ++i) {
    const bool long_s = literal[i] == U's' && text[i] == kLongS;
    if (text[i] != literal[i] && !long_s) return false;
  }
  return true;
}

// The length of the pattern's match at the beginning of `text` (not empty); 0 when nothing matches there.
std::size_t match_length(std::u32string_view text) noexcept {
  for (const Special& special : kSpecials) {
    if (begins_with(text, special.text)) return special.text.size();
  }
  for (const std::u32string_view contraction : kContractions) {
    if (begins_with(text, contraction)) return contraction.size();
  }
  const WordClass kind = word_class(text[0]);
  if (kind == WordClass::kNone) return 0;
  if (kind == WordClass::kNumber) return 1;
  std::size_t length = 1;
  while (length < text.size() && word_class(text[length]) == kind) ++length;
  return length;
}

void append_match(std::vector<std::uint16_t>& ids, std::u32string_view match) {
  for (const Special& special : kSpecials) {
    if (match == special.text) {
      ids.push_back(special.id);
      return;
    }
  }
  append_bpe(ids, encode_utf8(match));
}

// The ids of cleaned text; stops soon after `enough` of them.
std::vector<std::uint16_t> encode_cleaned(std::u32string_view text, std::size_t enough) {
  std::vector<std::uint16_t> ids;
  while (!text.empty() && ids.size() < enough) {
    const std::size_t length = match_length(text);
    if (length != 0) append_match(ids, text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return ids;
}

}  // namespace

Tokens tokenize(std::string_view phrase, std::size_t context) {
  if (context == 0) {
    throw Error(ErrorCode::kUsage, "a context of 0 tokens holds no phrase; ask for the 32 that SAM 3 takes");
  }
  const auto decoded = decode_utf8(phrase);
  if (!decoded) {
    throw Error(ErrorCode::kPromptInvalid,
                fmt::format("the phrase is not valid UTF-8 at byte {}; convert it to UTF-8",
                            find_invalid_utf8(phrase).value_or(0)));
  }
  // Start and end take two places, so `context - 1` ids are already one too many.
  const std::vector<std::uint16_t> ids = encode_cleaned(clean(*decoded), context - 1);
  Tokens tokens;
  tokens.ids.reserve(context);
  tokens.ids.push_back(kStartToken);
  for (const std::uint16_t id : ids) {
    if (tokens.ids.size() == context) break;
    tokens.ids.push_back(id);
  }
  tokens.truncated = ids.size() + 2 > context;
  if (tokens.truncated) {
    tokens.ids.resize(context);
    tokens.ids.back() = kEndToken;
  } else {
    tokens.ids.push_back(kEndToken);
  }
  tokens.used = tokens.ids.size();
  tokens.ids.resize(context, 0);
  return tokens;
}

std::u32string clean(std::u32string_view phrase) {
  const std::u32string unescaped = html_unescape(html_unescape(fix_text(phrase)));
  const std::u32string squeezed = squeeze_white_space(strip(unescaped));
  return lower(strip(squeezed));
}

}  // namespace samlet::text
