// The part of fix_text that undoes mojibake.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "libs/base/utf8.h"
#include "libs/text/fix_text.h"
#include "libs/text/mojibake.h"
#include "libs/text/utf8_repair.h"

namespace samlet::text {
namespace {

bool is_c1(char32_t c) noexcept {
  return c >= 0x80 && c <= 0x9F;
}

bool is_ascii(std::u32string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char32_t c) { return c < 0x80; });
}

// The text put into bytes by `encoding` and read as UTF-8, with ftfy's repairs on the way; nothing when it is
// none.
std::optional<std::u32string> read_as_utf8(std::u32string_view text, std::size_t encoding) {
  std::string bytes = encode(text, encoding);
  // In MacRoman the pattern would match an en dash before a space.
  if (encoding != kMacRomanEncoding) {
    if (auto restored = restore_byte_a0(bytes)) bytes = std::move(*restored);
  }
  if (is_sloppy(encoding)) bytes = replace_lossy_sequences(bytes);
  const bool variants = bytes.find_first_of("\xED\xC0") != std::string::npos;
  return variants ? decode_utf8_variants(bytes) : decode_utf8(bytes);
}

// How many continuation bytes follow a first byte of these clues; 0 when it is none.
std::size_t continuations_after(unsigned clues) noexcept {
  if ((clues & kFirstOf2) != 0) return 1;
  if ((clues & kFirstOf3) != 0) return 2;
  return (clues & kFirstOf4) != 0 ? 3 : 0;
}

// The length of the match of UTF8_DETECTOR_RE at `i`, or 0: one or more whole sequences. Its three kinds of
// first characters exclude one another, so it never has to go back.
std::size_t detected_length(std::u32string_view text, std::size_t i) noexcept {
  if (i > 0 && (utf8_clues(text[i - 1]) & kStrictContinuation) != 0) return 0;
  std::size_t end = i;
  while (end < text.size()) {
    const std::size_t more = continuations_after(utf8_clues(text[end]));
    if (more == 0 || more >= text.size() - end) break;
    const std::u32string_view rest = text.substr(end + 1, more);
    const bool whole = std::all_of(rest.begin(), rest.end(),
                                   [](char32_t c) { return (utf8_clues(c) & kContinuation) != 0; });
    if (!whole) break;
    end += more + 1;
  }
  return end - i;
}

// Repairs stretches that look like UTF-8 in a text that as a whole is in no encoding.
std::u32string decode_inconsistent_utf8(std::u32string_view text, WorkLimit& limit) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = detected_length(text, i);
    if (length == 0) {
      out.push_back(text[i]);
      ++i;
      continue;
    }
    const std::u32string_view part = text.substr(i, length);
    // A match of everything would recurse for ever.
    if (length < text.size() && is_bad(part)) {
      out += fix_encoding(part, limit);
    } else {
      out += part;
    }
    i += length;
  }
  return out;
}

std::u32string fix_one_layer(std::u32string_view text, WorkLimit& limit) {
  std::u32string same(text);
  if (is_ascii(text) || !is_bad(text)) return same;
  const unsigned possible = possible_encodings(text);
  for (std::size_t encoding = 0; encoding < kEncodingCount; ++encoding) {
    if ((possible >> encoding & 1U) == 0) continue;
    if (auto fixed = read_as_utf8(text, encoding)) return *std::move(fixed);
  }
  if (std::u32string fixed = decode_inconsistent_utf8(text, limit); fixed != same) return fixed;
  // ftfy has two more rules here, Latin-1 read as Windows-1252 and single C1 controls; both come to this.
  return fix_c1_controls(text);
}

}  // namespace

std::u32string fix_c1_controls(std::u32string_view text) {
  std::u32string out(text);
  for (char32_t& c : out) {
    if (is_c1(c)) c = sloppy_windows_1252(c);
  }
  return out;
}

std::u32string fix_encoding(std::u32string_view text, WorkLimit& limit) {
  std::u32string current(text);
  while (true) {
    limit.spend(current.size());
    std::u32string fixed = fix_one_layer(current, limit);
    if (fixed == current) return fixed;
    current = std::move(fixed);
  }
}

}  // namespace samlet::text
