#include "libs/image/exif.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "libs/base/byte_reader.h"
#include "libs/image/tiff_directory.h"

namespace samlet {
namespace {

constexpr std::uint16_t kOrientationTag = 274;

Orientation to_orientation(std::optional<double> value) noexcept {
  for (int i = 1; i <= 8; ++i) {
    if (value && *value == i) return static_cast<Orientation>(i);
  }
  return Orientation::kUpright;
}

constexpr std::array<std::uint8_t, 6> kExifPrefix{'E', 'x', 'i', 'f', 0, 0};

Image transposed(const Image& image) {
  Image out{image.height, image.width, std::vector<std::uint8_t>(image.rgb.size())};
  const auto width = static_cast<std::size_t>(image.width);
  const auto height = static_cast<std::size_t>(image.height);
  // Tiles keep both the rows read and the rows written in the cache.
  constexpr std::size_t kTile = 32;
  for (std::size_t y0 = 0; y0 < height; y0 += kTile) {
    for (std::size_t x0 = 0; x0 < width; x0 += kTile) {
      for (std::size_t y = y0; y < std::min(y0 + kTile, height); ++y) {
        const std::uint8_t* from = image.rgb.data() + 3 * (y * width + x0);
        std::uint8_t* to = out.rgb.data() + 3 * (x0 * height + y);
        for (std::size_t x = x0; x < std::min(x0 + kTile, width); ++x, from += 3, to += 3 * height) {
          to[0] = from[0];
          to[1] = from[1];
          to[2] = from[2];
        }
      }
    }
  }
  return out;
}

void mirror_rows(Image& image) {
  const std::size_t row = 3 * static_cast<std::size_t>(image.width);
  for (std::size_t y = 0; y < static_cast<std::size_t>(image.height); ++y) {
    std::uint8_t* left = image.rgb.data() + y * row;
    std::uint8_t* right = left + row;
    for (; right - left > 3; left += 3) {
      right -= 3;
      std::swap_ranges(left, left + 3, right);
    }
  }
}

void mirror_columns(Image& image) {
  const std::size_t row = 3 * static_cast<std::size_t>(image.width);
  const auto height = static_cast<std::size_t>(image.height);
  for (std::size_t y = 0; y < height / 2; ++y) {
    std::uint8_t* top = image.rgb.data() + y * row;
    std::swap_ranges(top, top + row, image.rgb.data() + (height - 1 - y) * row);
  }
}

}  // namespace

ExifOrientation read_exif_orientation(std::span<const std::uint8_t> block) noexcept {
  // Pillow takes off one or two prefixes; some writers put two.
  for (int i = 0; i < 2; ++i) {
    if (block.size() >= kExifPrefix.size() &&
        std::equal(kExifPrefix.begin(), kExifPrefix.end(), block.begin())) {
      block = block.subspan(kExifPrefix.size());
    }
  }
  if (block.empty()) return {};
  auto header = read_tiff_header(block);
  // BigTIFF does not fit EXIF's 32-bit offsets: Pillow fails on "II+\0" and reads "MM\0+" as plain.
  if (!header || (header->big_tiff && header->little)) return {ExifState::kUnreadable, Orientation::kUpright};
  if (header->big_tiff) *header = {false, false, ByteReader(block.subspan(4)).u32_be().value_or(0)};
  TiffDirectory directory(block, *header, header->first);
  while (const auto field = directory.next()) {
    if (field->tag == kOrientationTag) return {ExifState::kTag, to_orientation(field->number())};
  }
  return {};
}

std::optional<Orientation> read_xmp_orientation(std::string_view packet) noexcept {
  constexpr std::string_view kName = "tiff:Orientation";
  for (std::size_t at = packet.find(kName); at != std::string_view::npos; at = packet.find(kName, at + 1)) {
    std::string_view rest = packet.substr(at + kName.size());
    if (rest.starts_with("=\"")) {
      rest.remove_prefix(2);
    } else if (rest.starts_with(">")) {
      rest.remove_prefix(1);
    } else {
      continue;
    }
    if (!rest.empty() && rest[0] >= '0' && rest[0] <= '9') return to_orientation(rest[0] - '0');
  }
  return std::nullopt;
}

FoundOrientation find_orientation(std::span<const std::uint8_t> exif, std::string_view xmp) noexcept {
  const ExifOrientation found = read_exif_orientation(exif);
  if (found.state == ExifState::kTag) return {found.orientation, "EXIF"};
  if (found.state == ExifState::kUnreadable) return {};
  const auto by_xmp = read_xmp_orientation(xmp);
  return by_xmp ? FoundOrientation{*by_xmp, "XMP"} : FoundOrientation{};
}

Image make_upright(Image image, Orientation orientation) {
  const bool turns = orientation >= Orientation::kTranspose;
  if (turns) image = transposed(image);
  const bool mirrors_x =
      orientation == Orientation::kFlipHorizontal || orientation == Orientation::kRotate180 ||
      orientation == Orientation::kRotateClockwise || orientation == Orientation::kTransverse;
  const bool mirrors_y = orientation == Orientation::kFlipVertical ||
                         orientation == Orientation::kRotate180 || orientation == Orientation::kTransverse ||
                         orientation == Orientation::kRotateCounterClockwise;
  if (mirrors_x) mirror_rows(image);
  if (mirrors_y) mirror_columns(image);
  return image;
}

}  // namespace samlet
