// The font that TextRenderer draws with, as bytes inside of the program.
#pragma once

#include <cstdint>
#include <span>

namespace samlet {

/// DejaVu Sans, a TrueType file. Lives as long as the program. Thread-safe.
[[nodiscard]] std::span<const std::uint8_t> embedded_font() noexcept;

}  // namespace samlet
