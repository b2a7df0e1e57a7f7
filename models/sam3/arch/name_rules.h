// Tables that say how the names of one layout become those of another.
#pragma once

#include <span>
#include <string_view>

#include "models/sam3/arch/recipe.h"

namespace samlet::sam3 {

/// Patterns of name_pattern.h, below the prefixes of a group. In `theirs`, '@' stands for q, k and v (kStack)
/// and '|' divides the names of which any will do (kEither).
struct NameRule {
  std::string_view meta;
  std::string_view theirs;
  Recipe::Op op = Recipe::Op::kCopy;
};

struct NameGroup {
  std::string_view meta;
  std::string_view theirs;
  std::span<const NameRule> rules;
};

/// By the first rule that fits the name; without any, the recipe of a tensor that the layout does not have.
[[nodiscard]] Recipe apply_rules(std::span<const NameGroup> groups, std::string_view meta_name);

}  // namespace samlet::sam3
