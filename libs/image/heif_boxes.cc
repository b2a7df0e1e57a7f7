#include "libs/image/heif_boxes.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "libs/base/byte_reader.h"

namespace samlet {
namespace {

using Bytes = std::span<const std::uint8_t>;

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Box {
  std::string_view type;
  Bytes data;
  bool truncated = false;
};

/// The next box; one that claims more than there is gets what there is.
std::optional<Box> next_box(ByteReader& reader) {
  constexpr std::uint64_t kHead = 8;
  const auto size = reader.u32_be();
  const auto type = reader.take(4);
  if (!size || !type) return std::nullopt;
  std::uint64_t length = *size;
  std::uint64_t head = kHead;
  if (length == 1) {  // the size follows, in 64 bits
    const auto high = reader.u32_be();
    const auto low = reader.u32_be();
    if (!high || !low) return std::nullopt;
    length = std::uint64_t{*high} << 32 | *low;
    head += 8;
  } else if (length == 0) {  // up to the end
    length = head + reader.remaining();
  }
  if (length < head) return std::nullopt;
  Box box{text_of(*type), {}, length - head > reader.remaining()};
  box.data =
      *reader.take(static_cast<std::size_t>(std::min<std::uint64_t>(length - head, reader.remaining())));
  return box;
}

/// Calls `use` for every box in `data`.
template <typename Use>
void for_each_box(Bytes data, Use use) {
  ByteReader reader(data);
  while (const auto box = next_box(reader)) use(*box);
}

/// The first box of that type; empty when there is none.
Bytes find_box(Bytes data, std::string_view type) {
  ByteReader reader(data);
  while (const auto box = next_box(reader)) {
    if (box->type == type) return box->data;
  }
  return {};
}

/// What follows the version and the flags of a full box.
struct FullBox {
  std::uint32_t version = 0;
  std::uint32_t flags = 0;
  ByteReader reader;
};

FullBox open_full(Bytes data) {
  ByteReader reader(data);
  const std::uint32_t head = reader.u32_be().value_or(0);
  return {head >> 24, head & 0xFFFFFF, reader};
}

/// 16 or 32 bits.
std::optional<std::uint32_t> read_id(ByteReader& reader, bool wide) {
  if (wide) return reader.u32_be();
  return reader.u16_be();
}

/// 8 or 16 bits.
std::optional<std::uint32_t> read_index(ByteReader& reader, bool wide) {
  if (wide) return reader.u16_be();
  return reader.u8();
}

std::optional<std::uint32_t> primary_item(Bytes meta) {
  FullBox box = open_full(find_box(meta, "pitm"));
  return read_id(box.reader, box.version != 0);
}

using ItemTypes = std::map<std::uint32_t, std::string>;

/// "hvc1", "av01", "grid", "Exif", ... by item.
ItemTypes item_types(Bytes meta) {
  ItemTypes types;
  FullBox list = open_full(find_box(meta, "iinf"));
  if (!read_id(list.reader, list.version != 0)) return types;  // how many there are
  while (const auto box = next_box(list.reader)) {
    FullBox entry = open_full(box->data);
    const auto id = read_id(entry.reader, entry.version >= 3);
    const auto protection = entry.reader.u16_be();
    const auto type = entry.reader.take(4);
    if (entry.version >= 2 && id && protection && type) types.emplace(*id, text_of(*type));
  }
  return types;
}

/// Numbers of 0, 4 or 8 bytes.
std::optional<std::uint64_t> read_sized(ByteReader& reader, std::size_t bytes) {
  const auto view = reader.take(bytes);
  if (!view) return std::nullopt;
  std::uint64_t value = 0;
  for (const std::uint8_t byte : *view) value = value << 8 | byte;
  return value;
}

/// Calls `use` with every item and the place in the file where its data begins; items whose data lies
/// elsewhere are left out.
template <typename Use>
void for_each_location(Bytes meta, Use use) {
  FullBox list = open_full(find_box(meta, "iloc"));
  ByteReader& reader = list.reader;
  const std::uint32_t widths = reader.u16_be().value_or(0);
  const std::size_t offset_bytes = widths >> 12;
  const std::size_t length_bytes = widths >> 8 & 15;
  const std::size_t base_bytes = widths >> 4 & 15;
  const std::size_t index_bytes = list.version == 0 ? 0 : widths & 15;
  const std::uint32_t items = read_id(reader, list.version >= 2).value_or(0);
  for (std::uint32_t i = 0; i < items; ++i) {
    const auto id = read_id(reader, list.version >= 2);
    const std::uint32_t method = list.version == 0 ? 0 : reader.u16_be().value_or(0) & 15U;
    const auto reference = reader.u16_be();
    const auto base = read_sized(reader, base_bytes);
    const auto extents = reader.u16_be();
    if (!id || !reference || !base || !extents) return;
    const std::size_t extent_bytes = index_bytes + offset_bytes + length_bytes;
    ByteReader first = reader;
    if (!reader.skip(extent_bytes * *extents)) return;
    if (*extents == 0 || method != 0 || !first.skip(index_bytes)) continue;
    if (const auto offset = read_sized(first, offset_bytes)) use(*id, *base + *offset);
  }
}

/// The properties of an item, by number from 1 on, in the order in which they apply.
std::vector<std::size_t> properties_of(Bytes properties, std::uint32_t id) {
  std::vector<std::size_t> found;
  for_each_box(properties, [&](const Box& box) {
    if (box.type != "ipma") return;
    FullBox list = open_full(box.data);
    const std::uint32_t entries = list.reader.u32_be().value_or(0);
    for (std::uint32_t i = 0; i < entries; ++i) {
      const auto item = read_id(list.reader, list.version >= 1);
      const auto count = list.reader.u8();
      if (!item || !count) return;
      for (int k = 0; k < *count; ++k) {
        const bool wide = (list.flags & 1) != 0;
        const auto entry = read_index(list.reader, wide);
        if (!entry) return;
        // The highest bit says whether the property is essential.
        if (*item == id) found.push_back(*entry & (wide ? 0x7FFFU : 0x7FU));
      }
    }
  });
  return found;
}

/// What stands in the corners of a picture after it was turned: at first 0 1 / 2 3.
using Corners = std::array<std::uint8_t, 4>;

/// By 90 degrees against the clock.
Corners rotated(Corners c) {
  return {c[1], c[3], c[0], c[2]};
}

/// Axis 0 swaps top and bottom, axis 1 left and right.
Corners mirrored(Corners c, int axis) {
  return axis == 0 ? Corners{c[2], c[3], c[0], c[1]} : Corners{c[1], c[0], c[3], c[2]};
}

Orientation orientation_of(Corners corners) {
  constexpr std::array<Corners, 8> kByNumber{{{0, 1, 2, 3},
                                              {1, 0, 3, 2},
                                              {3, 2, 1, 0},
                                              {2, 3, 0, 1},
                                              {0, 2, 1, 3},
                                              {2, 0, 3, 1},
                                              {3, 1, 2, 0},
                                              {1, 3, 0, 2}}};
  const auto at = std::find(kByNumber.begin(), kByNumber.end(), corners);
  return static_cast<Orientation>(at - kByNumber.begin() + 1);
}

void read_turns(const std::vector<Box>& properties, const std::vector<std::size_t>& numbers,
                HeifBoxes& boxes) {
  Corners corners{0, 1, 2, 3};
  for (const std::size_t number : numbers) {
    if (number == 0 || number > properties.size()) continue;
    const Box& box = properties[number - 1];
    if (box.data.empty() || (box.type != "irot" && box.type != "imir")) continue;
    boxes.turned = true;
    if (box.type == "imir") corners = mirrored(corners, box.data[0] & 1);
    for (int turns = box.type == "irot" ? box.data[0] & 3 : 0; turns > 0; --turns) corners = rotated(corners);
  }
  boxes.orientation = orientation_of(corners);
}

void add_coded(HeifBoxes& boxes, HeifSize size) {
  if (size.width != 0 || size.height != 0) boxes.coded.push_back(size);
}

/// A sequence header (type 1) among the first OBUs of `data`, which tells the size.
void read_obus(Bytes data, HeifBoxes& boxes) {
  constexpr int kLooked = 4;
  ByteReader reader(data);
  for (int i = 0; i < kLooked; ++i) {
    const auto head = reader.u8();
    if (!head || ((*head & 4) != 0 && !reader.skip(1))) return;
    std::uint64_t size = reader.remaining();
    if ((*head & 2) != 0) {  // seven bits a byte, the lowest first
      size = 0;
      for (int shift = 0; shift < 56; shift += 7) {
        const std::uint8_t byte = reader.u8().value_or(0);
        size |= std::uint64_t{byte & 0x7FU} << shift;
        if ((byte & 0x80) == 0) break;
      }
    }
    const auto payload =
        reader.take(static_cast<std::size_t>(std::min<std::uint64_t>(size, reader.remaining())));
    if ((*head >> 3 & 15) != 1) continue;
    add_coded(boxes, av1_coded_size(*payload));
    return;
  }
}

/// hvcC: 22 bytes, then arrays of units by type. Returns whether there is colour.
bool read_hevc_header(Bytes data, HeifBoxes& boxes) {
  constexpr std::size_t kFixed = 22;
  constexpr std::uint8_t kParameterSet = 33;
  ByteReader reader(data);
  if (!reader.skip(kFixed)) return true;
  const int arrays = reader.u8().value_or(0);
  for (int i = 0; i < arrays; ++i) {
    const auto type = reader.u8();
    const auto units = reader.u16_be();
    for (std::uint32_t k = 0; k < units.value_or(0); ++k) {
      const auto length = reader.u16_be();
      const auto unit = length ? reader.take(*length) : std::nullopt;
      if (!unit) return true;
      if ((type.value_or(0) & 0x3F) == kParameterSet) add_coded(boxes, hevc_coded_size(*unit));
    }
  }
  return (data[16] & 3) != 0;
}

/// av1C: 4 bytes, then perhaps OBUs. Returns whether there is colour.
bool read_av1_header(Bytes data, HeifBoxes& boxes) {
  if (data.size() < 4) return true;
  read_obus(data.subspan(4), boxes);
  return (data[2] & 0x10) == 0;
}

void read_properties(const std::vector<Box>& properties, HeifBoxes& boxes) {
  bool colour = false;
  bool known = false;
  for (const Box& box : properties) {
    if (box.type == "ispe") {
      FullBox full = open_full(box.data);
      const auto width = full.reader.u32_be();
      const auto height = full.reader.u32_be();
      if (width && height) boxes.claimed.push_back({*width, *height});
    } else if (box.type == "hvcC" || box.type == "av1C") {
      known = true;
      colour = (box.type == "hvcC" ? read_hevc_header(box.data, boxes) : read_av1_header(box.data, boxes)) ||
               colour;
    }
  }
  boxes.grey = known && !colour;
}

/// Which pictures each one is made of ("dimg"): the tiles of a grid, the layers of an overlay.
using ItemParts = std::map<std::uint32_t, std::vector<std::uint32_t>>;

/// Nothing when a reference is longer or shorter than what is in it: libheif does not look at its length, and
/// would find other references than this does.
std::optional<ItemParts> item_parts(Bytes meta) {
  ItemParts parts;
  FullBox list = open_full(find_box(meta, "iref"));
  const bool wide = list.version != 0;
  while (const auto box = next_box(list.reader)) {
    ByteReader reader(box->data);
    const auto from = read_id(reader, wide);
    const auto count = reader.u16_be();
    if (!from || !count || reader.remaining() != *count * (wide ? std::size_t{4} : std::size_t{2}))
      return std::nullopt;
    if (box->type != "dimg") continue;
    std::vector<std::uint32_t>& own = parts[*from];
    for (std::uint32_t i = 0; i < *count; ++i) own.push_back(read_id(reader, wide).value_or(0));
  }
  return parts;
}

/// The items that libheif takes for pictures, of those that are read here.
bool is_picture_type(std::string_view type) {
  constexpr std::array<std::string_view, 5> kTypes{"hvc1", "av01", "grid", "iovl", "iden"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

/// libheif decodes a picture's parts one by one, each with its own, to any depth: a picture that is part of
/// itself, or whose part is none, ends the program, and a few layers that each use the next several times
/// take for ever.
class PartCounter {
 public:
  PartCounter(const ItemParts& parts, const ItemTypes& types) : parts_(parts), types_(types) {}

  /// The pictures that make up an item, itself included; kTooMany for more, for a circle, for a part that is
  /// no picture, and for more depth than any camera or program has.
  std::uint64_t count(std::uint32_t item, int depth = 0) {
    if (const auto known = counts_.find(item); known != counts_.end()) return known->second;
    const auto type = types_.find(item);
    if (depth > kMostDepth || type == types_.end() || !is_picture_type(type->second)) return kTooMany;
    counts_[item] = kTooMany;  // while it is being counted: who meets it again is in a circle
    std::uint64_t sum = 1;
    if (const auto found = parts_.find(item); found != parts_.end()) {
      for (const std::uint32_t part : found->second) sum = std::min(kTooMany, sum + count(part, depth + 1));
    }
    counts_[item] = sum;
    return sum;
  }

  static constexpr std::uint64_t kTooMany = std::uint64_t{1} << 32;

 private:
  static constexpr int kMostDepth = 16;
  const ItemParts& parts_;
  const ItemTypes& types_;
  std::map<std::uint32_t, std::uint64_t> counts_;
};

void read_parts(Bytes meta, const ItemTypes& types, HeifBoxes& boxes) {
  const auto parts = item_parts(meta);
  if (!parts) {
    boxes.parts = PartCounter::kTooMany;
    return;
  }
  PartCounter counter(*parts, types);
  for (const auto& [item, unused] : *parts) boxes.parts = std::max(boxes.parts, counter.count(item));
}

void read_meta(Bytes file, Bytes meta, HeifBoxes& boxes) {
  const auto primary = primary_item(meta);
  const ItemTypes types = item_types(meta);
  read_parts(meta, types, boxes);
  const auto type_of = [&types](std::uint32_t id) {
    const auto found = types.find(id);
    return found == types.end() ? std::string_view{} : std::string_view(found->second);
  };
  if (primary) boxes.item_type = type_of(*primary);
  const Bytes properties = find_box(meta, "iprp");
  std::vector<Box> list;
  // Their numbers have 15 bits.
  constexpr std::size_t kMost = 0x7FFF;
  for_each_box(find_box(properties, "ipco"), [&](const Box& box) {
    if (list.size() < kMost) list.push_back(box);
  });
  read_properties(list, boxes);
  if (primary) read_turns(list, properties_of(properties, *primary), boxes);
  for_each_location(meta, [&](std::uint32_t id, std::uint64_t start) {
    if (type_of(id) == "av01" && start < file.size() && boxes.coded.size() < kMost)
      read_obus(file.subspan(static_cast<std::size_t>(start)), boxes);
  });
}

/// moov, trak, mdia, minf, stbl, stsz: a size for all samples, or one each; how many.
std::uint64_t count_samples(Bytes movie) {
  Bytes data = movie;
  for (const char* name : {"trak", "mdia", "minf", "stbl", "stsz"}) data = find_box(data, name);
  FullBox table = open_full(data);
  if (!table.reader.skip(4)) return 0;
  return table.reader.u32_be().value_or(0);
}

constexpr std::array<std::string_view, 8> kHeicBrands{"heic", "heix", "heim", "heis",
                                                      "hevc", "hevx", "hevm", "hevs"};
constexpr std::array<std::string_view, 2> kAvifBrands{"avif", "avis"};
constexpr std::array<std::string_view, 2> kGenericBrands{"mif1", "msf1"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

HeifBrand brand_of(std::string_view name) {
  if (is_one_of(kHeicBrands, name)) return HeifBrand::kHeic;
  if (is_one_of(kAvifBrands, name)) return HeifBrand::kAvif;
  return is_one_of(kGenericBrands, name) ? HeifBrand::kGeneric : HeifBrand::kNone;
}

}  // namespace

HeifBrand heif_brand(std::span<const std::uint8_t> bytes) noexcept {
  ByteReader reader(bytes);
  const auto box = next_box(reader);
  if (!box || box->type != "ftyp" || box->data.size() < 8) return HeifBrand::kNone;
  const std::string_view text = text_of(box->data);
  const HeifBrand major = brand_of(text.substr(0, 4));
  if (major == HeifBrand::kHeic || major == HeifBrand::kAvif) return major;
  HeifBrand best = major;
  for (std::size_t at = 8; at + 4 <= text.size(); at += 4) {
    const HeifBrand brand = brand_of(text.substr(at, 4));
    if (brand == HeifBrand::kHeic || brand == HeifBrand::kAvif) return brand;
    if (best == HeifBrand::kNone) best = brand;
  }
  return best;
}

HeifBoxes read_heif_boxes(std::span<const std::uint8_t> bytes) {
  HeifBoxes boxes;
  for_each_box(bytes, [&](const Box& box) {
    const bool counts = box.type == "meta" || box.type == "moov" || box.type == "mdat" || box.type == "ftyp";
    boxes.truncated = boxes.truncated || (box.truncated && counts);
    if (box.type == "meta" && box.data.size() > 4) read_meta(bytes, box.data.subspan(4), boxes);
    if (box.type == "moov" && boxes.samples == 0) boxes.samples = count_samples(box.data);
  });
  return boxes;
}

}  // namespace samlet
