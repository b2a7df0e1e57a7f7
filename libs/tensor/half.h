// IEEE 754 half precision (binary16) and bfloat16, to and from float.
#pragma once

#include <cstdint>

namespace samlet {

/// Nearest half, ties to even; what is too large becomes infinity. Thread-safe, never throws.
[[nodiscard]] std::uint16_t float_to_half(float value) noexcept;
/// Exact.
[[nodiscard]] float half_to_float(std::uint16_t bits) noexcept;
/// Exact.
[[nodiscard]] float bfloat16_to_float(std::uint16_t bits) noexcept;

}  // namespace samlet
