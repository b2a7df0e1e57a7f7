#include "libs/image/png_metadata.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <zlib.h>

#include "libs/base/byte_reader.h"

namespace samlet {
namespace {

constexpr std::size_t kSignatureBytes = 8;
/// Pillow's MAX_TEXT_CHUNK. Metadata of real cameras is far below it; a bomb is not.
constexpr std::size_t kMaxTextBytes = std::size_t{1} << 20;

std::string to_string(std::span<const std::uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

struct Chunk {
  std::string type;
  std::span<const std::uint8_t> data;
  std::span<const std::uint8_t> type_and_data;  // what the checksum covers
  std::uint32_t checksum = 0;

  [[nodiscard]] bool is_sound() const {
    return crc32_z(0, type_and_data.data(), type_and_data.size()) == checksum;
  }
};

std::optional<Chunk> next_chunk(ByteReader& reader) {
  constexpr std::size_t kTypeBytes = 4;
  const auto length = reader.u32_be();
  // Lengths end at 2^31 - 1.
  if (!length || *length > 0x7FFFFFFFU) return std::nullopt;
  const auto covered = reader.take(kTypeBytes + *length);
  const auto checksum = reader.u32_be();
  if (!covered || !checksum) return std::nullopt;
  return Chunk{to_string(covered->first(kTypeBytes)), covered->subspan(kTypeBytes), *covered, *checksum};
}

/// Unpacks a zlib stream; empty when it is damaged or larger than the limit.
std::string inflate_text(std::span<const std::uint8_t> packed) {
  std::string out;
  z_stream stream{};
  if (inflateInit(&stream) != Z_OK) return out;
  // zlib does not write through next_in; its type says otherwise for old compilers.
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::array<Bytef, 16384> piece{};
  int state = Z_OK;
  while (state == Z_OK && out.size() <= kMaxTextBytes) {
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    state = inflate(&stream, Z_NO_FLUSH);
    out.append(piece.begin(), piece.end() - static_cast<std::ptrdiff_t>(stream.avail_out));
  }
  inflateEnd(&stream);
  return state == Z_STREAM_END && out.size() <= kMaxTextBytes ? out : std::string();
}

/// Takes the bytes up to the next NUL; nothing when there is none.
std::optional<std::string> take_keyword(std::span<const std::uint8_t>& rest) {
  const auto end = std::find(rest.begin(), rest.end(), std::uint8_t{0});
  if (end == rest.end()) return std::nullopt;
  std::string keyword(rest.begin(), end);
  rest = rest.subspan(keyword.size() + 1);
  return keyword;
}

struct Text {
  std::string keyword;
  std::string value;
};

/// tEXt: keyword, NUL, text. zTXt: keyword, NUL, method 0, zlib stream. iTXt: keyword, NUL, packed?, method,
/// language, NUL, translated keyword, NUL, text. Only the keywords that matter are unpacked.
std::optional<Text> read_text(const Chunk& chunk, bool (*matters)(std::string_view)) {
  auto rest = chunk.data;
  auto keyword = take_keyword(rest);
  if (!keyword || !matters(*keyword)) return std::nullopt;
  bool packed = false;
  if (chunk.type == "zTXt") {
    if (rest.empty() || rest[0] != 0) return std::nullopt;
    rest = rest.subspan(1);
    packed = true;
  } else if (chunk.type == "iTXt") {
    if (rest.size() < 2) return std::nullopt;
    packed = rest[0] != 0;
    if (packed && rest[1] != 0) return std::nullopt;
    rest = rest.subspan(2);
    if (!take_keyword(rest) || !take_keyword(rest)) return std::nullopt;
  }
  return Text{std::move(*keyword), packed ? inflate_text(rest) : to_string(rest)};
}

constexpr std::string_view kRawExif = "Raw profile type exif";
constexpr std::string_view kXmp = "XML:com.adobe.xmp";

bool is_metadata(std::string_view keyword) {
  return keyword == kRawExif || keyword == kXmp;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// ImageMagick's form: an empty line, a name, a byte count, then lines of hexadecimal digits. Empty when it
/// is not.
std::vector<std::uint8_t> decode_raw_profile(std::string_view text) {
  for (int line = 0; line < 3; ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  std::vector<std::uint8_t> bytes;
  int high = -1;
  for (const char c : text) {
    if (c == '\n' || c == '\r' || c == ' ' || c == '\t') continue;
    const int digit = hex_digit(c);
    if (digit < 0) return {};
    if (high >= 0) bytes.push_back(static_cast<std::uint8_t>(high * 16 + digit));
    high = high >= 0 ? -1 : digit;
  }
  return bytes;
}

}  // namespace

std::optional<PngHeader> read_png_header(std::span<const std::uint8_t> bytes) {
  ByteReader reader(bytes);
  if (!reader.skip(kSignatureBytes)) return std::nullopt;
  const auto chunk = next_chunk(reader);
  if (!chunk || chunk->type != "IHDR" || !chunk->is_sound()) return std::nullopt;
  ByteReader data(chunk->data);
  const auto width = data.u32_be();
  const auto height = data.u32_be();
  const auto bit_depth = data.u8();
  const auto colour_type = data.u8();
  if (!width || !height || !bit_depth || !colour_type) return std::nullopt;
  return PngHeader{*width, *height, *bit_depth, *colour_type};
}

PngMetadata read_png_metadata(std::span<const std::uint8_t> bytes) {
  PngMetadata metadata;
  std::string raw_profile;
  bool seen_pixels = false;
  ByteReader reader(bytes);
  if (!reader.skip(kSignatureBytes)) return metadata;
  while (const auto chunk = next_chunk(reader)) {
    if (chunk->type == "IEND") break;
    const bool is_exif = chunk->type == "eXIf";
    const bool is_text = chunk->type == "tEXt" || chunk->type == "zTXt" || chunk->type == "iTXt";
    seen_pixels = seen_pixels || chunk->type == "IDAT";
    if (chunk->type == "acTL" && !seen_pixels && chunk->is_sound())
      metadata.frames = std::max<std::uint32_t>(1, ByteReader(chunk->data).u32_be().value_or(1));
    if ((!is_exif && !is_text) || !(seen_pixels || chunk->is_sound())) continue;
    if (is_exif) {
      metadata.exif.assign(chunk->data.begin(), chunk->data.end());
    } else if (auto text = read_text(*chunk, &is_metadata)) {
      (text->keyword == kXmp ? metadata.xmp : raw_profile) = std::move(text->value);
    }
  }
  if (metadata.exif.empty()) metadata.exif = decode_raw_profile(raw_profile);
  return metadata;
}

}  // namespace samlet
