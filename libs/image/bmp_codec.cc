// BMP. Source: Microsoft's descriptions of the bitmap headers; Pillow's BmpImagePlugin for odd palettes,
// offsets and run lengths.
#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "libs/base/byte_reader.h"
#include "libs/image/codec.h"
#include "samlet/error.h"

namespace samlet {
namespace {

constexpr std::string_view kKind = "BMP";

constexpr std::uint32_t kFileHeader = 14;
constexpr std::uint32_t kOs2Header = 12;
constexpr std::uint32_t kOs2LongHeader = 64;

enum Compression : std::uint32_t { kNone = 0, kRle8 = 1, kRle4 = 2, kBitfields = 3, kJpeg = 4, kPng = 5 };

struct Header {
  std::uint32_t offset = 0;  // of the pixels
  std::uint32_t size = 0;    // of the header that follows the file's
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool top_down = false;
  std::uint32_t bits = 0;  // of a pixel
  std::uint32_t compression = kNone;
  std::uint32_t colours = 0;             // in the palette
  std::array<std::uint32_t, 4> masks{};  // red, green, blue, alpha

  [[nodiscard]] bool indexed() const { return bits <= 8; }
  [[nodiscard]] std::uint64_t row_bytes() const { return (std::uint64_t{width} * bits + 7) / 8; }
  [[nodiscard]] std::uint64_t stride() const { return (row_bytes() + 3) / 4 * 4; }
};

[[noreturn]] void refuse(std::string_view what) {
  throw Error(ErrorCode::kImageUnreadable,
              fmt::format("this BMP picture has {}, which is not read; convert it to JPEG or PNG", what));
}

// ---- The header.

/// The parts of the headers of 40 bytes and more, after their size.
void read_info_header(ByteReader& reader, Header& header) {
  header.width = reader.u32_le().value_or(0);
  const std::uint32_t height = reader.u32_le().value_or(0);
  // Pillow's rule; sizes from 2^31 on that it takes for positive are above any limit.
  header.top_down = height >> 24 == 0xFF;
  header.height = header.top_down ? 0U - height : height;
  (void)reader.skip(2);  // planes
  header.bits = reader.u16_le().value_or(0);
  header.compression = reader.u32_le().value_or(0);
  (void)reader.skip(12);  // size of the pixels, pixels per metre
  header.colours = reader.u32_le().value_or(0);
  (void)reader.skip(4);  // important colours
}

/// The masks lie at the end of the 40 bytes, as a part of the longer headers.
void read_masks(ByteReader& reader, Header& header) {
  const std::size_t masks = header.size >= 56 ? 4 : 3;
  for (std::size_t i = 0; i < masks; ++i) {
    const auto mask = reader.u32_le();
    if (!mask) throw_damaged(kKind, "it is truncated: it ends in its header");
    header.masks[i] = *mask;
  }
}

Header read_header(ByteReader& reader) {
  Header header;
  const bool skipped = reader.skip(10);
  const auto offset = reader.u32_le();
  const auto size = reader.u32_le();
  if (!skipped || !offset || !size) throw_damaged(kKind, "it is truncated: it ends in its header");
  header.offset = *offset;
  header.size = *size;
  constexpr std::array<std::uint32_t, 7> kSizes{kOs2Header, 40, 52, 56, kOs2LongHeader, 108, 124};
  if (std::find(kSizes.begin(), kSizes.end(), header.size) == kSizes.end()) {
    refuse(fmt::format("a header of {} bytes", header.size));
  }
  if (reader.remaining() < header.size - 4) throw_damaged(kKind, "it is truncated: it ends in its header");
  if (header.size == kOs2Header) {
    header.width = reader.u16_le().value_or(0);
    header.height = reader.u16_le().value_or(0);
    (void)reader.skip(2);  // planes
    header.bits = reader.u16_le().value_or(0);
  } else {
    read_info_header(reader, header);
    if (header.compression == kBitfields && header.size != kOs2LongHeader) read_masks(reader, header);
  }
  return header;
}

void check_kind(const Header& header) {
  constexpr std::array<std::uint32_t, 7> kBits{1, 2, 4, 8, 16, 24, 32};
  if (std::find(kBits.begin(), kBits.end(), header.bits) == kBits.end()) {
    refuse(fmt::format("{} bits a pixel", header.bits));
  }
  switch (header.compression) {
    case kNone:
      return;
    case kRle8:
    case kRle4:
      if (header.bits != (header.compression == kRle8 ? 8U : 4U)) {
        refuse(fmt::format("run lengths of {} bits a pixel", header.bits));
      }
      return;
    case kBitfields:
      if (header.size == kOs2LongHeader) refuse("Huffman compression");
      if (header.indexed()) refuse(fmt::format("masks for {} bits a pixel", header.bits));
      return;
    case kJpeg:
      refuse(header.size == kOs2LongHeader ? "run lengths of 24 bits a pixel" : "a JPEG picture inside");
    case kPng:
      refuse("a PNG picture inside");
    default:
      refuse(fmt::format("the unknown compression {}", header.compression));
  }
}

// ---- Palettes.

/// Whether the entries are Pillow's grey ones: 0, 1, 2, ..., or black and white.
bool is_grey_ramp(const std::vector<std::uint8_t>& rgb) {
  const std::size_t colours = rgb.size() / 3;
  for (std::size_t i = 0; i < rgb.size(); ++i) {
    if (rgb[i] != (colours == 2 ? i / 3 * 255 : i / 3)) return false;
  }
  return true;
}

/// What each index becomes: [256, 3]. Indices without an entry are black, but Pillow takes the rest of a
/// short grey palette for grey too.
std::vector<std::uint8_t> read_palette(ByteReader& reader, const Header& header) {
  const std::uint32_t colours = std::min(header.colours, std::uint32_t{1} << header.bits);
  std::vector<std::uint8_t> rgb;
  for (std::uint32_t i = 0; i < colours; ++i) {
    const auto entry = reader.take(header.size == kOs2Header ? 3 : 4);
    if (!entry) break;
    rgb.insert(rgb.end(), {(*entry)[2], (*entry)[1], (*entry)[0]});
  }
  const bool grey = is_grey_ramp(rgb) && colours != 2 && (header.bits == 8 ? colours > 1 : header.bits == 1);
  for (std::size_t i = rgb.size() / 3; i < 256; ++i) {
    const std::size_t value = header.bits == 1 ? 255 : i;
    rgb.insert(rgb.end(), 3, grey ? static_cast<std::uint8_t>(value) : std::uint8_t{0});
  }
  return rgb;
}

// ---- Pixels with masks.

/// One channel of a pixel of 16, 24 or 32 bits.
struct Channel {
  std::uint32_t mask = 0;
  int shift = 0;
  std::uint32_t largest = 0;

