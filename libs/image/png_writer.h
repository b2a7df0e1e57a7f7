// PNG files of what is no photograph: masks, label maps, cut-outs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace samlet {

/// What one pixel of a PNG file holds.
enum class PngPixels : std::uint8_t {
  kGrey8,   ///< 1 byte
  kGrey16,  ///< 2 bytes, the high one first
  kRgb8,    ///< 3 bytes
  kRgba8,   ///< 4 bytes; colours are not multiplied by alpha
};

[[nodiscard]] std::size_t bytes_per_pixel(PngPixels pixels) noexcept;

/// Encodes `samples`, row-major [height, width, bytes of a pixel] from the top, to a PNG file's bytes. The
/// same samples give the same bytes. Errors: kUsage when a side is not positive or the samples do not fill
/// the size, kInternal when libpng fails. Thread-safe.
[[nodiscard]] std::vector<std::uint8_t> write_png(PngPixels pixels, int width, int height,
                                                  std::span<const std::uint8_t> samples);

}  // namespace samlet
