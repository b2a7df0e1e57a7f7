// What the first page of a TIFF file says of its pixels, read before libtiff sees the file, and the refusal
// of what cannot be turned into colours rightly. Sources: TIFF 6.0 and its supplements; Pillow's
// TiffImagePlugin for which extra samples mean what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libs/image/exif.h"
#include "samlet/image.h"

namespace samlet {

/// Tag 262, PhotometricInterpretation, as far as it is read.
enum class TiffPhotometric : std::uint32_t {
  kWhiteIsZero = 0,
  kBlackIsZero = 1,
  kRgb = 2,
  kPalette = 3,
  kCmyk = 5,
  kYcbcr = 6,
};

/// Tag 259, Compression, as far as the rules depend on it.
enum class TiffCompression : std::uint32_t {
  kNone = 1,
  kCcittRle = 2,
  kCcittG3 = 3,
  kCcittG4 = 4,
  kLzw = 5,
  kJpeg = 7,
  kDeflate = 8,
  kCcittRleWords = 32771,
  kPackBits = 32773,
  kThunderScan = 32809,
  kOldDeflate = 32946,
  kLzma = 34925,
  kZstd = 50000,
  kWebp = 50001,
};

struct TiffPage {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t bands = 1;                       ///< Samples of a pixel.
  std::vector<std::uint32_t> bits{1};            ///< Of the bands; one number when they have the same.
  std::vector<std::uint32_t> sample_formats{1};  ///< As `bits`. 1 = unsigned, 2 = signed, 3 = float, ...
  std::vector<std::uint32_t> extras;             ///< What the bands after the colours mean.
  TiffCompression compression = TiffCompression::kNone;
  TiffPhotometric photometric = TiffPhotometric::kWhiteIsZero;
  bool planar = false;                 ///< Each band lies apart.
  std::vector<std::uint32_t> palette;  ///< All red values, then green, then blue; of 16 bits.
  FoundOrientation orientation;
  std::uint64_t frames = 1;  ///< Pages of the file.

  [[nodiscard]] std::uint32_t bits_each() const { return bits.front(); }
  /// Bands that make the colour: 1, 3 or 4.
  [[nodiscard]] std::uint32_t colour_bands() const;
  /// Whether there is an alpha by which the colours have to be divided.
  [[nodiscard]] bool premultiplied() const;
  /// Whether there is an alpha, of either kind.
  [[nodiscard]] bool alpha() const;
};

/// Reads the first directory. Errors: kImageUnreadable (damaged, or a camera raw picture, which would be
/// shown as its small preview otherwise). Thread-safe.
[[nodiscard]] TiffPage read_tiff_page(std::span<const std::uint8_t> bytes);

/// Refuses what is not read (by its bits, bands, sample format, colours or compression), and what cannot be
/// in a file of `file_bytes`. Errors: kImageUnreadable, kImageTooLarge. Thread-safe.
void check_tiff_page(const TiffPage& page, std::size_t file_bytes, const DecodeOptions& options);

/// "LZW"; for others "compression 12345". Thread-safe.
[[nodiscard]] std::string tiff_compression_name(TiffCompression compression);

}  // namespace samlet
