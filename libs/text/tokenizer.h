// Phrases to token ids, id for id as Meta's SAM 3 code does it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samlet::text {

inline constexpr std::int64_t kStartToken = 49406;
inline constexpr std::int64_t kEndToken = 49407;

struct Tokens {
  std::vector<std::int64_t> ids;  ///< `context` ids: start, the phrase, end, then padding 0.
  std::size_t used = 0;           ///< How many of them are not padding.
  bool truncated = false;         ///< The phrase was longer; the last id was replaced by the end token.
};

/// Meta's `SimpleTokenizer(context_length=context)`: ftfy 6.3.1 fix_text, html.unescape twice, strip, white
/// space to one blank, lower case (Python 3.11), the CLIP pattern, byte-level BPE with the embedded
/// vocabulary. `phrase` must be well-formed UTF-8. Thread-safe; the vocabulary is embedded and needs no
/// set-up. Errors: kPromptInvalid when the phrase is not UTF-8, naming the byte, or wraps its text in so many
/// layers of HTML escapes that undoing them would take seconds; kUsage when `context` is 0.
[[nodiscard]] Tokens tokenize(std::string_view phrase, std::size_t context);

/// The phrase as the pattern sees it: cleaned, white space squeezed, lower case. For messages and tests.
/// Thread-safe. Errors: kPromptInvalid for too many layers, as above.
[[nodiscard]] std::u32string clean(std::u32string_view phrase);

}  // namespace samlet::text
