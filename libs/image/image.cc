#include "samlet/image.h"

#include <limits>
#include <new>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "libs/image/codec.h"
#include "libs/image/exif.h"
#include "libs/image/sniff.h"
#include "samlet/error.h"

namespace samlet {
namespace {

/// libjpeg's own limit, a little below the 65,535 of the format.
constexpr int kMaxJpegSide = 65500;

/// The picture as it is stored.
Picture decode_known(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  switch (picture_kind(bytes)) {
    case PictureKind::kJpeg:
      return decode_jpeg(bytes, options);
    case PictureKind::kPng:
      return decode_png(bytes, options);
    case PictureKind::kBmp:
      return decode_bmp(bytes, options);
    case PictureKind::kPnm:
      return decode_pnm(bytes, options);
    case PictureKind::kTiff:
      return decode_tiff(bytes, options);
    case PictureKind::kWebp:
      return decode_webp(bytes, options);
    case PictureKind::kHeif:
      return decode_heif(bytes, options);
    case PictureKind::kGif:
      return decode_gif(bytes, options);
    case PictureKind::kOther:
      break;
  }
  throw Error(ErrorCode::kImageUnreadable, refusal_of_other_kind(bytes));
}

}  // namespace

void check_claimed_size(std::string_view kind, std::uint64_t width, std::uint64_t height,
                        const DecodeOptions& options) {
  if (width == 0 || height == 0) {
    throw_damaged(kind, fmt::format("its header says {}x{} pixels", width, height));
  }
  // The sides are 32-bit numbers in every format, so that the product fits.
  if (width * height > options.max_pixels) {
    throw Error(
        ErrorCode::kImageTooLarge,
        fmt::format("the picture has {}x{} = {} pixels, more than the limit of {}; make it smaller or raise "
                    "the limit with --max-pixels",
                    width, height, width * height, options.max_pixels));
  }
  constexpr std::uint64_t kMaxSide = std::numeric_limits<int>::max();
  if (width > kMaxSide || height > kMaxSide) {
    throw_damaged(kind, fmt::format("its header says {}x{} pixels", width, height));
  }
}

void check_density(std::string_view kind, std::uint64_t width, std::uint64_t height, std::size_t file_bytes) {
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 24;
  constexpr std::uint64_t kPixelsPerByte = 4096;
  if (width * height <= kSmall || width * height / kPixelsPerByte <= file_bytes) return;
  throw_damaged(
      kind, fmt::format("its header says {}x{} pixels, but {} bytes can hold next to nothing of them", width,
                        height, file_bytes));
}

void throw_damaged(std::string_view kind, std::string_view reason) {
  throw Error(
      ErrorCode::kImageUnreadable,
      fmt::format("this {} picture is damaged: {}; get it again or save it anew", kind, printable(reason)));
}

Picture decode_picture(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  if (bytes.size() > options.max_bytes) {
    throw Error(ErrorCode::kImageTooLarge,
                fmt::format("the picture file has {} bytes, more than the limit of {}", bytes.size(),
                            options.max_bytes));
  }
  try {
    Picture picture = decode_known(bytes, options);
    if (picture.info.frames > 1) {
      log(options.log, LogLevel::kWarning,
          fmt::format("this {} file holds {} pictures; the first is used", picture.info.type,
                      picture.info.frames));
    }
    if (picture.info.orientation_source != kTurnedByLibheif) {
      picture.image =
          make_upright(std::move(picture.image), static_cast<Orientation>(picture.info.orientation));
    }
    return picture;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, "not enough memory to decode the picture; use a smaller one");
  }
}

Image decode_image(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  return decode_picture(bytes, options).image;
}

Image read_image(const std::filesystem::path& path, const DecodeOptions& options) {
  return read_picture(path, options).image;
}

Picture read_picture(const std::filesystem::path& path, const DecodeOptions& options) {
  const std::vector<std::uint8_t> bytes = read_file(path, options.max_bytes, options.cancel);
  try {
    return decode_picture(bytes, options);
  } catch (const Error& error) {
    throw error.with_context(path_to_utf8(path));
  }
}

std::vector<std::uint8_t> encode_image(const Image& image, ImageFormat format) {
  const bool positive = image.width > 0 && image.height > 0;
  if (!positive ||
      image.rgb.size() / 3 / static_cast<std::size_t>(image.width) !=
          static_cast<std::size_t>(image.height) ||
      image.rgb.size() % (3 * static_cast<std::size_t>(image.width)) != 0) {
    throw Error(ErrorCode::kInternal,
                fmt::format("a picture of {}x{} with {} bytes is not RGB; please report this", image.width,
                            image.height, image.rgb.size()));
  }
  if (format == ImageFormat::kPng) return encode_png(image);
  if (image.width > kMaxJpegSide || image.height > kMaxJpegSide) {
    throw Error(
        ErrorCode::kImageTooLarge,
        fmt::format("a picture of {}x{} does not fit into JPEG, whose sides end at {}; write PNG instead",
                    image.width, image.height, kMaxJpegSide));
  }
  return encode_jpeg(image);
}

}  // namespace samlet
