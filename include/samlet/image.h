// Pictures in memory, and how files become them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "samlet/cancel.h"
#include "samlet/log.h"

namespace samlet {

/// A picture as a person sees it: 8-bit RGB, upright (EXIF orientation applied), rows from the top, no
/// padding. Pixel (x, y) lies at `rgb[3 * (y * width + x)]`; x runs right, y down. Value type.
struct Image {
  int width = 0;
  int height = 0;
  std::vector<std::uint8_t> rgb;  // [height, width, 3]
};

struct DecodeOptions {
  /// The most pixels (width x height) a picture may have; checked from its header, before any pixel is
  /// decoded.
  std::uint64_t max_pixels = 256'000'000;
  /// The most bytes a picture file may have.
  std::size_t max_bytes = std::size_t{1} << 30;
  /// Told of damage that does not keep the picture from being read, as a warning.
  LogSink log;
  /// Looked at while a read waits (a pipe).
  CancelToken cancel;
};

/// Decodes a picture file held in memory. The type comes from the content, never from a name. The pixels
/// equal Pillow's `ImageOps.exif_transpose(Image.open(f)).convert("RGB")` bit for bit (16-bit PNG: v / 257
/// rounded). Errors: kImageUnreadable (not a picture, a kind we do not read, damaged), kImageTooLarge.
/// Thread-safe.
Image decode_image(std::span<const std::uint8_t> bytes, const DecodeOptions& options = {});

/// Reads and decodes a picture file. Errors carry the path; besides those of decode_image: kNotFound, kIo.
Image read_image(const std::filesystem::path& path, const DecodeOptions& options = {});

enum class ImageFormat { kJpeg, kPng };

/// Encodes to a file's bytes. JPEG: quality 90, 4:2:0. PNG: 8-bit RGB. Errors: kImageTooLarge when the format
/// cannot hold the size (JPEG: 65,500 a side). Thread-safe.
std::vector<std::uint8_t> encode_image(const Image& image, ImageFormat format);

}  // namespace samlet
