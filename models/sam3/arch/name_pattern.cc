#include "models/sam3/arch/name_pattern.h"

#include <cstddef>

#include "samlet/error.h"

namespace samlet::sam3 {

std::optional<std::vector<std::string_view>> match_name(std::string_view pattern, std::string_view name) {
  std::vector<std::string_view> parts;
  std::size_t at = 0;
  for (const char c : pattern) {
    const std::string_view rest = name.substr(at);
    if (c == '*') {
      if (rest.empty()) return std::nullopt;
      parts.push_back(rest);
      return parts;
    }
    if (c == '#') {
      const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
      if (digits.empty()) return std::nullopt;
      parts.push_back(digits);
      at += digits.size();
    } else {
      if (rest.empty() || rest.front() != c) return std::nullopt;
      ++at;
    }
  }
  if (at != name.size()) return std::nullopt;
  return parts;
}

std::string fill_name(std::string_view pattern, const std::vector<std::string_view>& parts) {
  std::string name;
  std::size_t used = 0;
  for (const char c : pattern) {
    if (c != '#' && c != '*') {
      name += c;
      continue;
    }
    if (used == parts.size()) throw Error(ErrorCode::kInternal, "a name pattern has too few parts");
    name += parts[used++];
  }
  return name;
}

}  // namespace samlet::sam3
