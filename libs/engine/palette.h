// The colours of an overlay.
#pragma once

#include <cstddef>

#include "libs/image/draw.h"

namespace samlet {

/// How many colours there are before they repeat.
inline constexpr std::size_t kPaletteSize = 20;

/// The colour of the item with this number; repeats after kPaletteSize. Bright, and apart from each other
/// also for colour-blind eyes, the first ones the most. Thread-safe, never throws.
[[nodiscard]] Color palette_color(std::size_t index) noexcept;

/// Black or white, whichever has the greater contrast (WCAG 2) on `ground`. Thread-safe, never throws.
[[nodiscard]] Color text_color_on(Color ground) noexcept;

}  // namespace samlet
