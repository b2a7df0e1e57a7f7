// TIFF: rows and tiles of the first page, put together. tiff_page.cc has read its directory before, and
// refused what is not read; tiff_reader.cc decodes through libtiff.
//
// Large strips are decoded row by row, so that memory grows with the rows that are really there. libtiff
// keeps one place in one strip, so bands that lie apart (planar) have a reader each.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/image/codec.h"
#include "libs/image/tiff_page.h"
#include "libs/image/tiff_pixels.h"
#include "libs/image/tiff_reader.h"
#include "samlet/error.h"

namespace samlet {
namespace {

constexpr std::string_view kKind = "TIFF";

/// Chroma of `across` x `down` pixels: their brightnesses, then Cb and Cr.
struct Clumps {
  std::uint16_t across = 1;
  std::uint16_t down = 1;

  [[nodiscard]] bool single() const { return across == 1 && down == 1; }
  [[nodiscard]] std::size_t bytes_each() const { return std::size_t{across} * down + 2; }
  [[nodiscard]] std::size_t in_row(std::size_t width) const { return (width + across - 1) / across; }
  [[nodiscard]] std::size_t bytes(std::size_t width, std::size_t height) const {
    return in_row(width) * ((height + down - 1) / down) * bytes_each();
  }
};

Clumps clumps_of(const TiffReader& reader) {
  const auto [across, down] = reader.chroma_subsampling();
  const auto legal = [](std::uint16_t n) { return n == 1 || n == 2 || n == 4; };
  if (!legal(across) || !legal(down)) {
    throw_damaged(kKind, fmt::format("its chroma is subsampled by {}x{}", across, down));
  }
  return {across, down};
}

// ---- The picture.

/// A strip or a tile, and the part of it that lies inside of the picture.
struct Area {
  std::size_t x = 0;
  std::size_t y = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

class Decoder {
 public:
  Decoder(std::span<const std::uint8_t> bytes, const TiffPage& page);
  [[nodiscard]] Image decode();
  /// libtiff's first warning about pixels, empty when there was none.
  [[nodiscard]] std::string_view warning() const;

 private:
  void decode_strips(Image& image);
  void decode_tiles(Image& image);
  void decode_clumped_strips(Image& image);
  void decode_clumped_tiles(Image& image);
  void put_row(std::span<const std::vector<std::uint8_t>> blocks, std::size_t row_bytes, std::size_t row,
               std::size_t pixels, std::uint8_t* rgb);
  void put_clumps(std::span<const std::uint8_t> block, std::size_t block_width, const Area& area,
                  Image& image);
  void check_block(std::uint64_t block_bytes, std::int64_t by_libtiff) const;
  void set_up_colours();

