// What ftfy knows about characters that show up in mojibake. Private to libs/text. All pure and thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace samlet::text {

/// ftfy's badness heuristic: whether the text holds a sequence that hardly occurs outside of mojibake.
[[nodiscard]] bool is_bad(std::u32string_view text) noexcept;

/// Bits of `clues`: the part of a UTF-8 sequence that the character's byte would be in a Latin-1-like
/// encoding.
inline constexpr unsigned kFirstOf2 = 1;
inline constexpr unsigned kFirstOf3 = 2;
inline constexpr unsigned kFirstOf4 = 4;
inline constexpr unsigned kContinuation = 8;         ///< also a space, which may stand for A0
inline constexpr unsigned kStrictContinuation = 16;  ///< without what is common beside mojibake
[[nodiscard]] unsigned utf8_clues(char32_t c) noexcept;

/// The one-byte encodings that ftfy tries, in its order.
inline constexpr std::size_t kEncodingCount = 10;
inline constexpr std::size_t kMacRomanEncoding = 8;
/// "Sloppy" encodings give unassigned bytes the code points of the same number, and U+FFFD the byte 1A.
[[nodiscard]] bool is_sloppy(std::size_t encoding) noexcept;
/// The set of encodings (bit i for encoding i) that have every character of the text.
[[nodiscard]] unsigned possible_encodings(std::u32string_view text) noexcept;
/// The text's bytes in an encoding out of possible_encodings(text).
[[nodiscard]] std::string encode(std::u32string_view text, std::size_t encoding);

/// Windows-1252 of a C1 control (U+0080..U+009F), unassigned ones as themselves.
[[nodiscard]] char32_t sloppy_windows_1252(char32_t c1) noexcept;

/// At most three characters in place of one.
struct Replacement {
  char32_t from;
  char32_t to[3];  ///< padded with 0
};
/// What fix_latin_ligatures puts for a character, or nothing.
[[nodiscard]] const Replacement* find_ligature(char32_t c) noexcept;
/// What fix_character_width puts for a character, or nothing.
[[nodiscard]] const Replacement* find_width_form(char32_t c) noexcept;
/// Whether remove_control_chars drops it.
[[nodiscard]] bool is_dropped_control(char32_t c) noexcept;

}  // namespace samlet::text
