// What the codecs offer inside of libs/image. Each third-party header stays in the one .cc that implements
// its codec. A decoder gives the picture as it is stored, with what the file says of its orientation in
// `info`; decode_picture() turns it, and warns of further frames.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "samlet/image.h"

namespace samlet {

/// Decodes a whole JPEG file. Errors: kImageUnreadable, kImageTooLarge, kOutOfMemory. Thread-safe.
[[nodiscard]] Picture decode_jpeg(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

/// Decodes a whole PNG file (of an animation: the default picture). Errors and threads: as decode_jpeg.
[[nodiscard]] Picture decode_png(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

/// Decodes a whole BMP file. Errors and threads: as decode_jpeg.
[[nodiscard]] Picture decode_bmp(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

/// Decodes the first picture of a PBM, PGM or PPM file. Errors and threads: as decode_jpeg.
[[nodiscard]] Picture decode_pnm(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

/// Decodes the first page of a TIFF file. Errors and threads: as decode_jpeg.
[[nodiscard]] Picture decode_tiff(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

/// Decodes a whole WebP file (of an animation: the first frame on its canvas). Errors and threads: as
/// decode_jpeg.
[[nodiscard]] Picture decode_webp(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

/// Decodes a whole GIF file (of an animation: the first frame on its screen). Errors and threads: as
/// decode_jpeg.
[[nodiscard]] Picture decode_gif(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

/// Decodes a whole HEIC or AVIF file through libheif. Unlike the others it gives the picture upright: libheif
/// turns it, and `kTurnedByLibheif` in `info.orientation_source` says so. Errors and threads: as decode_jpeg.
[[nodiscard]] Picture decode_heif(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

/// The orientation_source of pictures that their codec has turned already: the boxes that told it.
inline constexpr std::string_view kTurnedByLibheif = "HEIF irot/imir";

/// Baseline JPEG, quality 90, 4:2:0. The picture is checked already. Errors: kInternal. Thread-safe.
[[nodiscard]] std::vector<std::uint8_t> encode_jpeg(const Image& image);

/// 8-bit RGB PNG. The picture is checked already. Errors: kInternal. Thread-safe.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);

/// Refuses sizes that a header claims: a zero side, or more than `max_pixels`. `kind` names the container.
/// Errors: kImageUnreadable, kImageTooLarge.
void check_claimed_size(std::string_view kind, std::uint64_t width, std::uint64_t height,
                        const DecodeOptions& options);

/// Refuses what can be little more than a flat colour, or is a bomb, for containers whose data puts no bound
/// on the pixels: large, and less than a byte for 4,096 pixels (plain drawings have four times as much).
/// Errors: kImageUnreadable.
void check_density(std::string_view kind, std::uint64_t width, std::uint64_t height, std::size_t file_bytes);

/// Samples as a file stores them, for `PictureInfo`.
enum class Colours : std::uint8_t {
  kBilevel,
  kGrey,
  kRgb,
  kPalette,
  kCmyk,
  kYcck,
  kYcbcr,
  kVideoYcbcr,
  kHeifYcbcr
};

/// Fills `info` with the stored size and colours and with the rule by which they became 8-bit RGB.
void describe_stored(PictureInfo& info, std::string_view type, std::uint32_t width, std::uint32_t height,
                     int bits, Colours colours, bool alpha);

/// Fills the orientation of `info`: EXIF first, then XMP, as Pillow does. Either may be empty.
void describe_orientation(PictureInfo& info, std::span<const std::uint8_t> exif, std::string_view xmp);

/// The message of a damaged file, with the codec library's own words below ours. Never returns.
[[noreturn]] void throw_damaged(std::string_view kind, std::string_view reason);

}  // namespace samlet
