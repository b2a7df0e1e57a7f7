#include "libs/base/utf8.h"

#include <algorithm>
#include <cstdint>

#include <fmt/format.h>

namespace samlet {
namespace {

struct Decoded {
  char32_t code_point;
  std::size_t length;  // bytes consumed; 0 = ill-formed here
};

constexpr bool is_continuation(unsigned char byte) {
  return (byte & 0xC0U) == 0x80U;
}

Decoded decode_at(std::string_view s, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(s[i + k]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  std::size_t length = 0;
  char32_t value = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    length = 2;
    value = lead & 0x1FU;
  } else if ((lead & 0xF0U) == 0xE0U) {
    length = 3;
    value = lead & 0x0FU;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    length = 4;
    value = lead & 0x07U;
  } else {
    return {0, 0};
  }
  if (length > s.size() - i) return {0, 0};
  for (std::size_t k = 1; k < length; ++k) {
    if (!is_continuation(byte(k))) return {0, 0};
    value = (value << 6) | (byte(k) & 0x3FU);
  }
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < kSmallest[length] || surrogate || value > 0x10FFFF) return {0, 0};
  return {value, length};
}

void append_utf8(std::string& out, char32_t c) {
  if ((c >= 0xD800 && c <= 0xDFFF) || c > 0x10FFFF) c = 0xFFFD;
  const auto put = [&](char32_t byte) { out.push_back(static_cast<char>(static_cast<unsigned char>(byte))); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0U | (c >> 6));
    put(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    put(0xE0U | (c >> 12));
    put(0x80U | ((c >> 6) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  } else {
    put(0xF0U | (c >> 18));
    put(0x80U | ((c >> 12) & 0x3FU));
    put(0x80U | ((c >> 6) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  }
}

}  // namespace

std::optional<std::u32string> decode_utf8(std::string_view bytes) {
  std::u32string out;
  out.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const Decoded d = decode_at(bytes, i);
    if (d.length == 0) return std::nullopt;
    out.push_back(d.code_point);
    i += d.length;
  }
  return out;
}

std::optional<std::size_t> find_invalid_utf8(std::string_view bytes) noexcept {
  for (std::size_t i = 0; i < bytes.size();) {
    const Decoded d = decode_at(bytes, i);
    if (d.length == 0) return i;
    i += d.length;
  }
  return std::nullopt;
}

std::string encode_utf8(std::u32string_view code_points) {
  std::string out;
  out.reserve(code_points.size());
  for (const char32_t c : code_points) append_utf8(out, c);
  return out;
}

std::string printable(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const Decoded d = decode_at(bytes, i);
    if (d.length == 0) {
      append_utf8(out, 0xFFFD);
      ++i;
      continue;
    }
    const bool control = d.code_point < 0x20 || (d.code_point >= 0x7F && d.code_point < 0xA0);
    if (control) {
      out += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(d.code_point));
    } else {
      append_utf8(out, d.code_point);
    }
    i += d.length;
  }
  return out;
}

std::string first_characters(std::string_view bytes, std::size_t most) {
  std::size_t end = 0;
  for (std::size_t count = 0; count < most && end < bytes.size(); ++count)
    end += std::max<std::size_t>(1, decode_at(bytes, end).length);
  return printable(bytes.substr(0, end)) + (end < bytes.size() ? "..." : "");
}

}  // namespace samlet
