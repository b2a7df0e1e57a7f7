// The samples of a TIFF row as libtiff gives them, made 8-bit RGB.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libs/image/tiff_page.h"

namespace samlet {

/// Where the samples of one band lie in a row: bits packed from the top, 16-bit ones in the machine's order.
struct TiffBand {
  std::span<const std::uint8_t> row;
  std::size_t first = 0;  ///< The first sample of the band.
  std::size_t step = 1;   ///< Samples from one pixel to the next.
};

/// YCbCr as JPEG defines it to RGB in place ([pixels, 3]), rounded as Pillow's own conversion does.
void ycbcr_to_rgb(std::span<std::uint8_t> pixels);

/// Converts rows of one page. Not thread-safe: it keeps scratch memory.
class TiffConverter {
 public:
  /// The page is checked already (check_tiff_page).
  explicit TiffConverter(const TiffPage& page);

  /// How many bands are needed: the colours, and alpha where it was multiplied in.
  [[nodiscard]] std::size_t bands() const { return values_.size(); }

  /// Writes `pixels` pixels to `rgb` ([pixels, 3]); `bands` has bands() entries whose rows are long enough.
  /// YCbCr stays as it is.
  void convert(std::span<const TiffBand> bands, std::size_t pixels, std::uint8_t* rgb);

 private:
  void to_rgb(std::size_t pixels, std::uint8_t* rgb) const;
  [[nodiscard]] std::uint8_t divided(std::uint32_t value, std::uint32_t alpha) const;

  TiffPhotometric photometric_;
  unsigned bits_;
  bool premultiplied_;
  std::vector<std::uint8_t> eight_;                 // by sample value
  std::vector<std::uint8_t> palette_;               // [2^bits, 3]
  std::vector<std::vector<std::uint16_t>> values_;  // by band
};

}  // namespace samlet
