#include "libs/text/utf8_repair.h"

#include <cstddef>
#include <cstdint>

#include "libs/base/utf8.h"

namespace samlet::text {
namespace {

using Byte = std::uint8_t;

// Bytes with an answer past the end: 0, which no pattern here accepts where it asks.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] Byte at(std::size_t i) const noexcept {
    return i < bytes_.size() ? static_cast<Byte>(bytes_[i]) : Byte{0};
  }
  [[nodiscard]] bool in(std::size_t i, Byte low, Byte high) const noexcept {
    return i < bytes_.size() && at(i) >= low && at(i) <= high;
  }
  [[nodiscard]] bool is(std::size_t i, Byte byte) const noexcept { return in(i, byte, byte); }
  [[nodiscard]] bool continuation(std::size_t i) const noexcept { return in(i, 0x80, 0xBF); }
  /// A continuation byte other than 85 (an ellipsis in Windows-1252) and A0.
  [[nodiscard]] bool likely_continuation(std::size_t i) const noexcept {
    return continuation(i) && !is(i, 0x85) && !is(i, 0xA0);
  }
  /// Byte 1A, which stands for a lost byte.
  [[nodiscard]] bool lost(std::size_t i) const noexcept { return is(i, 0x1A); }
  [[nodiscard]] bool lost_or_question(std::size_t i) const noexcept { return lost(i) || is(i, '?'); }
  [[nodiscard]] bool lost_or_continuation(std::size_t i) const noexcept { return lost(i) || continuation(i); }
  /// What `$` of `re` means: the end, or before a line feed that ends the text.
  [[nodiscard]] bool dollar(std::size_t i) const noexcept {
    return i == bytes_.size() || (i + 1 == bytes_.size() && bytes_[i] == '\n');
  }

 private:
  std::string_view bytes_;
};

// The length of the match of ALTERED_UTF8_RE at `i`, or 0. Its alternatives exclude one another except among
// those of F0, whose lengths are equal.
std::size_t altered_length(const Bytes& b, std::size_t i) noexcept {
  const Byte lead = b.at(i);
  const bool space1 = b.is(i + 1, ' ');
  switch (lead) {
    case 0xC2:
    case 0xC3:
    case 0xC5:
    case 0xCE:
    case 0xD0:
    case 0xD9:
      return space1 ? 2 : 0;
    case 0xE0:
    case 0xE1:
      return b.likely_continuation(i + 1) && b.is(i + 2, ' ') ? 3 : 0;
    case 0xE2:
    case 0xE3:
      if (space1 && b.likely_continuation(i + 2)) return 3;
      return b.likely_continuation(i + 1) && b.is(i + 2, ' ') ? 3 : 0;
    case 0xF0: {
      const bool space2 = b.is(i + 2, ' ');
      const bool space3 = b.is(i + 3, ' ');
      const bool c1 = b.continuation(i + 1);
      const bool c2 = b.continuation(i + 2);
      const bool c3 = b.continuation(i + 3);
      return (space1 && c2 && c3) || (c1 && space2 && c3) || (c1 && c2 && space3) ? 4 : 0;
    }
    default:
      return 0;
  }
}

// A "Ã " is most often the word "à" with its space, save for the beginnings of some Portuguese words.
std::string separate_a_grave(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    out.push_back(bytes[i]);
    if (bytes[i] != '\xC3' || i + 1 == bytes.size() || bytes[i + 1] != ' ') continue;
    const std::string_view after = bytes.substr(i + 2);
    const bool keep = after.starts_with(" ") || after.starts_with("quele") || after.starts_with("quela") ||
                      after.starts_with("quilo") || after.starts_with("s ");
    if (!keep) out.push_back('\xA0');
  }
  return out;
}

// A surrogate pair in CESU-8 of which the third or the sixth byte was lost.
bool is_lossy_cesu8(const Bytes& b, std::size_t i) noexcept {
  const bool pair = b.is(i, 0xED) && b.in(i + 1, 0xA0, 0xAF) && b.is(i + 3, 0xED) && b.in(i + 4, 0xB0, 0xBF);
  const bool lost2 = b.lost_or_question(i + 2);
  const bool lost5 = b.lost_or_question(i + 5);
  return pair && ((lost2 && (lost5 || b.continuation(i + 5))) || (lost5 && b.continuation(i + 2)));
}

bool is_lossy_three(const Bytes& b, std::size_t i) noexcept {
  if (!b.in(i, 0xE0, 0xEF)) return false;
  return (b.lost_or_question(i + 1) && b.lost_or_continuation(i + 2)) ||
         (b.lost_or_continuation(i + 1) && b.lost_or_question(i + 2));
}