  /// Up to 8 bits as Pillow cuts them, more bits rounded.
  [[nodiscard]] std::uint8_t of(std::uint32_t pixel) const {
    const std::uint64_t value = (pixel & mask) >> shift;
    if (largest <= 255) return static_cast<std::uint8_t>(value * 255 / largest);
    return static_cast<std::uint8_t>((std::uint64_t{510} * value + largest) / (std::uint64_t{2} * largest));
  }
};

std::array<Channel, 3> channels_of(const Header& header) {
  std::array<std::uint32_t, 3> masks{0xFF0000, 0xFF00, 0xFF};
  if (header.compression == kNone && header.bits == 16) masks = {0x7C00, 0x3E0, 0x1F};
  const bool none =
      std::all_of(header.masks.begin(), header.masks.end(), [](std::uint32_t m) { return m == 0; });
  // As Pillow: no masks at all are the usual ones.
  if (header.compression == kBitfields && !(none && header.bits == 32)) {
    std::copy_n(header.masks.begin(), 3, masks.begin());
  }
  std::array<Channel, 3> channels;
  for (std::size_t c = 0; c < 3; ++c) {
    Channel& channel = channels[c];
    channel.mask = masks[c];
    channel.shift = channel.mask == 0 ? 0 : std::countr_zero(channel.mask);
    channel.largest = channel.mask >> channel.shift;
    const bool whole = channel.mask != 0 && (channel.largest & (channel.largest + 1)) == 0;
    if (!whole || (header.bits < 32 && channel.mask >> header.bits != 0)) {
      refuse(fmt::format("the masks {:x}, {:x} and {:x} for {} bits a pixel", masks[0], masks[1], masks[2],
                         header.bits));
    }
  }
  return channels;
}

void convert_colours(std::span<const std::uint8_t> row, std::size_t bytes_each,
                     const std::array<Channel, 3>& channels, std::span<std::uint8_t> rgb) {
  for (std::size_t i = 0; 3 * i < rgb.size(); ++i) {
    std::uint32_t pixel = 0;
    for (std::size_t b = bytes_each; b-- > 0;) pixel = pixel << 8 | row[i * bytes_each + b];
    for (std::size_t c = 0; c < 3; ++c) rgb[3 * i + c] = channels[c].of(pixel);
  }
}

void convert_indices(std::span<const std::uint8_t> row, std::uint32_t bits,
                     const std::vector<std::uint8_t>& palette, std::span<std::uint8_t> rgb) {
  for (std::size_t i = 0; 3 * i < rgb.size(); ++i) {
    const std::size_t bit = i * bits;
    const std::uint32_t byte = row[bit / 8];
    const std::size_t index = byte >> (8 - bits - bit % 8) & ((1U << bits) - 1);
    std::copy_n(palette.data() + 3 * index, 3, rgb.data() + 3 * i);
  }
}

// ---- Run lengths.

/// The indices of a run-length encoded picture, one byte each, rows in the file's order. What Pillow does
/// counts for runs that cross the end of a row: encoded runs are cut there, absolute ones go on in the next
/// row.
class RunLengths {
 public:
  RunLengths(ByteReader reader, const Header& header)
      : reader_(reader), four_(header.compression == kRle4), width_(header.width), height_(header.height) {}

