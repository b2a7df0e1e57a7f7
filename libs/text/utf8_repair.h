// Bytes that ftfy hopes to be UTF-8: its repairs before decoding, and its lenient decoder. Private to
// libs/text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace samlet::text {

// All pure and thread-safe.

/// ftfy's restore_byte_a0: puts A0 back for a space where that completes a likely UTF-8 sequence. Nothing
/// when no such place exists (ALTERED_UTF8_RE does not match).
[[nodiscard]] std::optional<std::string> restore_byte_a0(std::string_view bytes);

/// ftfy's replace_lossy_sequences: UTF-8 sequences in which bytes were lost (1A, sometimes '?') become
/// U+FFFD.
[[nodiscard]] std::string replace_lossy_sequences(std::string_view bytes);

/// ftfy's "utf-8-variants" codec: UTF-8, and CESU-8 surrogate pairs, and C0 80 for U+0000. Nothing when
/// ill-formed.
[[nodiscard]] std::optional<std::u32string> decode_utf8_variants(std::string_view bytes);

}  // namespace samlet::text
