// CLIP's byte-pair encoding with the embedded vocabulary. Private to libs/text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace samlet::text {

/// Appends the ids of one match of the pattern, given as UTF-8 bytes (at least one): the pair of the best
/// rank is merged until no pair is left. O(n log n). Pure, thread-safe.
void append_bpe(std::vector<std::uint16_t>& ids, std::string_view word);

}  // namespace samlet::text
