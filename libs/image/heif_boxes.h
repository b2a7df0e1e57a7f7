// What samlet reads itself out of a HEIF file (HEIC, AVIF): the brands, how the primary picture is turned,
// the sizes that the codecs' own headers claim. Sources: ISO/IEC 14496-12 and 23008-12 for the boxes, ISO/IEC
// 14496-15 (hvcC), 23008-2 (the sequence parameter set) and AV1's ISOBMFF binding (av1C).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libs/image/exif.h"

namespace samlet {

enum class HeifBrand : std::uint8_t {
  kNone,     ///< No HEIF file.
  kHeic,     ///< HEVC.
  kAvif,     ///< AV1.
  kGeneric,  ///< mif1 or msf1 alone: any codec.
};

/// Looks at the file type box, at the major brand first, then at the compatible ones. Thread-safe.
[[nodiscard]] HeifBrand heif_brand(std::span<const std::uint8_t> bytes) noexcept;

struct HeifSize {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

struct HeifBoxes {
  bool truncated = false;  ///< A box of the top level ends after the file.
  std::string item_type;   ///< Of the primary picture: "hvc1", "av01", "grid", ...; empty when unknown.
  Orientation orientation = Orientation::kUpright;  ///< What its irot and imir amount to, as an EXIF number.
  bool turned = false;                              ///< Whether it has one of them.
  bool grey = false;                                ///< All codec headers say that there is no colour.
  std::vector<HeifSize> claimed;  ///< The sizes that boxes (ispe) give to pictures, tiles, thumbnails.
  std::vector<HeifSize> coded;    ///< The sizes in the headers of the coded data (hvcC, av1C, AV1's own).
  std::uint64_t samples = 0;      ///< Of the first track of a sequence.
  /// The most pictures that one is made of, each counted as often as it is used; 2^32 also for one that is
  /// part of itself, or has a part that is no picture.
  std::uint64_t parts = 0;
};

/// Any bytes are safe; what cannot be read is left out. Thread-safe.
[[nodiscard]] HeifBoxes read_heif_boxes(std::span<const std::uint8_t> bytes);

/// The size of the pictures that an HEVC sequence parameter set (with its two header bytes) describes; zeros
/// when it cannot be read. Any bytes are safe.
[[nodiscard]] HeifSize hevc_coded_size(std::span<const std::uint8_t> unit);

/// The largest size that an AV1 sequence header (the OBU's payload) allows; zeros when it cannot be read. Any
/// bytes are safe.
[[nodiscard]] HeifSize av1_coded_size(std::span<const std::uint8_t> payload);

}  // namespace samlet
