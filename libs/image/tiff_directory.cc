#include "libs/image/tiff_directory.h"

#include <array>
#include <bit>
#include <unordered_set>

#include "libs/base/checked.h"

namespace samlet {
namespace {

/// The field types of TIFF 6.0 that Pillow knows, by number; 0 bytes = unknown, such entries are skipped.
enum class FieldKind { kUnknown, kText, kUnsigned, kSigned, kRational, kSignedRational, kFloat };
struct FieldType {
  std::size_t bytes = 0;
  FieldKind kind = FieldKind::kUnknown;
};
constexpr std::array<FieldType, 17> kFieldTypes{{
    {},
    {1, FieldKind::kText},  // BYTE: Pillow gives bytes, which are never a number
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

FieldType type_of(std::uint16_t number) noexcept {
  return number < kFieldTypes.size() ? kFieldTypes[number] : FieldType{};
}

/// An unsigned number of `bytes` bytes; nothing at the end, and the reader does not move then.
std::optional<std::uint64_t> read_unsigned(ByteReader& reader, std::size_t bytes, bool little) noexcept {
  const auto view = reader.take(bytes);
  if (!view) return std::nullopt;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = (value << 8) | (*view)[little ? bytes - 1 - i : i];
  return value;
}

/// Two's complement of `bytes` bytes.
std::optional<double> read_signed(ByteReader& reader, std::size_t bytes, bool little) noexcept {
  const auto value = read_unsigned(reader, bytes, little);
  if (!value) return std::nullopt;
  const auto unused_bits = static_cast<int>(64 - 8 * bytes);
  return static_cast<double>(static_cast<std::int64_t>(*value << unused_bits) >> unused_bits);
}

std::optional<double> read_float(ByteReader& reader, std::size_t bytes, bool little) noexcept {
  const auto bits = read_unsigned(reader, bytes, little);
  if (!bits) return std::nullopt;
  if (bytes == 4) return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(*bits)));
  return std::bit_cast<double>(*bits);
}

std::optional<double> ratio(std::optional<double> numerator, std::optional<double> denominator) noexcept {
  if (!numerator || !denominator || *denominator == 0.0) return std::nullopt;
  return *numerator / *denominator;
}

/// The sizes of a directory's parts.
struct Widths {
  std::size_t entries;  // the number of them
  std::size_t count;    // of an entry's values
  std::size_t offset;
  std::size_t entry;
};

Widths widths_of(const TiffHeader& header) noexcept {
  return header.big_tiff ? Widths{8, 8, 8, 20} : Widths{2, 4, 4, 12};
}

}  // namespace

std::optional<TiffHeader> read_tiff_header(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.size() < 8) return std::nullopt;
  TiffHeader header;
  header.little = bytes[0] == 'I' && bytes[1] == 'I';
  if (!header.little && !(bytes[0] == 'M' && bytes[1] == 'M')) return std::nullopt;
  const bool plain = (bytes[2] == 0x2A && bytes[3] == 0) || (bytes[2] == 0 && bytes[3] == 0x2A);
  header.big_tiff = header.little ? bytes[2] == 0x2B && bytes[3] == 0 : bytes[2] == 0 && bytes[3] == 0x2B;
  if (!plain && !header.big_tiff) return std::nullopt;
  // BigTIFF says the size of its offsets before the first one; it is always 8.
  ByteReader reader(bytes);
  if (!reader.skip(header.big_tiff ? 8 : 4)) return std::nullopt;
  const auto first = read_unsigned(reader, widths_of(header).offset, header.little);
  if (!first) return std::nullopt;
  header.first = *first;
  return header;
}

std::optional<double> TiffField::number(std::uint64_t index) const noexcept {
  const FieldType field = type_of(type);
  if (index >= count || field.bytes == 0) return std::nullopt;
  ByteReader reader(data);
  if (!reader.skip(static_cast<std::size_t>(index) * field.bytes)) return std::nullopt;
  switch (field.kind) {
    case FieldKind::kUnsigned:
      return read_unsigned(reader, field.bytes, little);
    case FieldKind::kSigned:
      return read_signed(reader, field.bytes, little);
    case FieldKind::kRational: {
      const auto numerator = read_unsigned(reader, 4, little);
      return ratio(numerator, read_unsigned(reader, 4, little));
    }
    case FieldKind::kSignedRational: {
      const auto numerator = read_signed(reader, 4, little);
      return ratio(numerator, read_signed(reader, 4, little));
    }
    case FieldKind::kFloat:
      return read_float(reader, field.bytes, little);
    case FieldKind::kUnknown:
    case FieldKind::kText:
      break;
  }
  return std::nullopt;
}