  std::vector<std::uint8_t> decode() {
    while (indices_.size() < wanted() && step()) {
    }
    // What an early end leaves out is of the first colour; Pillow refuses such pictures.
    indices_.resize(wanted());
    return std::move(indices_);
  }

 private:
  [[nodiscard]] std::size_t wanted() const { return width_ * height_; }

  /// False at the end of the picture.
  bool step() {
    const auto count = reader_.u8();
    const auto value = reader_.u8();
    if (!count || !value) throw_truncated();
    if (*count > 0) {
      run(*count, *value);
    } else if (*value == 0) {
      end_row();
    } else if (*value == 1) {
      return false;
    } else if (*value == 2) {
      skip();
    } else {
      copy(*value);
    }
    return true;
  }

  /// A row without any run is blank; Pillow loses it, and then refuses the picture.
  void end_row() {
    const std::size_t filled = (indices_.size() + width_ - 1) / width_ * width_;
    row_start_ = std::min(wanted(), std::max(filled, row_start_ + width_));
    indices_.resize(row_start_);
    x_ = 0;
  }

  void run(std::size_t count, std::uint8_t value) {
    count = std::min(count, width_ - std::min(x_, width_));
    for (std::size_t i = 0; i < count; ++i) indices_.push_back(four_ ? nibble(value, i) : value);
    x_ += count;
  }

  void skip() {
    const auto right = reader_.u8();
    const auto rows = reader_.u8();
    if (!right || !rows) throw_truncated();
    indices_.resize(std::min(wanted(), indices_.size() + *right + *rows * width_));
    x_ = indices_.size() % width_;
    row_start_ += *rows * width_;
  }

  void copy(std::size_t count) {
    const std::size_t kept = std::min(count, wanted() - indices_.size());
    const std::size_t bytes = four_ ? (kept + 1) / 2 : kept;
    const auto values = reader_.take(bytes);
    if (!values) throw_truncated();
    for (std::size_t i = 0; i < kept; ++i) {
      indices_.push_back(four_ ? nibble((*values)[i / 2], i) : (*values)[i]);
    }
    x_ += count;
    if (bytes % 2 != 0) (void)reader_.skip(1);  // up to a word
  }

  static std::uint8_t nibble(std::uint8_t byte, std::size_t i) {
    return i % 2 == 0 ? static_cast<std::uint8_t>(byte >> 4) : static_cast<std::uint8_t>(byte & 15);
  }

  [[noreturn]] void throw_truncated() const {
    throw_damaged(kKind, fmt::format("it is truncated: the data ends at row {} of {}",
                                     indices_.size() / width_, height_));
  }

