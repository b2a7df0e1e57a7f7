// Masks and cut-outs as PNG files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libs/engine/formats/annotation.h"
#include "libs/engine/formats/mask_region.h"
#include "samlet/image.h"

namespace samlet::formats {

/// 8-bit grey of the picture's size: 255 where set, else 0. An empty mask gives an all black picture (the
/// caller may leave it out). Errors: kUsage when the runs do not fit the size. Thread-safe.
[[nodiscard]] std::vector<std::uint8_t> instance_mask_png(const Mask& mask);

/// All instances in one picture.
struct LabelMap {
  std::vector<std::uint8_t> png;
  int bits = 8;                       ///< 8 for up to 255 instances, else 16.
  std::uint64_t hidden_pixels = 0;    ///< Pixels of masks which another instance hides.
  std::vector<std::string> warnings;  ///< Of empty masks and of hidden pixels.
};

/// Grey, pixel = the instance's number (position plus one), 0 = none. Where instances overlap the one with
/// the better score is seen, of equal scores the earlier one. Errors: kUsage as check_picture, and for more
/// than 65,535 instances. Thread-safe.
[[nodiscard]] LabelMap label_map(const AnnotatedPicture& picture);

/// How much of the picture a cut-out shows.
enum class CutoutFrame : std::uint8_t { kTight, kWhole };

/// A thing without what is around it.
struct Cutout {
  std::vector<std::uint8_t> png;
  PixelBox box;  ///< Where it lies in the picture.
};

/// RGBA: the picture's colours with alpha 255 where the mask is set, elsewhere 0 in all four, so that the
/// file shows nothing else. Laid over the picture with its corner at the box's, it covers exactly the mask.
/// None for an empty mask. Errors: kUsage when mask and picture differ in size. Thread-safe.
[[nodiscard]] std::optional<Cutout> cutout_png(const Image& image, const Mask& mask, CutoutFrame frame);

}  // namespace samlet::formats
