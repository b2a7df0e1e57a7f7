// PBM, PGM and PPM, plain and raw. Source: the Netpbm format descriptions; Pillow's PpmImagePlugin for how
// values become 8 bits. Of several pictures in one file the first is read, and the others are not counted, as
// Pillow does.
#include <algorithm>
#include <array>
#include <cmath>
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

struct Header {
  std::string_view kind;  // "PBM", "PGM", "PPM"
  bool plain = false;     // numbers in letters
  std::size_t bands = 1;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t largest = 1;  // maxval; 1 for PBM

  [[nodiscard]] bool bilevel() const { return kind == "PBM"; }
  [[nodiscard]] std::size_t bytes_each() const { return largest > 255 ? 2 : 1; }
  [[nodiscard]] std::size_t row_samples() const { return bands * width; }
};

bool is_blank(std::uint8_t byte) {
  return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

/// Skips the rest of a comment; its line end counts as a blank, as for Netpbm.
void skip_comment(ByteReader& reader) {
  while (const auto byte = reader.u8()) {
    if (*byte == '\n' || *byte == '\r') break;
  }
}

/// The next number in letters; nothing at the end of the data. The one blank after it is taken too, so that
/// raw samples follow. Numbers that do not fit count as 2^32 - 1.
std::optional<std::uint32_t> read_number(ByteReader& reader, std::string_view kind) {
  std::uint64_t value = 0;
  bool any = false;
  while (const auto byte = reader.u8()) {
    if (*byte == '#' || is_blank(*byte)) {
      if (*byte == '#') skip_comment(reader);
      if (any) break;
      continue;
    }
    if (*byte < '0' || *byte > '9') {
      throw_damaged(kind, fmt::format("its byte {} should belong to a number", reader.position() - 1));
    }
    any = true;
    value = std::min<std::uint64_t>(10 * value + (*byte - '0'), UINT32_MAX);
  }
  if (!any) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

std::uint32_t read_header_number(ByteReader& reader, std::string_view kind) {
  const auto number = read_number(reader, kind);
  if (!number) throw_damaged(kind, "it is truncated: it ends in its header");
  return *number;
}

Header read_header(ByteReader& reader) {
  constexpr std::array<std::string_view, 3> kKinds{"PBM", "PGM", "PPM"};
  Header header;
  (void)reader.skip(1);
  const auto digit = reader.u8();  // '1' to '6': the sniffer has seen it
  const auto number = static_cast<std::size_t>(digit.value_or('1') - '1');
  header.kind = kKinds[number % 3];
  header.plain = number < 3;
  header.bands = number % 3 == 2 ? 3 : 1;
  header.width = read_header_number(reader, header.kind);
  header.height = read_header_number(reader, header.kind);
  if (!header.bilevel()) header.largest = read_header_number(reader, header.kind);
  if (header.largest == 0 || header.largest > 65535) {
    throw_damaged(header.kind,
                  fmt::format("its largest value is {}, it must be from 1 to 65535", header.largest));
  }
  return header;
}

/// The least bytes of all samples. Plain numbers have a digit each and something between them; the digits of
/// plain PBM may touch.
std::uint64_t least_bytes(const Header& header) {
  const std::uint64_t pixels = std::uint64_t{header.width} * header.height;
  if (header.bilevel()) return header.plain ? pixels : (std::uint64_t{header.width} + 7) / 8 * header.height;
  const std::uint64_t samples = pixels * header.bands;
  return header.plain ? 2 * samples - 1 : samples * header.bytes_each();
}

[[noreturn]] void throw_truncated(const Header& header, std::size_t row) {
  throw_damaged(header.kind,
                fmt::format("it is truncated: the data ends at row {} of {}", row, header.height));
}

void check_plausible(const Header& header, std::size_t left) {
  const std::uint64_t least = least_bytes(header);
  if (left >= least) return;
  throw_damaged(
      header.kind,
      fmt::format("it is truncated: a picture of {}x{} needs at least {} bytes after its header, {} follow",
                  header.width, header.height, least, left));
}

/// What each sample becomes. Up to 255 as Pillow rounds (halves to the even neighbour), above it exactly
/// (halves up). Raw samples may be larger than the header says; as for Pillow they are the largest then.
std::vector<std::uint8_t> eight_bits(const Header& header) {
  const std::uint32_t largest = header.largest;
  std::vector<std::uint8_t> table(header.bytes_each() == 1 ? 256 : 65536);
  for (std::uint32_t v = 0; v < table.size(); ++v) {
    const std::uint32_t value = std::min(v, largest);
    if (largest <= 255) {
      table[v] = static_cast<std::uint8_t>(std::nearbyint(static_cast<double>(value) / largest * 255));
    } else {
      table[v] = static_cast<std::uint8_t>((2 * 255 * value + largest) / (2 * largest));
    }
  }
  if (header.bilevel()) std::swap(table[0], table[1]);  // 1 is black
  return table;
}

/// One sample of plain PBM: a digit, with or without blanks around it.
std::optional<std::uint32_t> read_plain_bit(ByteReader& reader) {
  while (const auto byte = reader.u8()) {
    if (*byte == '#') {
      skip_comment(reader);
    } else if (*byte == '0' || *byte == '1') {
      return *byte - '0';
    } else if (!is_blank(*byte)) {
      throw_damaged("PBM", fmt::format("its byte {} is no 0 or 1", reader.position() - 1));
    }
  }
  return std::nullopt;
}

void read_plain_row(ByteReader& reader, const Header& header, std::size_t y,
                    std::vector<std::uint16_t>& samples) {
  for (std::uint16_t& sample : samples) {
    const auto value = header.bilevel() ? read_plain_bit(reader) : read_number(reader, header.kind);
    if (!value) throw_truncated(header, y);
    if (*value > header.largest) {
      throw_damaged(header.kind, fmt::format("it has a value of {} in row {}, above its largest of {}",
                                             *value, y, header.largest));
    }
    sample = static_cast<std::uint16_t>(*value);
  }
}

void read_raw_row(ByteReader& reader, const Header& header, std::size_t y,
                  std::vector<std::uint16_t>& samples) {
  const std::size_t size = header.bilevel() ? (samples.size() + 7) / 8 : samples.size() * header.bytes_each();
  const auto row = reader.take(size);
  if (!row) throw_truncated(header, y);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (header.bilevel()) {
      samples[i] = static_cast<std::uint16_t>((*row)[i / 8] >> (7 - i % 8) & 1);
    } else if (header.bytes_each() == 1) {
      samples[i] = (*row)[i];
    } else {
      samples[i] = static_cast<std::uint16_t>((*row)[2 * i] << 8 | (*row)[2 * i + 1]);
    }
  }
}

/// The rows are appended as they are read, so that memory is only touched for data that is really there.
Image decode_pixels(ByteReader& reader, const Header& header) {
  const std::vector<std::uint8_t> table = eight_bits(header);
  const std::size_t stride = std::size_t{3} * header.width;
  Image image{static_cast<int>(header.width), static_cast<int>(header.height), {}};
  image.rgb.reserve(stride * header.height);
  std::vector<std::uint16_t> samples(header.row_samples());
  for (std::size_t y = 0; y < header.height; ++y) {
    if (header.plain) {
      read_plain_row(reader, header, y, samples);
    } else {
      read_raw_row(reader, header, y, samples);
    }
    image.rgb.resize(stride * (y + 1));
    std::uint8_t* rgb = image.rgb.data() + stride * y;
    for (std::size_t i = 0; i < stride; ++i) rgb[i] = table[samples[header.bands == 3 ? i : i / 3]];
  }
  return image;
}

int bits_of(std::uint32_t largest) {
  int bits = 1;
  while ((1U << bits) - 1 < largest) ++bits;
  return bits;
}

void describe(const Header& header, PictureInfo& info) {
  Colours colours = header.bands == 3 ? Colours::kRgb : Colours::kGrey;
  if (header.bilevel()) colours = Colours::kBilevel;
  const int bits = bits_of(header.largest);
  const bool all_values = header.largest == (1U << bits) - 1;
  describe_stored(info, header.kind, header.width, header.height, all_values ? bits : 8, colours, false);
  info.bits = bits;
  if (all_values) return;
  const std::string rule = fmt::format("v becomes v x 255 / {}, rounded", header.largest);
  info.rule = colours == Colours::kGrey ? info.rule + "; " + rule : rule;
}

}  // namespace

Picture decode_pnm(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  ByteReader reader(bytes);
  const Header header = read_header(reader);
  check_claimed_size(header.kind, header.width, header.height, options);
  check_plausible(header, reader.remaining());
  Picture picture;
  describe(header, picture.info);
  picture.image = decode_pixels(reader, header);
  return picture;
}

}  // namespace samlet
