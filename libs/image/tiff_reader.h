// Strips and tiles of a TIFF file's first page, decoded by libtiff.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "libs/image/tiff_page.h"

namespace samlet {

/// Whether libtiff was built with a compression.
[[nodiscard]] bool tiff_codec_present(TiffCompression compression);

/// libtiff on the bytes of a file, which must outlive it. All errors: kImageUnreadable. Not thread-safe; two
/// readers share nothing.
class TiffReader {
 public:
  /// libtiff must find in the directory what `page` says.
  TiffReader(std::span<const std::uint8_t> bytes, const TiffPage& page);
  ~TiffReader();
  TiffReader(const TiffReader&) = delete;
  TiffReader& operator=(const TiffReader&) = delete;

  [[nodiscard]] bool tiled() const;
  [[nodiscard]] std::array<std::uint32_t, 2> tile_size() const;           ///< width, height; no side is 0
  [[nodiscard]] std::uint32_t rows_per_strip() const;                     ///< at least 1
  [[nodiscard]] std::array<std::uint16_t, 2> chroma_subsampling() const;  ///< across, down

  /// Sizes of decoded data as libtiff reckons; not positive when that fails.
  [[nodiscard]] std::int64_t row_bytes() const;
  [[nodiscard]] std::int64_t tile_bytes() const;
  [[nodiscard]] std::int64_t strip_bytes(std::uint32_t rows) const;

  /// YCbCr in JPEG becomes RGB while it is decoded.
  void let_jpeg_make_rgb();

  /// Decodes the next row of a strip; the rows of a band come in order.
  void read_row(std::uint32_t y, std::uint16_t band, std::span<std::uint8_t> out);
  /// Decodes the tile that holds a pixel.
  void read_tile(std::size_t x, std::size_t y, std::uint16_t band, std::span<std::uint8_t> out);
  /// Decodes the strip that holds a row.
  void read_strip(std::uint32_t y, std::uint16_t band, std::span<std::uint8_t> out);

  /// The first damage that libtiff only warned of, empty when there was none.
  [[nodiscard]] std::string_view warning() const;

 private:
  friend class TiffYcbcr;
  struct State;

  void compare(const TiffPage& page) const;
  void check_present(std::uint32_t strile) const;
  void check_damage() const;

  std::unique_ptr<State> state_;
};

/// libtiff's own conversion of YCbCr that is not inside of JPEG, which Pillow uses too: with the page's
/// coefficients and reference values.
class TiffYcbcr {
 public:
  explicit TiffYcbcr(const TiffReader& reader);

  /// Whether the page's numbers are JPEG's.
  [[nodiscard]] bool plain() const { return plain_; }

  void convert(std::uint8_t y, std::uint8_t cb, std::uint8_t cr, std::uint8_t* rgb);

 private:
  bool plain_ = false;
  std::vector<std::max_align_t> memory_;
};

}  // namespace samlet