bool is_lossy_four(const Bytes& b, std::size_t i) noexcept {
  if (!b.in(i, 0xF0, 0xF4)) return false;
  const bool k1 = b.lost_or_continuation(i + 1);
  const bool k2 = b.lost_or_continuation(i + 2);
  const bool k3 = b.lost_or_continuation(i + 3);
  return (b.lost_or_question(i + 1) && k2 && k3) || (k1 && b.lost_or_question(i + 2) && k3) ||
         (k1 && k2 && b.lost_or_question(i + 3));
}

// The length of the match of LOSSY_UTF8_RE at `i`, or 0. The order of the checks is that of its alternatives.
std::size_t lossy_length(const Bytes& b, std::size_t i) noexcept {
  if (b.in(i, 0xC2, 0xDF) && b.lost(i + 1)) return 2;
  if (b.in(i, 0xC2, 0xC3) && b.is(i + 1, '?')) return 2;
  if (is_lossy_cesu8(b, i)) return 6;
  if (is_lossy_three(b, i)) return 3;
  if (is_lossy_four(b, i)) return 4;
  return b.lost(i) ? 1 : 0;
}

// The six bytes at `i` as a surrogate pair, the last one possibly replaced by the line feed that ends the
// text: the expression of ftfy has `$` there, which also matches before that line feed, and its arithmetic
// then takes it in.
bool is_cesu8_pair(const Bytes& b, std::size_t i, std::size_t size) noexcept {
  if (size - i < 6) return false;
  return b.is(i, 0xED) && b.in(i + 1, 0xA0, 0xAF) && b.continuation(i + 2) && b.is(i + 3, 0xED) &&
         b.in(i + 4, 0xB0, 0xBF) && (b.continuation(i + 5) || b.dollar(i + 5));
}

// U+0000 in two bytes; the second may be, for the same reason, the line feed that ends the text.
bool is_java_null(const Bytes& b, std::size_t i, std::size_t size) noexcept {
  return b.is(i, 0xC0) && size - i >= 2 && (b.is(i + 1, 0x80) || b.dollar(i + 1));
}

char32_t cesu8_code_point(const Bytes& b, std::size_t i) noexcept {
  const auto bits = [&](std::size_t k, Byte mask) { return static_cast<char32_t>(b.at(i + k) & mask); };
  return 0x10000 + (bits(1, 0x0F) << 16U) + (bits(2, 0x3F) << 10U) + (bits(4, 0x0F) << 6U) + bits(5, 0x3F);
}

}  // namespace

std::optional<std::string> restore_byte_a0(std::string_view bytes) {
  const auto search = [](std::string_view text) {
    const Bytes b(text);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (altered_length(b, i) != 0) return true;
    }
    return false;
  };
  if (!search(bytes)) return std::nullopt;
  std::string out = separate_a_grave(bytes);
  const std::string before = out;
  const Bytes b(before);
  for (std::size_t i = 0; i < before.size();) {
    const std::size_t length = altered_length(b, i);
    for (std::size_t k = i; k < i + length; ++k) {
      if (out[k] == ' ') out[k] = '\xA0';
    }
    i += length == 0 ? 1 : length;
  }
  return out;
}

std::string replace_lossy_sequences(std::string_view bytes) {
  const Bytes b(bytes);
  std::string out;
  out.reserve(bytes.size());
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t length = lossy_length(b, i);
    if (length == 0) {
      out.push_back(bytes[i]);
      ++i;
    } else {
      out += "\xEF\xBF\xBD";
      i += length;
    }
  }
  return out;
}

std::optional<std::u32string> decode_utf8_variants(std::string_view bytes) {
  const Bytes b(bytes);
  std::u32string out;
  std::size_t plain = 0;  // start of the ordinary UTF-8 that is not decoded yet
  const auto flush = [&](std::size_t end) {
    const auto decoded = decode_utf8(bytes.substr(plain, end - plain));
    if (decoded) out += *decoded;
    return decoded.has_value();
  };
  for (std::size_t i = 0; i < bytes.size();) {
    const bool null = is_java_null(b, i, bytes.size());
    if (!null && !is_cesu8_pair(b, i, bytes.size())) {
      ++i;
      continue;
    }
    if (!flush(i)) return std::nullopt;
    out.push_back(null ? U'\0' : cesu8_code_point(b, i));
    i += null ? 2 : 6;
    plain = i;
  }
  if (!flush(bytes.size())) return std::nullopt;
  return out;
}

}  // namespace samlet::text