  std::span<const std::uint8_t> bytes_;
  const TiffPage& page_;
  TiffConverter converter_;
  std::vector<std::unique_ptr<TiffReader>> readers_;  // one, or one a band
  std::unique_ptr<TiffYcbcr> ycbcr_;                  // only when it is needed
  Clumps clumps_;
};

Decoder::Decoder(std::span<const std::uint8_t> bytes, const TiffPage& page)
    : bytes_(bytes), page_(page), converter_(page) {
  const std::size_t readers = page.planar ? converter_.bands() : 1;
  for (std::size_t i = 0; i < readers; ++i) readers_.push_back(std::make_unique<TiffReader>(bytes, page));
  set_up_colours();
}

void Decoder::set_up_colours() {
  if (page_.photometric != TiffPhotometric::kYcbcr) return;
  TiffReader& reader = *readers_.front();
  if (page_.compression == TiffCompression::kJpeg && !page_.planar) {
    reader.let_jpeg_make_rgb();
    return;
  }
  clumps_ = clumps_of(reader);
  if (page_.planar && !clumps_.single()) {
    throw Error(
        ErrorCode::kImageUnreadable,
        "this TIFF picture has YCbCr colours in bands of different sizes, which is not read; convert it to "
        "RGB");
  }
  ycbcr_ = std::make_unique<TiffYcbcr>(reader);
}

std::string_view Decoder::warning() const {
  for (const auto& reader : readers_) {
    if (!reader->warning().empty()) return reader->warning();
  }
  return {};
}

/// A row, strip or tile is memory that is taken at once. Where it is large the file has to be, too: by what
/// deflate can do at best.
void Decoder::check_block(std::uint64_t block_bytes, std::int64_t by_libtiff) const {
  if (by_libtiff <= 0 || block_bytes != static_cast<std::uint64_t>(by_libtiff)) {
    throw_damaged(kKind, "the size of its rows, strips or tiles contradicts its directory");
  }
  constexpr std::uint64_t kSmall = std::uint64_t{64} << 20;
  constexpr std::uint64_t kMaxRatio = 1032;
  if (block_bytes <= kSmall || block_bytes / kMaxRatio <= bytes_.size()) return;
  throw_damaged(kKind, fmt::format("a strip or tile of {} bytes cannot be in a file of {}", block_bytes,
                                   bytes_.size()));
}

Image Decoder::decode() {
  Image image{static_cast<int>(page_.width), static_cast<int>(page_.height), {}};
  const bool tiled = readers_.front()->tiled();
  if (!clumps_.single()) {
    if (tiled) {
      decode_clumped_tiles(image);
    } else {
      decode_clumped_strips(image);
    }
  } else if (tiled) {
    decode_tiles(image);
  } else {
    decode_strips(image);
  }
  return image;
}

/// Converts one row of decoded blocks (one, or one a band).
void Decoder::put_row(std::span<const std::vector<std::uint8_t>> blocks, std::size_t row_bytes,
                      std::size_t row, std::size_t pixels, std::uint8_t* rgb) {
  std::array<TiffBand, 5> bands;
  const std::size_t count = converter_.bands();
  for (std::size_t b = 0; b < count; ++b) {
    const auto& block = blocks[page_.planar ? b : 0];
    const auto bytes = std::span<const std::uint8_t>(block).subspan(row * row_bytes, row_bytes);
    bands[b] = page_.planar ? TiffBand{bytes, 0, 1} : TiffBand{bytes, b, page_.bands};
  }
  converter_.convert(std::span(bands).first(count), pixels, rgb);
  if (ycbcr_ == nullptr) return;
  // Pillow converts these itself, and leaves all others to libtiff.
  if (page_.compression == TiffCompression::kNone && ycbcr_->plain()) {
    ycbcr_to_rgb({rgb, 3 * pixels});
    return;
  }
  for (std::size_t i = 0; i < pixels; ++i, rgb += 3) ycbcr_->convert(rgb[0], rgb[1], rgb[2], rgb);
}

/// Large strips row by row; PackBits never, since many writers let its runs go on in the next row, where
/// libtiff loses them. (Its strips are at most 64 times as large as the file.)
void Decoder::decode_strips(Image& image) {
  const TiffReader& reader = *readers_.front();
  const std::size_t samples = page_.planar ? 1 : page_.bands;
  const std::size_t row_bytes = (std::size_t{page_.width} * samples * page_.bits_each() + 7) / 8;
  check_block(row_bytes, reader.row_bytes());
  const std::uint32_t height = std::min(reader.rows_per_strip(), page_.height);
  constexpr std::size_t kSmall = std::size_t{1} << 20;
  const bool whole = page_.compression == TiffCompression::kPackBits || row_bytes * height <= kSmall;
  const std::size_t stride = std::size_t{3} * page_.width;
  image.rgb.reserve(stride * page_.height);
  std::vector<std::vector<std::uint8_t>> blocks(readers_.size());
  for (std::uint32_t y = 0; y < page_.height;) {
    const std::uint32_t rows = whole ? std::min(height, page_.height - y) : 1;
    for (std::size_t b = 0; b < readers_.size(); ++b) {
      blocks[b].resize(row_bytes * rows);
      const auto band = static_cast<std::uint16_t>(b);
      if (whole) {
        readers_[b]->read_strip(y, band, blocks[b]);
      } else {
        readers_[b]->read_row(y, band, blocks[b]);
      }
    }
    image.rgb.resize(stride * (std::size_t{y} + rows));
    for (std::uint32_t row = 0; row < rows; ++row, ++y) {
      put_row(blocks, row_bytes, row, page_.width, image.rgb.data() + stride * y);
    }
  }
}

void Decoder::decode_tiles(Image& image) {
  TiffReader& reader = *readers_.front();
  const auto [width, height] = reader.tile_size();
  const std::uint64_t samples = page_.planar ? 1 : page_.bands;
  const std::uint64_t row_bytes = (std::uint64_t{width} * samples * page_.bits_each() + 7) / 8;
  // Not too large to multiply: a row has at most 2^32 x 6 x 2 bytes.
  check_block(row_bytes > UINT64_MAX / height ? 0 : row_bytes * height, reader.tile_bytes());
  std::vector<std::vector<std::uint8_t>> tiles(readers_.size(),
                                               std::vector<std::uint8_t>(row_bytes * height));
  const std::size_t stride = std::size_t{3} * page_.width;
  image.rgb.reserve(stride * page_.height);
  for (std::size_t y = 0; y < page_.height; y += height) {
    const std::size_t rows = std::min<std::size_t>(height, page_.height - y);
    for (std::size_t x = 0; x < page_.width; x += width) {
      for (std::size_t b = 0; b < readers_.size(); ++b) {
        readers_[b]->read_tile(x, y, static_cast<std::uint16_t>(b), tiles[b]);
      }
      image.rgb.resize(stride * (y + rows));
      const std::size_t columns = std::min<std::size_t>(width, page_.width - x);
      for (std::size_t row = 0; row < rows; ++row) {
        put_row(tiles, static_cast<std::size_t>(row_bytes), row, columns,
                image.rgb.data() + stride * (y + row) + 3 * x);
      }
    }
  }
}

void Decoder::decode_clumped_strips(Image& image) {
  TiffReader& reader = *readers_.front();
  const std::uint32_t height = std::min(reader.rows_per_strip(), page_.height);
  check_block(clumps_.bytes(page_.width, height), reader.strip_bytes(height));
  std::vector<std::uint8_t> strip;
  const std::size_t stride = std::size_t{3} * page_.width;
  image.rgb.reserve(stride * page_.height);
  for (std::uint32_t y = 0; y < page_.height;) {
    const std::uint32_t rows = std::min(height, page_.height - y);
    strip.resize(clumps_.bytes(page_.width, rows));
    reader.read_strip(y, 0, strip);
    image.rgb.resize(stride * (std::size_t{y} + rows));
    put_clumps(strip, page_.width, {0, y, page_.width, rows}, image);
    y += rows;
  }
}

void Decoder::decode_clumped_tiles(Image& image) {
  TiffReader& reader = *readers_.front();
  const auto [width, height] = reader.tile_size();
  constexpr std::uint32_t kLargest = 1U << 20;  // so that the product fits
  if (width > kLargest || height > kLargest) {
    throw_damaged(kKind, fmt::format("its tiles have {}x{} pixels", width, height));
  }
  check_block(clumps_.bytes(width, height), reader.tile_bytes());
  std::vector<std::uint8_t> tile(clumps_.bytes(width, height));
  const std::size_t stride = std::size_t{3} * page_.width;
  image.rgb.reserve(stride * page_.height);
  for (std::size_t y = 0; y < page_.height; y += height) {
    const std::size_t rows = std::min<std::size_t>(height, page_.height - y);
    for (std::size_t x = 0; x < page_.width; x += width) {
      reader.read_tile(x, y, 0, tile);
      image.rgb.resize(stride * (y + rows));
      put_clumps(tile, width, {x, y, std::min<std::size_t>(width, page_.width - x), rows}, image);
    }
  }
}

/// Every pixel of a clump has its chroma; nothing is interpolated.
void Decoder::put_clumps(std::span<const std::uint8_t> block, std::size_t block_width, const Area& area,
                         Image& image) {
  const std::size_t stride = std::size_t{3} * page_.width;
  for (std::size_t row = 0; row < area.height; ++row) {
    const std::size_t first = row / clumps_.down * clumps_.in_row(block_width);
    std::uint8_t* rgb = image.rgb.data() + stride * (area.y + row) + 3 * area.x;
    for (std::size_t column = 0; column < area.width; ++column, rgb += 3) {
      const auto clump =
          block.subspan((first + column / clumps_.across) * clumps_.bytes_each(), clumps_.bytes_each());
      const std::size_t inside = row % clumps_.down * clumps_.across + column % clumps_.across;
      ycbcr_->convert(clump[inside], clump[clump.size() - 2], clump[clump.size() - 1], rgb);
    }
  }
}

// ---- Words.

void describe(const TiffPage& page, PictureInfo& info) {
  Colours colours = page.bits_each() == 1 ? Colours::kBilevel : Colours::kGrey;
  if (page.photometric == TiffPhotometric::kRgb) colours = Colours::kRgb;
  if (page.photometric == TiffPhotometric::kPalette) colours = Colours::kPalette;
  if (page.photometric == TiffPhotometric::kCmyk) colours = Colours::kCmyk;
  if (page.photometric == TiffPhotometric::kYcbcr) colours = Colours::kYcbcr;
  describe_stored(info, kKind, page.width, page.height, static_cast<int>(page.bits_each()), colours,
                  page.alpha() && !page.premultiplied());
  if (page.photometric == TiffPhotometric::kWhiteIsZero) {
    info.rule.insert(std::min(info.rule.find(';'), info.rule.size()), "; the largest value is black");
  }
  if (page.premultiplied()) {
    info.colours += " with premultiplied alpha";
    const std::string_view as_they_are = "the samples are used as they are";
    info.rule = info.rule == as_they_are ? std::string() : info.rule + "; ";
    info.rule += "the colours are divided by alpha, which is left out then";
  }
  info.orientation = static_cast<int>(page.orientation.orientation);
  info.orientation_source = page.orientation.source;
  info.frames = page.frames;
}

}  // namespace

Picture decode_tiff(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  const TiffPage page = read_tiff_page(bytes);
  check_tiff_page(page, bytes.size(), options);
  if (!tiff_codec_present(page.compression)) {
    throw Error(
        ErrorCode::kImageUnreadable,
        fmt::format("this TIFF picture has {} compression, which the libtiff of this system leaves out; save "
                    "it anew without compression or with LZW or deflate",
                    tiff_compression_name(page.compression)));
  }
  Decoder decoder(bytes, page);
  Picture picture;
  picture.image = decoder.decode();
  describe(page, picture.info);
  // Pillow shows such pictures too, so they are no error.
  if (!decoder.warning().empty()) {
    log(options.log, LogLevel::kWarning,
        fmt::format("parts of this TIFF picture are damaged and may look wrong ({})",
                    printable(decoder.warning())));
  }
  return picture;
}

}  // namespace samlet