TiffDirectory::TiffDirectory(std::span<const std::uint8_t> bytes, const TiffHeader& header,
                             std::uint64_t offset) noexcept
    : bytes_(bytes), header_(header), reader_(bytes) {
  if (offset > bytes.size() || !reader_.seek(static_cast<std::size_t>(offset))) return;
  left_ = read_unsigned(reader_, widths_of(header).entries, header.little).value_or(0);
}

std::optional<TiffField> TiffDirectory::next() noexcept {
  const Widths widths = widths_of(header_);
  while (left_ > 0) {
    --left_;
    TiffField field;
    field.little = header_.little;
    const auto tag = read_unsigned(reader_, 2, header_.little);
    const auto type = read_unsigned(reader_, 2, header_.little);
    const auto count = read_unsigned(reader_, widths.count, header_.little);
    const auto inside = reader_.take(widths.offset);
    if (!tag || !type || !count || !inside) break;
    field.tag = static_cast<std::uint16_t>(*tag);
    field.type = static_cast<std::uint16_t>(*type);
    field.count = *count;
    const std::size_t bytes_each = type_of(field.type).bytes;
    if (bytes_each == 0 || field.count == 0) continue;
    if (!find_data(field, bytes_each, *inside)) break;
    if (!field.data.empty()) return field;
  }
  left_ = 0;
  return std::nullopt;
}

/// False ends the walk; an entry that claims too much gets no data.
bool TiffDirectory::find_data(TiffField& field, std::size_t bytes_each,
                              std::span<const std::uint8_t> inside) noexcept {
  const auto size = checked_mul<std::uint64_t>(field.count, bytes_each);
  if (size && *size <= inside.size()) {
    field.data = inside.first(static_cast<std::size_t>(*size));
    return true;
  }
  const auto claimed = size ? checked_add(claimed_, *size) : std::nullopt;
  if (!claimed || *claimed > bytes_.size()) {
    claimed_ = bytes_.size();  // Whatever follows outside of the directory is too much as well.
    return true;
  }
  claimed_ = *claimed;
  ByteReader reader(inside);
  const std::uint64_t offset = read_unsigned(reader, inside.size(), header_.little).value_or(0);
  if (offset > bytes_.size() || *size > bytes_.size() - offset) return false;
  field.data = bytes_.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(*size));
  return true;
}

TiffDirectoryWeight weigh_tiff_directory(std::span<const std::uint8_t> bytes, const TiffHeader& header,
                                         std::uint64_t offset) noexcept {
  const Widths widths = widths_of(header);
  TiffDirectoryWeight weight;
  ByteReader reader(bytes);
  if (offset > bytes.size() || !reader.seek(static_cast<std::size_t>(offset))) return weight;
  weight.entries = read_unsigned(reader, widths.entries, header.little).value_or(0);
  for (std::uint64_t i = 0; i < weight.entries; ++i) {
    (void)reader.skip(2);
    const auto type = read_unsigned(reader, 2, header.little);
    const auto count = read_unsigned(reader, widths.count, header.little);
    const auto at = read_unsigned(reader, widths.offset, header.little);
    if (!type || !count || !at) break;
    // No type is wider than 8 bytes; the two that are not in the table (17, 18) are.
    const std::size_t known = type_of(static_cast<std::uint16_t>(*type)).bytes;
    const auto size = checked_mul<std::uint64_t>(*count, known == 0 ? 8 : known);
    if (!size || *size <= widths.offset || *at > bytes.size() || *size > bytes.size() - *at) continue;
    weight.data_bytes += *size;
  }
  return weight;
}

std::optional<std::uint64_t> next_tiff_directory(std::span<const std::uint8_t> bytes,
                                                 const TiffHeader& header, std::uint64_t offset) noexcept {
  const Widths widths = widths_of(header);
  ByteReader reader(bytes);
  if (offset > bytes.size() || !reader.seek(static_cast<std::size_t>(offset))) return std::nullopt;
  const auto entries = read_unsigned(reader, widths.entries, header.little);
  const auto size = entries ? checked_mul<std::uint64_t>(*entries, widths.entry) : std::nullopt;
  if (!size || *size > reader.remaining()) return std::nullopt;
  (void)reader.skip(static_cast<std::size_t>(*size));
  return read_unsigned(reader, widths.offset, header.little).value_or(0);
}

std::uint64_t count_tiff_directories(std::span<const std::uint8_t> bytes, const TiffHeader& header,
                                     std::uint64_t most) {
  std::unordered_set<std::uint64_t> seen;
  std::uint64_t offset = header.first;
  while (offset != 0 && seen.size() < most) {
    const auto next = next_tiff_directory(bytes, header, offset);
    if (!next || !seen.insert(offset).second) break;
    offset = *next;
  }
  return seen.empty() ? 1 : seen.size();
}

}  // namespace samlet
