#include "libs/checkpoint/zip.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "libs/base/byte_reader.h"
#include "libs/base/checked.h"
#include "libs/base/utf8.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace {

using Bytes = std::span<const std::uint8_t>;

// APPNOTE.TXT 6.3.10, chapter 4.3: signatures and fixed sizes of the records.
constexpr std::uint32_t kLocalSignature = 0x04034B50;
constexpr std::uint32_t kDirectorySignature = 0x02014B50;
constexpr std::uint32_t kEndSignature = 0x06054B50;
constexpr std::uint32_t kEnd64Signature = 0x06064B50;
constexpr std::uint32_t kLocator64Signature = 0x07064B50;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kLocator64Size = 20;
constexpr std::size_t kDirectoryEntrySize = 46;
constexpr std::size_t kLongestComment = 65535;
constexpr std::uint16_t kZip64Extra = 1;
constexpr std::uint16_t kIn64Bits16 = 0xFFFF;  // "look into the zip64 record"
constexpr std::uint32_t kIn64Bits32 = 0xFFFFFFFF;
constexpr std::uint16_t kFlagEncrypted = 1;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kModelDamaged, fmt::format("{}; download or save the checkpoint again", what));
}

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(ErrorCode::kModelUnsupported, fmt::format("{}; save it with torch.save", what));
}

/// A number that must be there.
template <typename T>
T need(std::optional<T> value) {
  if (!value) damaged("the zip archive's directory is cut");
  return *value;
}

struct Directory {
  std::uint64_t entries = 0;
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
};

std::size_t find_end(Bytes bytes) {
  const std::size_t furthest =
      bytes.size() > kEndSize + kLongestComment ? bytes.size() - kEndSize - kLongestComment : 0;
  for (std::size_t at = bytes.size() < kEndSize ? 0 : bytes.size() - kEndSize + 1; at-- > furthest;) {
    ByteReader reader(bytes.subspan(at));
    if (reader.u32_le() != kEndSignature || !reader.skip(kEndSize - 6)) continue;
    const auto comment = reader.u16_le();
    if (comment == reader.remaining()) return at;
  }
  damaged(
      fmt::format("the file is cut: a zip archive ends with its directory, and there is none in its {} bytes",
                  bytes.size()));
}

Directory read_end64(Bytes bytes, std::size_t end) {
  if (end < kLocator64Size) damaged("the zip archive's zip64 locator is missing");
  ByteReader locator(bytes.subspan(end - kLocator64Size, kLocator64Size));
  if (locator.u32_le() != kLocator64Signature || !locator.skip(4)) {
    damaged("the zip archive's zip64 locator is missing");
  }
  ByteReader reader(bytes.first(end - kLocator64Size));
  // The record's size, who wrote and who can read it, this part and the directory's.
  if (!reader.seek(need(locator.u64_le())) || reader.u32_le() != kEnd64Signature ||
      !reader.skip(8 + 2 + 2 + 4 + 4)) {
    damaged("the zip archive's zip64 record is not where its locator says");
  }
  Directory directory;
  const std::uint64_t here = need(reader.u64_le());
  directory.entries = need(reader.u64_le());
  directory.size = need(reader.u64_le());
  directory.offset = need(reader.u64_le());
  if (here != directory.entries) unsupported("the zip archive is in several parts");
  return directory;
}

Directory read_end(Bytes bytes) {
  const std::size_t end = find_end(bytes);
  ByteReader reader(bytes.subspan(end + 4));
  const std::uint16_t part = need(reader.u16_le());
  const std::uint16_t directory_part = need(reader.u16_le());
  const std::uint16_t here = need(reader.u16_le());
  Directory directory;
  directory.entries = need(reader.u16_le());
  directory.size = need(reader.u32_le());
  directory.offset = need(reader.u32_le());
  if (directory.entries == kIn64Bits16 || directory.size == kIn64Bits32 || directory.offset == kIn64Bits32) {
    directory = read_end64(bytes, end);
  } else if (part != 0 || directory_part != 0 || here != directory.entries) {
    unsupported("the zip archive is in several parts");
  }
  const auto past = checked_add(directory.offset, directory.size);
  if (!past || *past > end) damaged("the zip archive's directory lies outside of the file");
  if (directory.entries > directory.size / kDirectoryEntrySize) {
    damaged(fmt::format("the zip archive's directory claims {} members in {} bytes", directory.entries,
                        directory.size));
  }
  return directory;
}

struct Entry {
  std::string name;
  std::uint64_t size = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t local_offset = 0;
};

