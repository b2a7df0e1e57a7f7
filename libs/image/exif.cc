#include "libs/image/exif.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "libs/base/byte_reader.h"

namespace samlet {
namespace {

constexpr std::uint16_t kOrientationTag = 274;

/// The field types of TIFF 6.0 that Pillow knows, by number; 0 bytes = unknown, such entries are skipped.
enum class FieldKind { kUnknown, kText, kUnsigned, kSigned, kRational, kSignedRational, kFloat };
struct FieldType {
  std::size_t bytes = 0;
  FieldKind kind = FieldKind::kUnknown;
};
constexpr std::array<FieldType, 17> kFieldTypes{{
    {},
    {1, FieldKind::kText},  // BYTE: Pillow gives bytes, which are never an orientation
    {1, FieldKind::kText},  // ASCII
    {2, FieldKind::kUnsigned},
    {4, FieldKind::kUnsigned},
    {8, FieldKind::kRational},
    {1, FieldKind::kSigned},
    {1, FieldKind::kText},  // UNDEFINED
    {2, FieldKind::kSigned},
    {4, FieldKind::kSigned},
    {8, FieldKind::kSignedRational},
    {4, FieldKind::kFloat},
    {8, FieldKind::kFloat},
    {4, FieldKind::kUnsigned},  // IFD
    {},
    {},
    {8, FieldKind::kUnsigned},  // LONG8
}};

/// Numbers in the byte order that the TIFF header names.
class TiffReader {
 public:
  TiffReader(std::span<const std::uint8_t> bytes, bool little) noexcept : reader_(bytes), little_(little) {}

  [[nodiscard]] ByteReader& raw() noexcept { return reader_; }
  [[nodiscard]] std::optional<std::uint16_t> u16() noexcept {
    return little_ ? reader_.u16_le() : reader_.u16_be();
  }
  [[nodiscard]] std::optional<std::uint32_t> u32() noexcept {
    return little_ ? reader_.u32_le() : reader_.u32_be();
  }
  [[nodiscard]] std::optional<std::uint64_t> unsigned_of(std::size_t bytes) noexcept {
    const auto view = reader_.take(bytes);
    if (!view) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = (value << 8) | (*view)[little_ ? bytes - 1 - i : i];
    return value;
  }
  /// Two's complement of `bytes` bytes.
  [[nodiscard]] std::optional<std::int64_t> signed_of(std::size_t bytes) noexcept {
    const auto value = unsigned_of(bytes);
    if (!value) return std::nullopt;
    const auto unused_bits = static_cast<int>(64 - 8 * bytes);
    return static_cast<std::int64_t>(*value << unused_bits) >> unused_bits;
  }

 private:
  ByteReader reader_;
  bool little_;
};

std::optional<double> ratio(std::optional<double> numerator, std::optional<double> denominator) noexcept {
  if (!numerator || !denominator || *denominator == 0.0) return std::nullopt;
  return *numerator / *denominator;
}

/// The first value of a field, whatever its number type; doubles hold every legal value exactly.
std::optional<double> first_value(TiffReader data, FieldType type) noexcept {
  switch (type.kind) {
    case FieldKind::kUnsigned:
      return data.unsigned_of(type.bytes);
    case FieldKind::kSigned:
      return data.signed_of(type.bytes);
    case FieldKind::kRational: {
      const auto numerator = data.unsigned_of(4);
      return ratio(numerator, data.unsigned_of(4));
    }
    case FieldKind::kSignedRational: {
      const auto numerator = data.signed_of(4);
      return ratio(numerator, data.signed_of(4));
    }
    case FieldKind::kFloat: {
      const auto bits = data.unsigned_of(type.bytes);
      if (!bits) return std::nullopt;
      if (type.bytes == 4)
        return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(*bits)));
      return std::bit_cast<double>(*bits);
    }
    case FieldKind::kUnknown:
    case FieldKind::kText:
      break;
  }
  return std::nullopt;
}

Orientation to_orientation(std::optional<double> value) noexcept {
  for (int i = 1; i <= 8; ++i) {
    if (value && *value == i) return static_cast<Orientation>(i);
  }
  return Orientation::kUpright;
}

/// Walks the entries in order, because Pillow does: an entry whose data lies outside of the block ends the
/// walk, one that claims more than the block has (counted over all entries) is skipped, the first of equal
/// tags wins.
ExifOrientation walk_directory(std::span<const std::uint8_t> tiff, TiffReader reader, bool little) noexcept {
  const auto entries = reader.u16();
  std::uint64_t claimed = 0;
  for (std::uint32_t i = 0; i < entries.value_or(0); ++i) {
    const auto tag = reader.u16();
    const auto type_number = reader.u16();
    const auto count = reader.u32();
    const auto field = reader.raw().take(4);
    if (!tag || !type_number || !count || !field) break;
    const FieldType type = *type_number < kFieldTypes.size() ? kFieldTypes[*type_number] : FieldType{};
    const std::uint64_t size = std::uint64_t{*count} * type.bytes;
    if (type.kind == FieldKind::kUnknown || size == 0) continue;
    TiffReader data(*field, little);
    if (size > 4) {
      claimed += size;
      if (claimed > tiff.size()) continue;
      const std::uint64_t offset = data.unsigned_of(4).value_or(0);
      if (offset + size > tiff.size()) break;
      data = TiffReader(tiff.subspan(offset, size), little);
    }
    if (*tag == kOrientationTag) return {ExifState::kTag, to_orientation(first_value(data, type))};
  }
  return {};
}

constexpr std::array<std::uint8_t, 6> kExifPrefix{'E', 'x', 'i', 'f', 0, 0};

/// True for the four plain headers; the two with the 42 in the wrong byte order occur and Pillow takes them.
/// BigTIFF does not fit EXIF's 32-bit offsets: Pillow fails on "II+\0" and reads "MM\0+" as plain.
bool has_tiff_header(std::span<const std::uint8_t> tiff) noexcept {
  if (tiff.size() < 8) return false;
  const bool little = tiff[0] == 'I' && tiff[1] == 'I';
  const bool big = tiff[0] == 'M' && tiff[1] == 'M';
  const bool plain = (tiff[2] == 0x2A && tiff[3] == 0) || (tiff[2] == 0 && tiff[3] == 0x2A);
  return (little || big) && (plain || (big && tiff[2] == 0 && tiff[3] == 0x2B));
}

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
  if (!has_tiff_header(block)) return {ExifState::kUnreadable, Orientation::kUpright};
  const bool little = block[0] == 'I';
  TiffReader reader(block, little);
  if (!reader.raw().seek(4)) return {};
  const auto offset = reader.u32();
  if (!offset || !reader.raw().seek(*offset)) return {};
  return walk_directory(block, reader, little);
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
