#include "libs/tensor/half.h"

#include <bit>

namespace samlet {

std::uint16_t float_to_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFU;
  constexpr std::uint32_t kInfinity = 0x7F800000U;
  constexpr std::uint32_t kOverflow = 0x477FF000U;  // 65520: rounds to infinity
  constexpr std::uint32_t kNormal = 0x38800000U;    // 2^-14, the smallest normal half
  if (magnitude > kInfinity) return static_cast<std::uint16_t>(sign | 0x7E00U);
  if (magnitude >= kOverflow) return static_cast<std::uint16_t>(sign | 0x7C00U);
  if (magnitude >= kNormal) {
    const std::uint32_t rebiased = magnitude - ((127U - 15U) << 23);
    const std::uint32_t rounded = rebiased + 0x0FFFU + ((rebiased >> 13) & 1U);
    return static_cast<std::uint16_t>(sign | (rounded >> 13));
  }
  const std::uint32_t exponent = magnitude >> 23;
  if (exponent < 102) return sign;  // below 2^-25: nearer to zero
  // A subnormal: the mantissa with its leading one, shifted so that one unit is 2^-24.
  const std::uint32_t mantissa = (magnitude & 0x7FFFFFU) | 0x800000U;
  const std::uint32_t shift = 126U - exponent;
  const std::uint32_t half = 1U << (shift - 1);
  const std::uint32_t whole = mantissa >> shift;
  const std::uint32_t rest = mantissa & ((1U << shift) - 1U);
  const bool up = rest > half || (rest == half && (whole & 1U) != 0);
  return static_cast<std::uint16_t>(sign | (whole + (up ? 1U : 0U)));
}

float half_to_float(std::uint16_t bits) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16;
  const std::uint32_t exponent = (bits >> 10) & 0x1FU;
  const std::uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112U) << 23) | (mantissa << 13));
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
}

float bfloat16_to_float(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace samlet
