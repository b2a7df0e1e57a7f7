// The segments of a JPEG file before its first scan: size and metadata, without decoding. Source: ITU-T T.81
// annex B.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace samlet {

struct JpegHeader {
  bool has_frame = false;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::vector<std::uint8_t> exif;  ///< All EXIF segments joined, without their "Exif\0\0".
  std::string xmp;                 ///< The last XMP packet.
};

/// Reads until the first scan or until the bytes stop making sense; what was found until then is the answer.
/// Any bytes are safe. Thread-safe.
[[nodiscard]] JpegHeader read_jpeg_header(std::span<const std::uint8_t> bytes);

}  // namespace samlet
