#include "libs/ort/elf.h"

#include <algorithm>
#include <array>
#include <optional>

#include "libs/base/byte_reader.h"

namespace samlet::ort {
namespace {

// Offsets and values: System V ABI, "ELF-64 Object File Format", tables 1, 14 and 17.
constexpr std::array<std::uint8_t, 6> kMagic64Le{0x7f, 'E', 'L', 'F', 2, 1};
constexpr std::size_t kProgramHeaderOffsetAt = 32;
constexpr std::size_t kProgramHeaderSizeAt = 54;
constexpr std::size_t kProgramHeaderSize = 56;
constexpr std::size_t kDynamicEntrySize = 16;
constexpr std::uint32_t kLoad = 1;
constexpr std::uint32_t kDynamic = 2;
constexpr std::uint64_t kNeeded = 1;
constexpr std::uint64_t kStringTable = 5;

struct Segment {
  std::uint32_t type;
  std::uint64_t offset;   // in the file
  std::uint64_t address;  // in memory
  std::uint64_t size;     // in the file
};

std::optional<Segment> read_segment(ByteReader at) {
  const auto type = at.u32_le();
  if (!type || !at.skip(4)) return std::nullopt;  // flags
  const auto offset = at.u64_le();
  const auto address = at.u64_le();
  if (!offset || !address || !at.skip(8)) return std::nullopt;  // physical address
  const auto size = at.u64_le();
  if (!size) return std::nullopt;
  return Segment{*type, *offset, *address, *size};
}

std::vector<Segment> read_segments(std::span<const std::uint8_t> bytes) {
  ByteReader header(bytes);
  const auto magic = header.take(kMagic64Le.size());
  if (!magic || !std::equal(magic->begin(), magic->end(), kMagic64Le.begin())) return {};
  if (!header.seek(kProgramHeaderOffsetAt)) return {};
  const auto table = header.u64_le();
  if (!table || !header.seek(kProgramHeaderSizeAt)) return {};
  const auto entry_size = header.u16_le();
  const auto count = header.u16_le();
  if (!entry_size || !count || *entry_size < kProgramHeaderSize) return {};
  std::vector<Segment> segments;
  ByteReader entries(bytes);
  if (*table > bytes.size() || !entries.seek(static_cast<std::size_t>(*table))) return {};
  for (std::uint16_t i = 0; i < *count; ++i) {
    const auto segment = read_segment(entries);
    if (!segment || !entries.skip(*entry_size)) break;
    segments.push_back(*segment);
  }
  return segments;
}

std::optional<std::uint64_t> file_offset(const std::vector<Segment>& segments, std::uint64_t address) {
  for (const Segment& s : segments) {
    if (s.type == kLoad && address >= s.address && address - s.address < s.size) {
      return s.offset + (address - s.address);
    }
  }
  return std::nullopt;
}

std::optional<std::string> string_at(std::span<const std::uint8_t> bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return std::nullopt;
  const auto rest = bytes.subspan(static_cast<std::size_t>(offset));
  const auto end = std::find(rest.begin(), rest.end(), std::uint8_t{0});
  if (end == rest.end()) return std::nullopt;
  return std::string(rest.begin(), end);
}

}  // namespace

std::vector<std::string> needed_libraries(std::span<const std::uint8_t> bytes) {
  const std::vector<Segment> segments = read_segments(bytes);
  const auto dynamic =
      std::find_if(segments.begin(), segments.end(), [](const Segment& s) { return s.type == kDynamic; });
  if (dynamic == segments.end() || dynamic->offset > bytes.size()) return {};
  ByteReader entries(bytes);
  if (!entries.seek(static_cast<std::size_t>(dynamic->offset))) return {};
  std::vector<std::uint64_t> names;  // offsets into the string table
  std::optional<std::uint64_t> strings;
  for (std::uint64_t i = 0; i < dynamic->size / kDynamicEntrySize; ++i) {
    const auto tag = entries.u64_le();
    const auto value = entries.u64_le();
    if (!tag || !value || *tag == 0) break;
    if (*tag == kNeeded) names.push_back(*value);
    if (*tag == kStringTable) strings = file_offset(segments, *value);
  }
  std::vector<std::string> needed;
  if (!strings) return needed;
  for (const std::uint64_t name : names) {
    if (name > bytes.size()) continue;
    if (auto text = string_at(bytes, *strings + name)) needed.push_back(*std::move(text));
  }
  return needed;
}

}  // namespace samlet::ort
