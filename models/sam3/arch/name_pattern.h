// Patterns of tensor names: plain text, '#' for a number, and '*' at the end for whatever follows. Enough to
// say how one layout's names become another's, for any number of layers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samlet::sam3 {

/// What '#' and '*' stand for, in order; nothing when the name does not fit. Both stand for something, never
/// for nothing.
[[nodiscard]] std::optional<std::vector<std::string_view>> match_name(std::string_view pattern,
                                                                      std::string_view name);

/// The pattern with its '#' and '*' replaced by the parts, in order. Errors: kInternal when there are too
/// few.
[[nodiscard]] std::string fill_name(std::string_view pattern, const std::vector<std::string_view>& parts);

}  // namespace samlet::sam3