/// The zip64 extra field holds those of the three numbers, in this order, that did not fit.
void read_zip64_extra(Bytes extra, Entry& entry) {
  ByteReader reader(extra);
  while (reader.remaining() >= 4) {
    const std::uint16_t id = need(reader.u16_le());
    const auto field = reader.take(need(reader.u16_le()));
    if (!field) break;
    if (id != kZip64Extra) continue;
    ByteReader numbers(*field);
    if (entry.size == kIn64Bits32) entry.size = need(numbers.u64_le());
    if (entry.packed_size == kIn64Bits32) entry.packed_size = need(numbers.u64_le());
    if (entry.local_offset == kIn64Bits32) entry.local_offset = need(numbers.u64_le());
    return;
  }
}

Entry read_entry(ByteReader& reader) {
  if (need(reader.u32_le()) != kDirectorySignature)
    damaged("the zip archive's directory holds what is no entry");
  (void)need(reader.u32_le());  // the versions
  const std::uint16_t flags = need(reader.u16_le());
  const std::uint16_t method = need(reader.u16_le());
  if (!reader.skip(8)) damaged("the zip archive's directory is cut");  // time, date, checksum
  Entry entry;
  entry.packed_size = need(reader.u32_le());
  entry.size = need(reader.u32_le());
  const std::uint16_t name_length = need(reader.u16_le());
  const std::uint16_t extra_length = need(reader.u16_le());
  const std::uint16_t comment_length = need(reader.u16_le());
  if (!reader.skip(8)) damaged("the zip archive's directory is cut");  // part, attributes
  entry.local_offset = need(reader.u32_le());
  const Bytes name = need(reader.take(name_length));
  entry.name.assign(name.begin(), name.end());
  read_zip64_extra(need(reader.take(extra_length)), entry);
  if (!reader.skip(comment_length)) damaged("the zip archive's directory is cut");
  if ((flags & kFlagEncrypted) != 0) {
    unsupported(fmt::format("the member '{}' of the zip archive is encrypted", printable(entry.name)));
  }
  if (method != 0 || entry.size != entry.packed_size) {
    unsupported(fmt::format("the member '{}' of the zip archive is compressed", printable(entry.name)));
  }
  return entry;
}

/// The bytes of a member, behind its local header, which must name the same member.
ZipMember locate(Bytes bytes, Entry entry) {
  ByteReader reader(bytes);
  const std::string name = printable(entry.name);
  if (!reader.seek(entry.local_offset) || reader.u32_le() != kLocalSignature || !reader.skip(22)) {
    damaged(fmt::format("the member '{}' of the zip archive is not where its directory says", name));
  }
  const std::uint16_t name_length = need(reader.u16_le());
  const std::uint16_t extra_length = need(reader.u16_le());
  const Bytes local_name = need(reader.take(name_length));
  if (!std::equal(local_name.begin(), local_name.end(), entry.name.begin(), entry.name.end(),
                  [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); })) {
    damaged(fmt::format("the member '{}' of the zip archive has another name in its own header", name));
  }
  const auto data = reader.skip(extra_length) ? reader.take(entry.size) : std::nullopt;
  if (!data) {
    damaged(fmt::format("the member '{}' of the zip archive asks for {} bytes, more than the file has", name,
                        entry.size));
  }
  return {std::move(entry.name), *data};
}

void require_apart(const std::vector<ZipMember>& members) {
  std::vector<const ZipMember*> sorted;
  sorted.reserve(members.size());
  for (const ZipMember& member : members) {
    if (!member.bytes.empty()) sorted.push_back(&member);
  }
  std::sort(sorted.begin(), sorted.end(),
            [](const ZipMember* a, const ZipMember* b) { return a->bytes.data() < b->bytes.data(); });
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    const Bytes before = sorted[i - 1]->bytes;
    if (before.data() + before.size() > sorted[i]->bytes.data()) {
      damaged(fmt::format("the members '{}' and '{}' of the zip archive overlap",
                          printable(sorted[i - 1]->name), printable(sorted[i]->name)));
    }
  }
}

}  // namespace

bool looks_like_zip(Bytes bytes) noexcept {
  ByteReader reader(bytes);
  const auto signature = reader.u32_le();
  return signature == kLocalSignature || signature == kEndSignature;
}

std::vector<ZipMember> read_zip(Bytes bytes) {
  const Directory directory = read_end(bytes);
  ByteReader reader(bytes.subspan(directory.offset, directory.size));
  std::vector<ZipMember> members;
  std::set<std::string_view> names;
  members.reserve(directory.entries);
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    // Members lie before the directory.
    members.push_back(locate(bytes.first(directory.offset), read_entry(reader)));
    if (!names.insert(members.back().name).second) {
      damaged(fmt::format("the zip archive has two members '{}'", printable(members.back().name)));
    }
  }
  require_apart(members);
  return members;
}

}  // namespace samlet::checkpoint
