// The chunks of a PNG file that samlet reads itself: the header, and what tells the orientation. Source: the
// PNG specification, third edition; which text chunks count: Pillow's PngImagePlugin.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace samlet {

struct PngHeader {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint8_t bit_depth = 0;
  std::uint8_t colour_type = 0;
};

/// The IHDR chunk; nothing when the file does not start with one whose checksum holds. Thread-safe.
[[nodiscard]] std::optional<PngHeader> read_png_header(std::span<const std::uint8_t> bytes);

struct PngMetadata {
  std::vector<std::uint8_t> exif;  ///< From eXIf, else from the text "Raw profile type exif".
  std::string xmp;
  std::uint32_t frames = 1;  ///< Of an animation (acTL), else 1.
};

/// Walks the chunks, also those after the pixels. Before the pixels, chunks with a wrong checksum are passed
/// over; after them Pillow does not look at checksums, and neither does this. Compressed text is unpacked up
/// to 1 MiB, then given up. Any bytes are safe. Thread-safe.
[[nodiscard]] PngMetadata read_png_metadata(std::span<const std::uint8_t> bytes);

}  // namespace samlet
