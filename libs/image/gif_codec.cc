// GIF, read by our own code after the GIF89a specification. What counts in odd files is Pillow's reading of
// them (GifImagePlugin, GifDecode.c), which giflib does not have: it stops at bytes between the records, at
// data without its end mark, and keeps every record it has passed.
//
// Differences: A frame's own palette of plain greys is used; Pillow takes the palette of the screen instead.
// Pillow reads on behind the end of a picture's data when pixels are missing, and may take other
// records for pixels; here the file is truncated then. Codes of more than 8 bits are refused, where Pillow
// cuts the pixels to 8.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libs/base/byte_reader.h"
#include "libs/image/codec.h"

namespace samlet {
namespace {

constexpr std::string_view kKind = "GIF";
using Bytes = std::span<const std::uint8_t>;

/// A colour table; nothing for one that only says that index and grey are the same.
struct Palette {
  Bytes colours;
  int bits = 8;
};

struct Frame {
  std::uint32_t left = 0;
  std::uint32_t top = 0;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  bool interlaced = false;
  bool has_local_palette = false;
  std::optional<Palette> local_palette;
  std::optional<std::uint8_t> transparency;
  int code_bits = 0;
  std::size_t data = 0;  ///< Where the blocks of its data begin.
};

struct Screen {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::optional<Palette> palette;
};

std::optional<Palette> take_palette(ByteReader& reader, std::uint8_t flags) {
  const int bits = (flags & 7) + 1;
  const std::size_t size = std::min(std::size_t{3} << bits, reader.remaining());
  const Palette palette{reader.take(size)->first(size - size % 3), bits};
  for (std::size_t i = 0; i < palette.colours.size(); ++i) {
    if (palette.colours[i] != i / 3) return palette;
  }
  return std::nullopt;
}

/// A block of up to 255 bytes; false at the end mark and at the end of the file.
bool skip_block(ByteReader& reader) {
  const std::size_t size = reader.u8().value_or(0);
  if (size == 0 || reader.remaining() == 0) return false;
  return reader.skip(std::min(size, reader.remaining()));
}

void skip_blocks(ByteReader& reader) {
  while (skip_block(reader)) {
  }
}

/// After the '!': a graphic control extension (249) may name the transparent index.
void read_extension(ByteReader& reader, Frame& frame) {
  constexpr std::uint8_t kGraphicControl = 249;
  const std::uint8_t label = reader.u8().value_or(0);
  const ByteReader start = reader;
  if (label == kGraphicControl) {
    const std::size_t size = reader.u8().value_or(0);
    const auto block = reader.take(std::min(size, reader.remaining()));
    if (block && block->size() >= 4 && ((*block)[0] & 1) != 0) frame.transparency = (*block)[3];
  }
  reader = start;
  skip_blocks(reader);
}

/// After the ','.
bool read_descriptor(ByteReader& reader, Frame& frame) {
  const auto left = reader.u16_le();
  const auto top = reader.u16_le();
  const auto width = reader.u16_le();
  const auto height = reader.u16_le();
  const auto flags = reader.u8();
  if (!flags) return false;
  frame.left = *left;
  frame.top = *top;
  frame.width = *width;
  frame.height = *height;
  frame.interlaced = (*flags & 64) != 0;
  frame.has_local_palette = (*flags & 128) != 0;
  if (frame.has_local_palette) frame.local_palette = take_palette(reader, *flags);
  const auto code_bits = reader.u8();
  if (!code_bits) return false;
  frame.code_bits = *code_bits;
  frame.data = reader.position();
  return true;
}

/// The next picture; bytes that begin no record are passed over. Nothing at the end.
std::optional<Frame> next_frame(ByteReader& reader) {
  Frame frame;
  while (const auto record = reader.u8()) {
    if (*record == ';') break;
    if (*record == '!') read_extension(reader, frame);
    if (*record != ',') continue;
    if (!read_descriptor(reader, frame)) break;
    return frame;
  }
  return std::nullopt;
}

/// How many pictures there are, the first of which has been read.
std::uint64_t count_frames(ByteReader& reader) {
  std::uint64_t count = 1;
  skip_blocks(reader);
  while (next_frame(reader)) {
    ++count;
    skip_blocks(reader);
  }
  return count;
}

/// Codes out of blocks, the lowest bits first.
class CodeReader {
 public:
  explicit CodeReader(Bytes bytes) : reader_(bytes) {}

