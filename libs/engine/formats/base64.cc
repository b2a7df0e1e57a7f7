#include "libs/engine/formats/base64.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace samlet::formats {

std::string base64(std::span<const std::uint8_t> bytes) {
  constexpr std::string_view kLetters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) group = (group << 8) | (k < count ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k)
      out.push_back(k <= count ? kLetters[(group >> (18 - 6 * k)) & 63] : '=');
  }
  return out;
}

}  // namespace samlet::formats
