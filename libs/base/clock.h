// Wall time between two points of a call, for timings that are shown.
#pragma once

#include <chrono>

namespace samlet {

using Clock = std::chrono::steady_clock;

[[nodiscard]] inline Clock::time_point now() noexcept {
  return Clock::now();
}

[[nodiscard]] inline double milliseconds_since(Clock::time_point start) noexcept {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

}  // namespace samlet