  /// Nothing when the data ends, or when a block is cut short.
  std::optional<unsigned> next(int bits) {
    while (held_ < bits) {
      if (block_.empty() && !open_block()) return std::nullopt;
      buffer_ |= unsigned{block_[0]} << held_;
      held_ += 8;
      block_ = block_.subspan(1);
    }
    const unsigned code = buffer_ & ((1U << bits) - 1);
    buffer_ >>= bits;
    held_ -= bits;
    return code;
  }

 private:
  bool open_block() {
    const auto block = reader_.take(reader_.u8().value_or(0));
    if (!block || block->empty()) return false;
    block_ = *block;
    return true;
  }

  ByteReader reader_;
  Bytes block_;
  unsigned buffer_ = 0;
  int held_ = 0;
};

/// LZW as in GIF: strings of indices, each an earlier one and one index more.
class Decoder {
 public:
  Decoder(Bytes data, int bits, std::size_t wanted)
      : codes_(data), bits_(bits), clear_(1U << bits), wanted_(wanted) {
    indices_.reserve(wanted);
    for (unsigned i = 0; i < clear_; ++i)
      strings_[i] = {0, 1, static_cast<std::uint8_t>(i), static_cast<std::uint8_t>(i)};
  }

  /// `wanted` indices, or fewer when the data ends before. Throws when a code is impossible.
  std::vector<std::uint8_t> run() {
    start();
    while (indices_.size() < wanted_) {
      const auto code = codes_.next(code_bits_);
      if (!code || *code == clear_ + 1) break;
      if (*code == clear_) {
        start();
      } else {
        add(*code);
      }
    }
    return std::move(indices_);
  }

 private:
  static constexpr unsigned kTable = 4096;
  static constexpr int kMaxBits = 12;
  static constexpr unsigned kNone = kTable;

  struct String {
    std::uint16_t before = 0;
    std::uint16_t length = 0;
    std::uint8_t first = 0;
    std::uint8_t last = 0;
  };

  void start() {
    next_ = clear_ + 2;
    code_bits_ = bits_ + 1;
    previous_ = kNone;
  }

  void add(unsigned code) {
    const bool first = previous_ == kNone;
    // A code may be the one that it defines itself: the previous string and its own first index.
    if (first ? code >= clear_ : code > next_ || code >= kTable) {
      throw_damaged(kKind, fmt::format("the data of its picture has an impossible code after {} of {} pixels",
                                       indices_.size(), wanted_));
    }
    if (!first && next_ < kTable) {
      const std::uint8_t last = strings_[code == next_ ? previous_ : code].first;
      const String& before = strings_[previous_];
      strings_[next_] = {static_cast<std::uint16_t>(previous_), static_cast<std::uint16_t>(before.length + 1),
                         before.first, last};
      if (next_ == (1U << code_bits_) - 1 && code_bits_ < kMaxBits) ++code_bits_;
      ++next_;
    }
    write(code);
    previous_ = code;
  }

  void write(unsigned code) {
    const std::size_t start = indices_.size();
    const std::size_t length = strings_[code].length;
    indices_.resize(start + length);
    for (std::size_t i = length; i > 0; --i) {
      indices_[start + i - 1] = strings_[code].last;
      code = strings_[code].before;
    }
    if (indices_.size() > wanted_) indices_.resize(wanted_);
  }

