#include "libs/text/html.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>

namespace samlet::text {
namespace {

struct Entity {
  std::string_view name;  // without the ampersand
  char32_t value[3];      // padded with 0
  std::uint8_t flags;
};
struct NumericCharref {
  char32_t number, value;
};

#include "libs/text/tables/html_entities.inc"

constexpr std::uint8_t kInPython = 1;
constexpr std::uint8_t kInFtfy = 2;

bool is_digit(char32_t c) noexcept {
  return c >= U'0' && c <= U'9';
}
bool is_hex_letter(char32_t c) noexcept {
  return (c >= U'a' && c <= U'f') || (c >= U'A' && c <= U'F');
}
bool is_hex(char32_t c) noexcept {
  return is_digit(c) || is_hex_letter(c);
}
bool is_alphanumeric(char32_t c) noexcept {
  return is_digit(c) || (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z');
}

// The entity of exactly this name that `flag` knows, or nothing.
const Entity* find_entity(std::u32string_view name, std::uint8_t flag) noexcept {
  const auto less = [](const Entity& entity, std::u32string_view key) {
    return std::lexicographical_compare(
        entity.name.begin(), entity.name.end(), key.begin(), key.end(),
        [](auto a, auto b) { return static_cast<char32_t>(a) < static_cast<char32_t>(b); });
  };
  const auto* at = std::lower_bound(std::begin(kEntities), std::end(kEntities), name, less);
  if (at == std::end(kEntities) || (at->flags & flag) == 0) return nullptr;
  const bool same = std::equal(at->name.begin(), at->name.end(), name.begin(), name.end(),
                               [](char a, char32_t b) { return static_cast<char32_t>(a) == b; });
  return same ? at : nullptr;
}

void append_value(std::u32string& out, const Entity& entity) {
  for (const char32_t c : entity.value) {
    if (c != 0) out.push_back(c);
  }
}

// HTML 5's meaning of a numeric reference, appended.
void append_number(std::u32string& out, char32_t number) {
  for (const NumericCharref& row : kInvalidCharrefs) {
    if (row.number == number) {
      out.push_back(row.value);
      return;
    }
  }
  if ((number >= 0xD800 && number <= 0xDFFF) || number > 0x10FFFF) {
    out.push_back(0xFFFD);
  } else if (!std::binary_search(std::begin(kDroppedCharrefs), std::end(kDroppedCharrefs), number)) {
    out.push_back(number);
  }
}

// `text` begins after "&#". Appends the meaning and returns how many characters it took; 0 when it is no
// reference.
std::size_t take_number(std::u32string& out, std::u32string_view text) {
  const bool hex = !text.empty() && (text[0] == U'x' || text[0] == U'X');
  const std::size_t start = hex ? 1 : 0;
  const char32_t base = hex ? 16 : 10;
  char32_t number = 0;
  std::size_t i = start;
  for (; i < text.size() && (hex ? is_hex(text[i]) : is_digit(text[i])); ++i) {
    const char32_t digit = is_digit(text[i]) ? text[i] - U'0' : (text[i] | 0x20U) - U'a' + 10;
    number = std::min<char32_t>(number * base + digit, 0x110000);  // saturates just out of range
  }
  if (i == start) return 0;
  if (i < text.size() && text[i] == U';') ++i;
  append_number(out, number);
  return i;
}

bool ends_a_name(char32_t c) noexcept {
  constexpr std::u32string_view kStops = U"\t\n\f <&#;";
  return kStops.find(c) != std::u32string_view::npos;
}

// `text` begins after "&". Appends the meaning of the longest known name; 0 when there is none.
std::size_t take_name(std::u32string& out, std::u32string_view text) {
  constexpr std::size_t kLongestName = 32;
  std::size_t length = 0;
  while (length < text.size() && length < kLongestName && !ends_a_name(text[length])) ++length;
  if (length == 0) return 0;
  if (length < text.size() && text[length] == U';') ++length;
  // The whole match may be of any length, a proper prefix has at least two characters; no name has only one.
  for (std::size_t n = length; n > 1; --n) {
    if (const Entity* entity = find_entity(text.substr(0, n), kInPython)) {
      append_value(out, *entity);
      return n;
    }
  }
  return 0;
}

// The end of `&#?[0-9A-Za-z]{1,24};` that begins at `text`, or 0.
std::size_t ftfy_reference_length(std::u32string_view text) noexcept {
  constexpr std::size_t kLongestName = 24;
  std::size_t i = 1;
  if (i < text.size() && text[i] == U'#') ++i;
  const std::size_t start = i;
  while (i < text.size() && i - start < kLongestName && is_alphanumeric(text[i])) ++i;
  return i > start && i < text.size() && text[i] == U';' ? i + 1 : 0;
}

// What ftfy puts for one reference, or nothing when it leaves it alone.
std::optional<std::u32string> ftfy_value(std::u32string_view reference) {
  std::u32string value;
  if (reference[1] != U'#') {
    const Entity* entity = find_entity(reference.substr(1), kInFtfy);
    if (entity == nullptr) return std::nullopt;
    append_value(value, *entity);
    return value;
  }
  // A semicolon left over means that only a part was understood; ftfy then keeps the whole.
  const std::size_t taken = take_number(value, reference.substr(2));
  if (taken + 2 != reference.size() || value == U";") return std::nullopt;
  return value;
}

}  // namespace

std::u32string html_unescape(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    std::size_t taken = 0;
    if (text[i] == U'&') {
      const std::u32string_view rest = text.substr(i + 1);
      if (!rest.empty() && rest[0] == U'#') {
        taken = take_number(out, rest.substr(1));
        if (taken != 0) ++taken;
      } else {
        taken = take_name(out, rest);
      }
    }
    if (taken == 0) {
      out.push_back(text[i]);
      ++i;
    } else {
      i += taken + 1;
    }
  }
  return out;
}

std::u32string ftfy_unescape_html(std::u32string_view text) {
  std::u32string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = text[i] == U'&' ? ftfy_reference_length(text.substr(i)) : 0;
    const auto value = length == 0 ? std::nullopt : ftfy_value(text.substr(i, length));
    if (value) {
      out += *value;
      i += length;
    } else {
      out.push_back(text[i]);
      ++i;
    }
  }
  return out;
}

}  // namespace samlet::text
