// The Unicode facts that the tokenizer's reference uses, from generated tables. Private to libs/text.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace samlet::text {

/// How the CLIP pattern sees a character (under IGNORECASE, by the `regex` module's Unicode version).
enum class WordClass : std::uint8_t {
  kNone,    ///< White space, and U+0345, which no part of the pattern takes.
  kLetter,  ///< \p{L}
  kNumber,  ///< \p{N}
  kOther,   ///< [^\s\p{L}\p{N}]
};

// All functions here are pure and thread-safe. Code points above U+10FFFF and surrogates have no property.

[[nodiscard]] WordClass word_class(char32_t c) noexcept;
/// `\s` of the `regex` module; it leaves out U+001C..U+001F.
[[nodiscard]] bool is_pattern_space(char32_t c) noexcept;
/// Python's str.isspace, which str.strip and `\s` of the `re` module follow.
[[nodiscard]] bool is_python_space(char32_t c) noexcept;
/// `\w` of the `re` module.
[[nodiscard]] bool is_python_word(char32_t c) noexcept;
/// `\d` of the `re` module.
[[nodiscard]] bool is_python_digit(char32_t c) noexcept;

/// Python 3.11's str.lower, with the final sigma and U+0130.
[[nodiscard]] std::u32string lower(std::u32string_view text);

/// Normalization Form C of Unicode 14, as Python 3.11's unicodedata.normalize.
[[nodiscard]] std::u32string to_nfc(std::u32string text);

/// Python's str.strip without arguments, as a view into `text`.
[[nodiscard]] std::u32string_view strip(std::u32string_view text) noexcept;

}  // namespace samlet::text