  CodeReader codes_;
  int bits_;
  unsigned clear_;
  std::size_t wanted_;
  std::vector<std::uint8_t> indices_;
  std::array<String, kTable> strings_{};
  unsigned next_ = 0;
  int code_bits_ = 0;
  unsigned previous_ = kNone;
};

/// Twelve bits stand for at most 3,838 pixels. A header whose picture could not possibly be in the file is
/// refused before memory is taken for it.
void check_plausible(const Frame& frame, std::size_t left) {
  constexpr std::uint64_t kMaxRatio = 2560;
  if (std::uint64_t{frame.width} * frame.height / kMaxRatio <= left) return;
  throw_damaged(kKind, fmt::format("it is truncated: a picture of {}x{} cannot be in {} bytes", frame.width,
                                   frame.height, left));
}

std::vector<std::uint8_t> decode_indices(Bytes bytes, const Frame& frame) {
  const Bytes data = bytes.subspan(frame.data);
  check_plausible(frame, data.size());
  const std::size_t wanted = std::size_t{frame.width} * frame.height;
  std::vector<std::uint8_t> indices = Decoder(data, frame.code_bits, wanted).run();
  if (indices.size() == wanted) return indices;
  throw_damaged(kKind, fmt::format("it is truncated: the data ends at row {} of {}",
                                   indices.size() / frame.width, frame.height));
}

using Colour = std::array<std::uint8_t, 3>;

/// Indices beyond the palette are black; without a palette an index is its grey.
std::array<Colour, 256> colours_of(const std::optional<Palette>& palette) {
  std::array<Colour, 256> colours{};
  for (std::size_t i = 0; i < colours.size(); ++i) {
    if (!palette) {
      colours[i].fill(static_cast<std::uint8_t>(i));
    } else if (3 * i < palette->colours.size()) {
      std::copy_n(&palette->colours[3 * i], 3, colours[i].begin());
    }
  }
  return colours;
}

/// The rows in the order in which the file has them: four passes when they are interlaced.
std::vector<std::uint32_t> row_order(const Frame& frame) {
  constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 4> kPasses{{{0, 8}, {4, 8}, {2, 4}, {1, 2}}};
  std::vector<std::uint32_t> rows;
  if (!frame.interlaced) {
    for (std::uint32_t y = 0; y < frame.height; ++y) rows.push_back(y);
    return rows;
  }
  for (const auto& [start, step] : kPasses) {
    for (std::uint32_t y = start; y < frame.height; y += step) rows.push_back(y);
  }
  return rows;
}

/// The frame on its screen. What it leaves free has the transparent colour, or that of index 0 (and not the
/// background colour, which no reader heeds).
Image compose(const Screen& screen, const Frame& frame, const std::vector<std::uint8_t>& indices,
              const std::optional<Palette>& palette) {
  const std::array<Colour, 256> colours = colours_of(palette);
  Image image{static_cast<int>(screen.width), static_cast<int>(screen.height), {}};
  const std::size_t stride = std::size_t{3} * screen.width;
  image.rgb.resize(stride * screen.height);
  if (frame.width < screen.width || frame.height < screen.height) {
    const Colour free = colours[frame.transparency.value_or(0)];
    for (std::size_t i = 0; i < image.rgb.size(); i += 3) std::copy(free.begin(), free.end(), &image.rgb[i]);
  }
  auto index = indices.begin();
  for (const std::uint32_t y : row_order(frame)) {
    std::uint8_t* out = &image.rgb[(std::size_t{frame.top} + y) * stride + std::size_t{3} * frame.left];
    for (std::uint32_t x = 0; x < frame.width; ++x, ++index, out += 3)
      std::copy(colours[*index].begin(), colours[*index].end(), out);
  }
  return image;
}

Screen read_screen(ByteReader& reader) {
  constexpr std::size_t kSignature = 6;
  Screen screen;
  const bool found = reader.seek(kSignature);
  const auto width = reader.u16_le();
  const auto height = reader.u16_le();
  const auto flags = reader.u8();
  if (!found || !width || !height || !flags || !reader.skip(2))
    throw_damaged(kKind, "it is truncated: the data ends in its header");
  screen.width = *width;
  screen.height = *height;
  if ((*flags & 128) != 0) screen.palette = take_palette(reader, *flags);
  return screen;
}

}  // namespace

Picture decode_gif(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  ByteReader reader(bytes);
  Screen screen = read_screen(reader);
  const auto frame = next_frame(reader);
  if (!frame) throw_damaged(kKind, "it is truncated: it holds no picture");
  if (frame->width == 0 || frame->height == 0)
    check_claimed_size(kKind, frame->width, frame->height, options);  // Pillow refuses them too
  // A picture may be larger than its screen.
  screen.width = std::max(screen.width, frame->left + frame->width);
  screen.height = std::max(screen.height, frame->top + frame->height);
  check_claimed_size(kKind, screen.width, screen.height, options);
  check_density(kKind, screen.width, screen.height, bytes.size());
  if (frame->code_bits > 8) throw_damaged(kKind, fmt::format("its codes have {} bits", frame->code_bits));
  const std::optional<Palette>& palette = frame->has_local_palette ? frame->local_palette : screen.palette;
  Picture picture;
  picture.image = compose(screen, *frame, decode_indices(bytes, *frame), palette);
  describe_stored(picture.info, kKind, screen.width, screen.height, palette ? palette->bits : 8,
                  palette ? Colours::kPalette : Colours::kGrey, frame->transparency.has_value());
  picture.info.frames = count_frames(reader);
  return picture;
}

}  // namespace samlet
