#include "libs/text/mojibake.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <span>

#include "libs/text/unicode.h"

namespace samlet::text {
namespace {

struct Bits128 {
  std::uint64_t low, high;
};
struct MojibakeChar {
  char32_t code_point;
  std::uint8_t badness_class;
  std::uint8_t clues;
  std::uint16_t encodings;  // bit i: encoding i has it
  std::uint8_t bytes[kEncodingCount];
};
struct Range {
  char32_t first, last;
};

#include "libs/text/tables/ftfy_tables.inc"

static_assert(kEncodings == kEncodingCount && kMacRoman == kMacRomanEncoding);

// The row of a character, or null when nothing tells it from others of its kind.
const MojibakeChar* find(char32_t c) noexcept {
  if (c < 0x100) return &kMojibakeChars[c];
  const auto* at =
      std::lower_bound(std::begin(kMojibakeChars) + 0x100, std::end(kMojibakeChars), c,
                       [](const MojibakeChar& row, char32_t key) { return row.code_point < key; });
  return at != std::end(kMojibakeChars) && at->code_point == c ? at : nullptr;
}

std::size_t badness_class(char32_t c) noexcept {
  if (const MojibakeChar* row = find(c)) return row->badness_class;
  if (is_python_space(c)) return 1;
  return is_python_word(c) ? 2 : 0;
}

const Replacement* find_replacement(std::span<const Replacement> table, char32_t c) noexcept {
  const auto at = std::lower_bound(table.begin(), table.end(), c,
                                   [](const Replacement& row, char32_t key) { return row.from < key; });
  return at != table.end() && at->from == c ? &*at : nullptr;
}

}  // namespace

// The regular expression is a choice among short sequences of character sets, so the Shift-And algorithm runs
// it: bit i of the state says that the sequence of bit i has matched up to that place, with the latest
// character there.
bool is_bad(std::u32string_view text) noexcept {
  Bits128 state{kBadnessStartOfText.low, kBadnessStartOfText.high};
  bool first = true;
  for (const char32_t c : text) {
    if (!first) state = {state.low << 1U, (state.high << 1U) | (state.low >> 63U)};
    first = false;
    const Bits128& mask = kBadnessMasks[badness_class(c)];
    state = {(state.low | kBadnessStart.low) & mask.low, (state.high | kBadnessStart.high) & mask.high};
    if (((state.low & kBadnessEnd.low) | (state.high & kBadnessEnd.high)) != 0) return true;
    // A finished sequence would shift into the next one's first place, but it has ended the search already.
  }
  return false;
}

unsigned utf8_clues(char32_t c) noexcept {
  const MojibakeChar* row = find(c);
  return row == nullptr ? 0U : row->clues;
}

bool is_sloppy(std::size_t encoding) noexcept {
  return (kSloppyEncodings >> encoding & 1U) != 0;
}

unsigned possible_encodings(std::u32string_view text) noexcept {
  unsigned all = (1U << kEncodingCount) - 1;
  for (const char32_t c : text) {
    const MojibakeChar* row = find(c);
    all &= row == nullptr ? 0U : row->encodings;
    if (all == 0) break;
  }
  return all;
}

std::string encode(std::u32string_view text, std::size_t encoding) {
  std::string bytes;
  bytes.reserve(text.size());
  for (const char32_t c : text) {
    const MojibakeChar* row = find(c);
    if (row != nullptr) bytes.push_back(static_cast<char>(row->bytes[encoding]));
  }
  return bytes;
}

char32_t sloppy_windows_1252(char32_t c1) noexcept {
  return kWindows1252[c1 - 0x80];
}

const Replacement* find_ligature(char32_t c) noexcept {
  return find_replacement(kLigatures, c);
}

const Replacement* find_width_form(char32_t c) noexcept {
  return find_replacement(kWidths, c);
}

bool is_dropped_control(char32_t c) noexcept {
  return std::any_of(std::begin(kControls), std::end(kControls),
                     [c](const Range& range) { return c >= range.first && c <= range.last; });
}

}  // namespace samlet::text
