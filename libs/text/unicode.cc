#include "libs/text/unicode.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <vector>

namespace samlet::text {
namespace {

struct CodePointRecord {
  std::uint8_t flags;            // bits as the table's header says
  std::uint8_t combining_class;  // canonical
};
struct Lower {
  char32_t from, to;
};
struct Decomposition {
  char32_t from, first, second;  // one canonical step; second is 0 for singletons
};
struct Composition {
  char32_t first, second, to;
};

#include "libs/text/tables/unicode_tables.inc"

constexpr unsigned kWordClassMask = 3;
constexpr unsigned kPatternSpace = 1U << 2;
constexpr unsigned kPythonSpace = 1U << 3;
constexpr unsigned kPythonWord = 1U << 4;
constexpr unsigned kPythonDigit = 1U << 5;
constexpr unsigned kCased = 1U << 6;
constexpr unsigned kCaseIgnorable = 1U << 7;

const CodePointRecord& record(char32_t c) noexcept {
  static constexpr CodePointRecord kNothing{0, 0};
  if (c > 0x10FFFF) return kNothing;
  const std::size_t block = kStage1[c >> 8];
  return kRecords[kStage2[block * 256 + (c & 0xFF)]];
}

bool has(char32_t c, unsigned flag) noexcept {
  return (record(c).flags & flag) != 0;
}

// Whether the capital sigma at `i` ends a word: a cased letter before it and none after it, looking past
// case-ignorable characters (Unicode 3.13, Final_Sigma).
bool is_final_sigma(std::u32string_view text, std::size_t i) noexcept {
  std::size_t before = i;
  while (before > 0 && has(text[before - 1], kCaseIgnorable)) --before;
  if (before == 0 || !has(text[before - 1], kCased)) return false;
  std::size_t after = i + 1;
  while (after < text.size() && has(text[after], kCaseIgnorable)) ++after;
  return after == text.size() || !has(text[after], kCased);
}

// Hangul syllables are composed by arithmetic (Unicode 3.12).
constexpr char32_t kHangulBase = 0xAC00;
constexpr char32_t kLeadBase = 0x1100;
constexpr char32_t kVowelBase = 0x1161;
constexpr char32_t kTailBase = 0x11A7;
constexpr char32_t kLeads = 19;
constexpr char32_t kVowels = 21;
constexpr char32_t kTails = 28;  // the first means "no tail"
constexpr char32_t kSyllables = kLeads * kVowels * kTails;

void append_decomposed(std::u32string& out, char32_t c) {
  if (c >= kHangulBase && c < kHangulBase + kSyllables) {
    const char32_t index = c - kHangulBase;
    out.push_back(kLeadBase + index / (kVowels * kTails));
    out.push_back(kVowelBase + index / kTails % kVowels);
    if (index % kTails != 0) out.push_back(kTailBase + index % kTails);
    return;
  }
  const auto* row = std::lower_bound(std::begin(kDecompositions), std::end(kDecompositions), c,
                                     [](const Decomposition& d, char32_t key) { return d.from < key; });
  if (row == std::end(kDecompositions) || row->from != c) {
    out.push_back(c);
    return;
  }
  append_decomposed(out, row->first);  // at most three levels deep in the whole of Unicode
  if (row->second != 0) append_decomposed(out, row->second);
}

// Canonical ordering: within each run of combining marks, a stable sort by class.
void order_marks(std::u32string& text) {
  const auto is_starter = [](char32_t c) { return record(c).combining_class == 0; };
  std::vector<std::tuple<std::uint8_t, std::size_t, char32_t>> marks;  // class, place, character
  for (auto from = text.begin(); from != text.end();) {
    from = std::find_if_not(from, text.end(), is_starter);
    const auto to = std::find_if(from, text.end(), is_starter);
    marks.clear();
    for (auto at = from; at != to; ++at) marks.emplace_back(record(*at).combining_class, marks.size(), *at);
    std::sort(marks.begin(), marks.end());  // the place as second key keeps equal classes in order
    std::transform(marks.begin(), marks.end(), from, [](const auto& mark) { return std::get<2>(mark); });
    from = to;
  }
}

// The primary composite of two characters, or 0.
char32_t composite(char32_t first, char32_t second) noexcept {
  if (first >= kLeadBase && first < kLeadBase + kLeads && second >= kVowelBase &&
      second < kVowelBase + kVowels) {
    return kHangulBase + ((first - kLeadBase) * kVowels + (second - kVowelBase)) * kTails;
  }
  if (first >= kHangulBase && first < kHangulBase + kSyllables && (first - kHangulBase) % kTails == 0 &&
      second > kTailBase && second < kTailBase + kTails) {
    return first + (second - kTailBase);
  }
  const auto* row =
      std::lower_bound(std::begin(kCompositions), std::end(kCompositions), Composition{first, second, 0},
                       [](const Composition& a, const Composition& b) {
                         return a.first != b.first ? a.first < b.first : a.second < b.second;
                       });
  const bool found = row != std::end(kCompositions) && row->first == first && row->second == second;
  return found ? row->to : 0;
}

// Canonical composition in place (Unicode 3.11, D117): a character joins the last starter unless something
// between them has the same or a higher class, or is a starter.
void compose(std::u32string& text) {
  constexpr auto kNoStarter = static_cast<std::size_t>(-1);
  std::size_t starter = kNoStarter;
  std::size_t end = 0;             // of the text written so far
  std::uint8_t class_between = 0;  // of the last character kept after the starter
  for (const char32_t c : text) {
    const std::uint8_t own_class = record(c).combining_class;
    const bool adjacent = starter != kNoStarter && starter + 1 == end;
    if (starter != kNoStarter && (adjacent || class_between < own_class)) {
      if (const char32_t joined = composite(text[starter], c); joined != 0) {
        text[starter] = joined;
        continue;
      }
    }
    if (own_class == 0) starter = end;
    class_between = own_class;
    text[end++] = c;
  }
  text.resize(end);
}

}  // namespace

WordClass word_class(char32_t c) noexcept {
  return static_cast<WordClass>(record(c).flags & kWordClassMask);
}
bool is_pattern_space(char32_t c) noexcept {
  return has(c, kPatternSpace);
}
bool is_python_space(char32_t c) noexcept {
  return has(c, kPythonSpace);
}
bool is_python_word(char32_t c) noexcept {
  return has(c, kPythonWord);
}
bool is_python_digit(char32_t c) noexcept {
  return has(c, kPythonDigit);
}

std::u32string lower(std::u32string_view text) {
  constexpr char32_t kCapitalSigma = 0x3A3;
  constexpr char32_t kCapitalIWithDot = 0x130;
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c == kCapitalSigma) {
      out.push_back(is_final_sigma(text, i) ? U'\u03C2' : U'\u03C3');
    } else if (c == kCapitalIWithDot) {
      out += U"i\u0307";
    } else {
      const auto* row = std::lower_bound(std::begin(kLower), std::end(kLower), c,
                                         [](const Lower& l, char32_t key) { return l.from < key; });
      out.push_back(row != std::end(kLower) && row->from == c ? row->to : c);
    }
  }
  return out;
}

std::u32string to_nfc(std::u32string text) {
  // Below U+0300 nothing decomposes that would not compose again, and nothing combines.
  if (std::all_of(text.begin(), text.end(), [](char32_t c) { return c < 0x300; })) return text;
  std::u32string out;
  out.reserve(text.size());
  for (const char32_t c : text) append_decomposed(out, c);
  order_marks(out);
  compose(out);
  return out;
}

std::u32string_view strip(std::u32string_view text) noexcept {
  while (!text.empty() && is_python_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_python_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace samlet::text
