// Arithmetic on sizes that came from a file: an overflow is an answer, never a wrap-around.
#pragma once

#include <concepts>
#include <optional>

namespace samlet {

/// a + b, or nothing when the type cannot hold it.
template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) noexcept {
  T out{};
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

/// a * b, or nothing when the type cannot hold it.
template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_mul(T a, T b) noexcept {
  T out{};
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

}  // namespace samlet
