#include "libs/image/jpeg_header.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>

#include "libs/base/byte_reader.h"

namespace samlet {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::uint8_t kStartOfScan = 0xDA;
constexpr std::uint8_t kApp1 = 0xE1;

/// SOF0 .. SOF15; the four other codes of the range mean tables and extensions.
bool is_start_of_frame(std::uint8_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

/// SOI, EOI, RSTn and TEM stand alone; every other marker is followed by a length.
bool has_segment(std::uint8_t marker) {
  return marker != 0x01 && (marker < 0xD0 || marker > 0xD9);
}

/// The code of the next marker. Bytes that belong to no segment are skipped, as libjpeg does.
std::optional<std::uint8_t> next_marker(ByteReader& reader) {
  bool after_ff = false;
  while (const auto byte = reader.u8()) {
    if (*byte == 0xFF) {
      after_ff = true;
    } else if (after_ff && *byte != 0) {
      return byte;
    } else {
      after_ff = false;
    }
  }
  return std::nullopt;
}

bool starts_with(std::span<const std::uint8_t> bytes, std::string_view prefix) {
  return bytes.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), bytes.begin(),
                    [](char c, std::uint8_t byte) { return static_cast<std::uint8_t>(c) == byte; });
}

void read_app1(std::span<const std::uint8_t> segment, JpegHeader& header) {
  constexpr std::string_view kExif = "Exif\0\0"sv;
  constexpr std::string_view kXmp = "http://ns.adobe.com/xap/1.0/\0"sv;
  if (starts_with(segment, kExif)) {
    const auto body = segment.subspan(kExif.size());
    header.exif.insert(header.exif.end(), body.begin(), body.end());
  } else if (starts_with(segment, kXmp)) {
    const auto body = segment.subspan(kXmp.size());
    header.xmp.assign(body.begin(), body.end());
  }
}

void read_frame(std::span<const std::uint8_t> segment, JpegHeader& header) {
  // Precision, then height and width (T.81 figure B.3).
  ByteReader reader(segment);
  const bool skipped = reader.skip(1);
  const auto height = reader.u16_be();
  const auto width = reader.u16_be();
  if (!skipped || !height || !width) return;
  header.has_frame = true;
  header.height = *height;
  header.width = *width;
}

}  // namespace

JpegHeader read_jpeg_header(std::span<const std::uint8_t> bytes) {
  JpegHeader header;
  ByteReader reader(bytes);
  if (!reader.skip(2)) return header;  // SOI
  while (const auto marker = next_marker(reader)) {
    if (*marker == kStartOfScan) break;
    if (!has_segment(*marker)) continue;
    const auto length = reader.u16_be();
    if (!length || *length < 2) break;
    const auto segment = reader.take(static_cast<std::size_t>(*length) - 2);
    if (!segment) break;
    if (*marker == kApp1) read_app1(*segment, header);
    if (is_start_of_frame(*marker)) read_frame(*segment, header);
  }
  return header;
}

}  // namespace samlet
