// What can be wrong with a box, whichever kind of prompt it belongs to.
#pragma once

#include <string>
#include <vector>

#include "samlet/prompt.h"

namespace samlet {

/// Errors: kPromptInvalid with this sentence. Never returns.
[[noreturn]] void refuse_prompt(const std::string& message);

/// Corners that are no numbers, or no area. Errors: kPromptInvalid.
void check_box_shape(const Box& given);

/// The box with its corners in order, where it may lie on the picture; a sentence to `warnings` for what
/// looks mistaken. Errors: kPromptInvalid for a box outside of the picture or far over its border.
[[nodiscard]] Box placed_box(const Box& given, int width, int height, std::vector<std::string>& warnings);

/// Errors: kPromptInvalid for pixel numbers where fractions were promised.
void require_box_fractions(const Box& b);

}  // namespace samlet
