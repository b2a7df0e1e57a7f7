#include "libs/text/fix_text.h"

#include <algorithm>
#include <cstdint>

#include "libs/text/html.h"
#include "libs/text/mojibake.h"
#include "libs/text/unicode.h"
#include "samlet/error.h"

namespace samlet::text {
namespace {

using Finder = const Replacement* (*)(char32_t) noexcept;

// Below U+0100 no character has a ligature or width form.
std::u32string replace_each(std::u32string_view text, Finder find) {
  std::u32string out;
  out.reserve(text.size());
  for (const char32_t c : text) {
    const Replacement* row = c < 0x100 ? nullptr : find(c);
    if (row == nullptr) {
      out.push_back(c);
      continue;
    }
    for (const char32_t to : row->to) {
      if (to != 0) out.push_back(to);
    }
  }
  return out;
}

void uncurl_quotes(std::u32string& text) {
  for (char32_t& c : text) {
    if (c >= 0x201C && c <= 0x201F) c = U'"';
    if (c == 0x02BC || (c >= 0x2018 && c <= 0x201B)) c = U'\'';
  }
}

std::u32string fix_line_breaks(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    const bool first_of_two = c == U'\r' && i + 1 < text.size() && text[i + 1] == U'\n';
    if (first_of_two) continue;
    const bool line_break = c == U'\r' || c == 0x2028 || c == 0x2029 || c == 0x85;
    out.push_back(line_break ? U'\n' : c);
  }
  return out;
}

// UTF-16 pairs become their character; lone surrogates become U+FFFD.
std::u32string fix_surrogates(std::u32string_view text) {
  const auto is_high = [](char32_t c) { return c >= 0xD800 && c <= 0xDBFF; };
  const auto is_low = [](char32_t c) { return c >= 0xDC00 && c <= 0xDFFF; };
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (is_high(c) && i + 1 < text.size() && is_low(text[i + 1])) {
      out.push_back(0x10000 + ((c - 0xD800) << 10U) + (text[i + 1] - 0xDC00));
      ++i;
    } else {
      out.push_back(is_high(c) || is_low(c) ? char32_t{0xFFFD} : c);
    }
  }
  return out;
}

// The end of an ANSI escape (ESC, '[', digits of any script and ';', a Latin letter) that begins at `i`, or
// `i`.
std::size_t skip_terminal_escape(std::u32string_view text, std::size_t i) noexcept {
  if (text[i] != 0x1B || i + 1 >= text.size() || text[i + 1] != U'[') return i;
  std::size_t end = i + 2;
  while (end < text.size() && (text[end] == U';' || is_python_digit(text[end]))) ++end;
  if (end == text.size()) return i;
  const char32_t letter = text[end] | 0x20U;
  return text[end] < 0x80 && letter >= U'a' && letter <= U'z' ? end + 1 : i;
}

std::u32string remove_terminal_escapes(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = skip_terminal_escape(text, i);
    if (end != i) {
      i = end;
    } else {
      out.push_back(text[i]);
      ++i;
    }
  }
  return out;
}

// One round over a segment, in ftfy's order.
std::u32string fix_once(const std::u32string& segment, bool unescape, WorkLimit& limit) {
  std::u32string text = unescape ? ftfy_unescape_html(segment) : segment;
  text = fix_c1_controls(fix_encoding(text, limit));
  text = replace_each(text, find_ligature);
  text = replace_each(text, find_width_form);
  uncurl_quotes(text);
  text = remove_terminal_escapes(fix_surrogates(fix_line_breaks(text)));
  std::erase_if(text, is_dropped_control);
  return to_nfc(std::move(text));
}

std::u32string fix_segment(std::u32string_view segment, bool unescape, WorkLimit& limit) {
  std::u32string text(segment);
  while (true) {
    limit.spend(text.size());
    std::u32string fixed = fix_once(text, unescape, limit);
    if (fixed == text) return fixed;
    text = std::move(fixed);
  }
}

}  // namespace

WorkLimit::WorkLimit(std::size_t phrase_size) noexcept
    : left_(std::max(std::size_t{1} << 26U, phrase_size > SIZE_MAX / 64 ? SIZE_MAX : phrase_size * 64)) {}

void WorkLimit::spend(std::size_t characters) {
  if (characters > left_) {
    throw Error(ErrorCode::kPromptInvalid,
                "the phrase wraps its text in too many layers of HTML escapes or wrong encodings; "
                "write the text itself");
  }
  left_ -= characters;
}

std::u32string fix_text(std::u32string_view text) {
  constexpr std::size_t kLongestSegment = 1'000'000;
  WorkLimit limit(text.size());
  std::u32string out;
  out.reserve(text.size());
  bool unescape = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t line_end = text.find(U'\n', begin);
    const std::size_t end = line_end == std::u32string_view::npos ? text.size() : line_end + 1;
    const std::u32string_view segment = text.substr(begin, std::min(end - begin, kLongestSegment));
    // A "<" means real HTML, whose escapes stay; ftfy remembers it for all later lines.
    if (segment.find(U'<') != std::u32string_view::npos) unescape = false;
    out += fix_segment(segment, unescape, limit);
    begin += segment.size();
  }
  return out;
}

}  // namespace samlet::text
