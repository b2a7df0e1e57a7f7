// UTF-8 in and out, strictly by the Unicode standard (table 3-7: no overlong forms, no surrogates).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace samlet {

/// The code points of well-formed UTF-8, or nothing when the bytes are not. Thread-safe.
[[nodiscard]] std::optional<std::u32string> decode_utf8(std::string_view bytes);

/// The byte offset of the first ill-formed sequence, or nothing when all is well-formed. Thread-safe.
[[nodiscard]] std::optional<std::size_t> find_invalid_utf8(std::string_view bytes) noexcept;

/// UTF-8 of code points. A code point that has no UTF-8 form (a surrogate, or above U+10FFFF) becomes U+FFFD.
[[nodiscard]] std::string encode_utf8(std::u32string_view code_points);

/// A copy that is safe to put on a terminal and into JSON: ill-formed sequences become U+FFFD, and control
/// characters (C0, DEL, C1) become "\xNN" escapes.
[[nodiscard]] std::string printable(std::string_view bytes);

/// The first `most` code points of a text, printable, with "..." after them when there are more. Thread-safe.
[[nodiscard]] std::string first_characters(std::string_view bytes, std::size_t most);

}  // namespace samlet
