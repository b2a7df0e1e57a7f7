#include "models/sam3/arch/name_rules.h"

#include <charconv>
#include <string>
#include <vector>

#include "models/sam3/arch/name_pattern.h"

namespace samlet::sam3 {
namespace {

using Op = Recipe::Op;

std::string with_letter(const std::string& name, char letter) {
  std::string result = name;
  result[result.find('@')] = letter;
  return result;
}

std::vector<std::string> alternatives(std::string_view prefix, std::string_view names) {
  std::vector<std::string> result;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find('|'));
    result.push_back(std::string(prefix) + std::string(name));
    names.remove_prefix(name.size() == names.size() ? name.size() : name.size() + 1);
  }
  return result;
}

Recipe apply(const NameGroup& group, const NameRule& rule, const std::vector<std::string_view>& parts) {
  Recipe recipe{.op = rule.op, .stored = {}};
  switch (rule.op) {
    case Op::kEither:
      recipe.stored = alternatives(group.theirs, rule.theirs);
      break;
    case Op::kRow:
      recipe.stored = alternatives(group.theirs, rule.theirs);
      // A number too large to be one is a row that no tensor has.
      if (std::from_chars(parts[0].data(), parts[0].data() + parts[0].size(), recipe.row).ec != std::errc{}) {
        recipe.row = -1;
      }
      break;
    case Op::kStack: {
      const std::string name = std::string(group.theirs) + fill_name(rule.theirs, parts);
      for (const char letter : {'q', 'k', 'v'}) recipe.stored.push_back(with_letter(name, letter));
      break;
    }
    default:
      recipe.stored = {std::string(group.theirs) + fill_name(rule.theirs, parts)};
  }
  return recipe;
}

}  // namespace

Recipe apply_rules(std::span<const NameGroup> groups, std::string_view meta_name) {
  for (const NameGroup& group : groups) {
    if (!meta_name.starts_with(group.meta)) continue;
    for (const NameRule& rule : group.rules) {
      const auto parts = match_name(rule.meta, meta_name.substr(group.meta.size()));
      if (parts) return apply(group, rule, *parts);
    }
  }
  return {};
}

}  // namespace samlet::sam3
