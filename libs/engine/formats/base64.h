// Bytes as text.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace samlet::formats {

/// RFC 4648, section 4: with padding, without line breaks. Thread-safe.
[[nodiscard]] std::string base64(std::span<const std::uint8_t> bytes);

}  // namespace samlet::formats
