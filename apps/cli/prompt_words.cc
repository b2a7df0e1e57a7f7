#include "apps/cli/prompt_words.h"

#include <array>
#include <charconv>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "samlet/error.h"

namespace samlet::cli {
namespace {

[[noreturn]] void refuse(std::string_view text, std::string_view wanted) {
  throw Error(ErrorCode::kPromptInvalid, fmt::format("'{}' is not {}", text, wanted));
}

double parse_number(std::string_view text, std::string_view whole, std::string_view wanted) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failed != std::errc() || end != text.data() + text.size()) refuse(whole, wanted);
  return value;
}

void parse_numbers(std::string_view text, std::span<double> numbers, std::string_view wanted) {
  std::string_view rest = text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const std::size_t comma = rest.find(',');
    const bool last = i + 1 == numbers.size();
    if (last != (comma == std::string_view::npos)) refuse(text, wanted);
    numbers[i] = parse_number(rest.substr(0, comma), text, wanted);
    if (!last) rest.remove_prefix(comma + 1);
  }
}

/// One "name=value" of an object.
void add_part(ObjectPrompt& object, const std::string& part, const std::string& whole) {
  constexpr std::string_view kForm = "an object; write box=x1,y1,x2,y2;point=x,y;not=x,y";
  const std::size_t equals = part.find('=');
  if (equals == std::string::npos) refuse(whole, kForm);
  const std::string name = part.substr(0, equals);
  const std::string value = part.substr(equals + 1);
  if (name == "point" || name == "not") {
    object.points.push_back({parse_point(value), name == "point"});
  } else if (name == "box") {
    if (object.box) refuse(whole, "one object: it has two boxes; give each object its own --object");
    object.box = parse_box(value);
  } else {
    refuse(whole, kForm);
  }
}

}  // namespace

Box parse_box(const std::string& text) {
  std::array<double, 4> corners{};
  parse_numbers(text, corners, "a box; give four numbers, x1,y1,x2,y2");
  return {corners[0], corners[1], corners[2], corners[3]};
}

Point parse_point(const std::string& text) {
  std::array<double, 2> at{};
  parse_numbers(text, at, "a point; give two numbers, x,y");
  return {at[0], at[1]};
}

ObjectPrompt parse_object(const std::string& text) {
  ObjectPrompt object;
  std::string_view rest = text;
  while (true) {
    const std::size_t end = rest.find(';');
    const std::string part(rest.substr(0, end));
    // A semicolon at the end is no part.
    if (!part.empty() || end != std::string_view::npos) add_part(object, part, text);
    if (end == std::string_view::npos || end + 1 == rest.size()) return object;
    rest.remove_prefix(end + 1);
  }
}

}  // namespace samlet::cli
