// Pictures in memory, and how files become them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
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

/// How a picture file was read, in words for a person who wonders about its pixels.
struct PictureInfo {
  std::string type;     ///< "JPEG", "PNG", "WebP", "TIFF", "BMP", "GIF", "PPM", "PGM", "PBM", "HEIC", "AVIF"
  int width = 0;        ///< As stored, before it was turned upright.
  int height = 0;       ///< As stored.
  int bits = 8;         ///< Of one sample, as stored.
  std::string colours;  ///< As stored: "grey", "RGB", "RGB with alpha", "palette", "CMYK", ...
  std::string rule;     ///< How 8-bit RGB was made of them.
  int orientation = 1;  ///< The EXIF number, 1 to 8; 1 = upright.
  std::string orientation_source;  ///< What said so: "EXIF", "XMP", "TIFF", ...; empty = nothing did.
  std::uint64_t frames = 1;        ///< Pictures in the file; the first one is used.
};

/// A picture and how it was read.
struct Picture {
  Image image;
  PictureInfo info;
};

/// Decodes a picture file held in memory: PNG, JPEG, WebP, TIFF, BMP, GIF, PPM, PGM, PBM, and HEIC and AVIF
/// where libheif is installed. The type comes from the content, never from a name. The pixels equal Pillow's
/// `ImageOps.exif_transpose(Image.open(f)).convert("RGB")` bit for bit, with two exceptions: 16-bit samples
/// become v / 257 rounded (Pillow cuts or saturates them), and HEIC and AVIF are as libheif converts them. Of
/// several frames the first is used, with one warning. Errors: kImageUnreadable (not a picture, a kind we do
/// not read, damaged), kImageTooLarge. Thread-safe.
Picture decode_picture(std::span<const std::uint8_t> bytes, const DecodeOptions& options = {});

/// The same without the words.
Image decode_image(std::span<const std::uint8_t> bytes, const DecodeOptions& options = {});

/// Reads and decodes a picture file. Errors carry the path; besides those of decode_picture: kNotFound, kIo.
Picture read_picture(const std::filesystem::path& path, const DecodeOptions& options = {});

/// The same without the words.
Image read_image(const std::filesystem::path& path, const DecodeOptions& options = {});

enum class ImageFormat { kJpeg, kPng };

/// Encodes to a file's bytes. JPEG: quality 90, 4:2:0. PNG: 8-bit RGB. Errors: kImageTooLarge when the format
/// cannot hold the size (JPEG: 65,500 a side). Thread-safe.
std::vector<std::uint8_t> encode_image(const Image& image, ImageFormat format);

}  // namespace samlet