  ByteReader reader_;
  bool four_;
  std::size_t width_;
  std::size_t height_;
  std::size_t x_ = 0;
  std::size_t row_start_ = 0;
  std::vector<std::uint8_t> indices_;
};

// ---- The picture.

/// The rows of the file, wherever they are stored: `row(i)` is the i-th one there.
template <typename Row, typename Convert>
Image convert_rows(const Header& header, Row&& row, Convert&& convert) {
  const std::size_t stride = std::size_t{3} * header.width;
  Image image{static_cast<int>(header.width), static_cast<int>(header.height), {}};
  image.rgb.resize(stride * header.height);
  for (std::size_t y = 0; y < header.height; ++y) {
    convert(row(header.top_down ? y : header.height - 1 - y),
            std::span(image.rgb).subspan(stride * y, stride));
  }
  return image;
}

Image decode_runs(ByteReader reader, const Header& header, const std::vector<std::uint8_t>& palette) {
  check_density(kKind, header.width, header.height, reader.remaining());
  const std::vector<std::uint8_t> indices = RunLengths(reader, header).decode();
  const auto row = [&](std::size_t y) {
    return std::span<const std::uint8_t>(indices).subspan(y * header.width, header.width);
  };
  return convert_rows(header, row, [&](std::span<const std::uint8_t> from, std::span<std::uint8_t> rgb) {
    convert_indices(from, 8, palette, rgb);
  });
}

/// The last row may lack its padding.
Image decode_rows(ByteReader reader, const Header& header, const std::vector<std::uint8_t>& palette) {
  const std::uint64_t needed = header.stride() * (header.height - 1) + header.row_bytes();
  if (reader.remaining() < needed) {
    throw_damaged(kKind, fmt::format("it is truncated: the pixels of {}x{} take {} bytes, {} follow",
                                     header.width, header.height, needed, reader.remaining()));
  }
  const std::span<const std::uint8_t> data = reader.take(static_cast<std::size_t>(needed)).value();
  const auto row = [&](std::size_t y) {
    return data.subspan(y * static_cast<std::size_t>(header.stride()),
                        static_cast<std::size_t>(header.row_bytes()));
  };
  if (header.indexed()) {
    return convert_rows(header, row, [&](std::span<const std::uint8_t> from, std::span<std::uint8_t> rgb) {
      convert_indices(from, header.bits, palette, rgb);
    });
  }
  const std::array<Channel, 3> channels = channels_of(header);
  return convert_rows(header, row, [&](std::span<const std::uint8_t> from, std::span<std::uint8_t> rgb) {
    convert_colours(from, header.bits / 8, channels, rgb);
  });
}

void describe(const Header& header, PictureInfo& info) {
  if (header.indexed()) {
    describe_stored(info, kKind, header.width, header.height, static_cast<int>(header.bits),
                    Colours::kPalette, false);
    return;
  }
  describe_stored(info, kKind, header.width, header.height, 8, Colours::kRgb, header.masks[3] != 0);
  const auto channels = channels_of(header);
  std::array<int, 3> bits{};
  for (std::size_t c = 0; c < 3; ++c) bits[c] = static_cast<int>(std::bit_width(channels[c].largest));
  if (bits == std::array{8, 8, 8}) return;
  info.bits = bits[0];
  info.rule = fmt::format("{}, {} and {} bits become 8 by v x 255 / largest, up to 8 bits rounded down",
                          bits[0], bits[1], bits[2]);
}

}  // namespace

Picture decode_bmp(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  ByteReader reader(bytes);
  Header header = read_header(reader);
  check_claimed_size(kKind, header.width, header.height, options);
  check_kind(header);
  // The palette follows the header, whatever comes between it and the pixels.
  ByteReader palette_reader(bytes);
  if (!palette_reader.seek(kFileHeader + header.size))
    throw_damaged(kKind, "it is truncated: it ends in its header");
  if (header.colours == 0 && header.indexed()) header.colours = 1U << header.bits;
  std::vector<std::uint8_t> palette;
  std::uint64_t offset = header.offset;
  if (header.indexed()) {
    // Pillow's rules: an offset that points to the palette means the byte after it, none means the next byte.
    const std::uint64_t size = std::uint64_t{header.colours} * (header.size == kOs2Header ? 3 : 4);
    palette = read_palette(palette_reader, header);
    if (offset == kFileHeader + header.size || offset == 0) offset = kFileHeader + header.size + size;
  } else if (offset == 0) {
    // The masks stand behind a header of 40 bytes, and within longer ones.
    const bool masks_follow = header.size == 40 && header.compression == kBitfields;
    offset = kFileHeader + header.size + (masks_follow ? 12U : 0U);
  }
  if (offset > bytes.size() || !reader.seek(static_cast<std::size_t>(offset))) {
    throw_damaged(kKind,
                  fmt::format("it is truncated: its pixels begin at byte {} of {}", offset, bytes.size()));
  }
  Picture picture;
  describe(header, picture.info);
  const bool runs = header.compression == kRle8 || header.compression == kRle4;
  picture.image = runs ? decode_runs(reader, header, palette) : decode_rows(reader, header, palette);
  return picture;
}

}  // namespace samlet
