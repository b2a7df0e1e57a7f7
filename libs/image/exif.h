// Which way up a picture is: the orientation that EXIF or XMP data gives. Rules: TIFF 6.0 and EXIF 2.32 for
// the bytes; Pillow's Image.getexif and ImageOps.exif_transpose for what wins when the data is odd.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "samlet/image.h"

namespace samlet {

/// The EXIF orientations. The name says what is done to the stored picture so that it stands upright.
enum class Orientation : std::uint8_t {
  kUpright = 1,
  kFlipHorizontal = 2,  ///< mirror left and right
  kRotate180 = 3,
  kFlipVertical = 4,     ///< mirror top and bottom
  kTranspose = 5,        ///< swap x and y
  kRotateClockwise = 6,  ///< by 90 degrees
  kTransverse = 7,       ///< transpose, then rotate by 180 degrees
  kRotateCounterClockwise = 8,
};

/// What a block of EXIF data says about the orientation.
enum class ExifState {
  kUnreadable,  ///< No TIFF header: Pillow looks no further.
  kNoTag,       ///< Sound, without the orientation tag: Pillow asks XMP next.
  kTag,
};

struct ExifOrientation {
  ExifState state = ExifState::kNoTag;
  Orientation orientation = Orientation::kUpright;  ///< A tag with an illegal value counts as upright.
};

/// Reads tag 274 from the first directory of a TIFF block ("II*\0..." or "MM\0*..."), with or without
/// "Exif\0\0" before it. Any bytes are safe. Thread-safe.
[[nodiscard]] ExifOrientation read_exif_orientation(std::span<const std::uint8_t> block) noexcept;

/// The first `tiff:Orientation="N` or `tiff:Orientation>N` of an XMP packet; nothing when there is none.
[[nodiscard]] std::optional<Orientation> read_xmp_orientation(std::string_view packet) noexcept;

/// An orientation, and what told it: "EXIF", "XMP", or nothing.
struct FoundOrientation {
  Orientation orientation = Orientation::kUpright;
  std::string_view source;
};

/// EXIF first, then XMP, as Pillow does. Either may be empty. Thread-safe.
[[nodiscard]] FoundOrientation find_orientation(std::span<const std::uint8_t> exif,
                                                std::string_view xmp) noexcept;

/// The upright picture. Takes twice the picture's memory while it turns by 90 degrees, none extra otherwise.
[[nodiscard]] Image make_upright(Image image, Orientation orientation);

}  // namespace samlet
