// The words that explain how a picture was read.
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "libs/image/codec.h"
#include "libs/image/exif.h"

namespace samlet {
namespace {

/// By Colours.
constexpr std::array<std::string_view, 8> kNames{"bilevel", "grey", "RGB",   "palette",
                                                 "CMYK",    "YCCK", "YCbCr", "YCbCr"};
constexpr std::array<std::string_view, 8> kRules{
    "black and white become 0 and 255",
    "grey is given to all three channels",
    "",
    "each colour is looked up in the palette",
    "CMYK becomes RGB by (1 - colour) x (1 - black), without a colour profile",
    "YCCK becomes CMYK, and that RGB by (1 - colour) x (1 - black), without a colour profile",
    "YCbCr becomes RGB as JPEG defines it",
    "YCbCr becomes RGB as ITU-R BT.601 defines it for video",
};

void append(std::string& rule, std::string_view part) {
  if (part.empty()) return;
  if (!rule.empty()) rule += "; ";
  rule += part;
}

}  // namespace

void describe_stored(PictureInfo& info, std::string_view type, std::uint32_t width, std::uint32_t height,
                     int bits, Colours colours, bool alpha) {
  const auto kind = static_cast<std::size_t>(colours);
  info.type = type;
  info.width = static_cast<int>(width);
  info.height = static_cast<int>(height);
  info.bits = bits;
  info.colours = kNames[kind];
  if (alpha) info.colours += " with alpha";
  info.rule.clear();
  append(info.rule, kRules[kind]);
  if (alpha) append(info.rule, "alpha is left out, the colours below it count");
  if (bits == 16) {
    append(info.rule, "16 bits become 8 by v / 257, rounded");
  } else if (bits != 8 && colours != Colours::kBilevel && colours != Colours::kPalette) {
    append(info.rule, fmt::format("{} bits become 8 by v x 255 / {}, rounded", bits, (1U << bits) - 1));
  }
  if (info.rule.empty()) info.rule = "the samples are used as they are";
}

void describe_orientation(PictureInfo& info, std::span<const std::uint8_t> exif, std::string_view xmp) {
  const FoundOrientation found = find_orientation(exif, xmp);
  info.orientation = static_cast<int>(found.orientation);
  info.orientation_source = found.source;
}

}  // namespace samlet
