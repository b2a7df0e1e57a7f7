#include "libs/engine/formats/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "libs/base/byte_reader.h"
#include "libs/base/checked.h"
#include "libs/base/utf8.h"
#include "libs/engine/formats/npy_header.h"
#include "samlet/error.h"

namespace samlet::formats {
namespace {

constexpr std::array<std::uint8_t, 6> kMagic{0x93, 'N', 'U', 'M', 'P', 'Y'};
/// NumPy itself refuses longer ones, as they are given to an interpreter of Python; here they cost nothing,
/// but no writer makes them.
constexpr std::uint32_t kMostHeaderBytes = 10000;

[[noreturn]] void refuse(std::string_view what) {
  throw Error(
      ErrorCode::kPromptInvalid,
      fmt::format(
          "this is no .npy file with a mask: {}; write it by numpy.save of an array (height, width) of "
          "float32 (logits) or bool",
          what));
}

struct Storage {
  NpyType type = NpyType::kFloat32;
  std::size_t bytes = 0;
  bool big_endian = false;
};

Storage storage_of(const std::string& descr) {
  constexpr std::string_view kOrders = "<>|=";
  struct Known {
    std::string_view name;
    NpyType type;
    std::size_t bytes;
  };
  static constexpr std::array<Known, 5> kKnown{{{"f2", NpyType::kFloat16, 2},
                                                {"f4", NpyType::kFloat32, 4},
                                                {"f8", NpyType::kFloat64, 8},
                                                {"b1", NpyType::kBool, 1},
                                                {"u1", NpyType::kUint8, 1}}};
  for (const Known& known : kKnown) {
    if (descr.size() == 3 && kOrders.find(descr[0]) != std::string_view::npos &&
        descr.substr(1) == known.name) {
      return {known.type, known.bytes, descr[0] == '>'};
    }
  }
  refuse(fmt::format("its numbers are of the type '{}', not float16, float32, float64, bool or uint8",
                     first_characters(descr, 20)));
}

double half(std::uint32_t bits) {
  const int exponent = static_cast<int>((bits >> 10) & 0x1F);
  const auto fraction = static_cast<double>(bits & 0x3FF);
  double value = 0;
  if (exponent == 0x1F) {
    value =
        fraction == 0 ? std::numeric_limits<double>::infinity() : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, -24);
  } else {
    value = std::ldexp(fraction + 1024, exponent - 25);
  }
  return (bits & 0x8000) != 0 ? -value : value;
}

/// `bits` holds the number's bytes, the lowest in the lowest place.
double value_of(std::uint64_t bits, NpyType type) {
  switch (type) {
    case NpyType::kFloat16:
      return half(static_cast<std::uint32_t>(bits));
    case NpyType::kFloat32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    case NpyType::kFloat64:
      return std::bit_cast<double>(bits);
    case NpyType::kBool:
    case NpyType::kUint8:
      return static_cast<double>(bits);
  }
  return 0;
}

float number_at(const std::uint8_t* bytes, const Storage& storage) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < storage.bytes; ++i) {
    bits = (bits << 8) | bytes[storage.big_endian ? i : storage.bytes - 1 - i];
  }
  const double value = value_of(bits, storage.type);
  if (std::isnan(value)) refuse("it holds NaN, which is no number");
  constexpr auto kMost = static_cast<double>(std::numeric_limits<float>::max());
  return static_cast<float>(std::clamp(value, -kMost, kMost));
}

/// The text of the header; the reader stands at the first number then.
std::string_view header_text(ByteReader& reader) {
  const auto magic = reader.take(kMagic.size());
  if (!magic || !std::equal(magic->begin(), magic->end(), kMagic.begin())) {
    refuse("it does not begin like one");
  }
  const auto major = reader.u8();
  const auto minor = reader.u8();
  if (!major || !minor) refuse("it is cut off");
  if (*major < 1 || *major > 3) refuse(fmt::format("its version is {}.{}, not 1.0 to 3.0", *major, *minor));
  std::optional<std::uint32_t> size;
  if (*major == 1) {
    size = reader.u16_le();
  } else {
    size = reader.u32_le();
  }
  if (!size) refuse("it is cut off");
  if (*size > kMostHeaderBytes) refuse(fmt::format("its header of {} bytes is none", *size));
  const auto text = reader.take(*size);
  if (!text) refuse("it is cut off");
  return {reinterpret_cast<const char*>(text->data()), text->size()};
}

struct Size {
  std::size_t rows = 0;
  std::size_t columns = 0;
};

Size size_of(const NpyHeader& header) {
  std::vector<std::uint64_t> shape = header.shape;
  if (shape.size() == 3 && shape[0] == 1) shape.erase(shape.begin());
  constexpr std::uint64_t kMostSide = std::numeric_limits<int>::max();
  const bool fits =
      std::all_of(shape.begin(), shape.end(), [](std::uint64_t side) { return side <= kMostSide; });
  if (shape.size() != 2 || !fits || shape[0] == 0 || shape[1] == 0) {
    refuse(fmt::format("its shape is ({}), not (height, width) or (1, height, width)",
                       fmt::join(header.shape, ", ")));
  }
  return {static_cast<std::size_t>(shape[0]), static_cast<std::size_t>(shape[1])};
}

}  // namespace

NpyArray read_npy(std::span<const std::uint8_t> bytes) {
  ByteReader reader(bytes);
  const auto header = parse_npy_header(header_text(reader));
  if (!header) refuse("its header does not say type, order and shape");
  const Storage storage = storage_of(header->descr);
  const auto [rows, columns] = size_of(*header);
  const auto count = checked_mul(rows, columns);
  const auto needed = count ? checked_mul(*count, storage.bytes) : std::nullopt;
  if (!needed || *needed > reader.remaining()) {
    refuse(
        fmt::format("it is cut off: {} x {} numbers of {} byte(s) cannot be in the {} bytes after the header",
                    rows, columns, storage.bytes, reader.remaining()));
  }
  const std::uint8_t* data = reader.take(*needed)->data();
  NpyArray array{static_cast<int>(rows), static_cast<int>(columns), storage.type, std::vector<float>(*count)};
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < columns; ++x) {
      const std::size_t place = header->fortran_order ? x * rows + y : y * columns + x;
      array.values[y * columns + x] = number_at(data + place * storage.bytes, storage);
    }
  }
  return array;
}

std::vector<std::uint8_t> write_npy(std::span<const float> values, int rows, int columns) {
  if (rows <= 0 || columns <= 0 || values.size() % static_cast<std::size_t>(rows) != 0 ||
      values.size() / static_cast<std::size_t>(rows) != static_cast<std::size_t>(columns)) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{} numbers are no array of {} x {}; give all rows and nothing else",
                            values.size(), rows, columns));
  }
  std::string header =
      npy_header({"<f4", false, {static_cast<std::uint64_t>(rows), static_cast<std::uint64_t>(columns)}});
  // The numbers begin at a multiple of 64 bytes; magic, version and length take ten.
  constexpr std::size_t kAlignment = 64;
  constexpr std::size_t kBefore = 10;
  while ((kBefore + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  std::vector<std::uint8_t> out;
  out.reserve(kBefore + header.size() + 4 * values.size());
  const auto append = [&out](auto byte) { out.push_back(static_cast<std::uint8_t>(byte)); };
  for (const std::uint8_t byte : kMagic) append(byte);
  for (const std::size_t byte : {std::size_t{1}, std::size_t{0}, header.size() & 0xFF, header.size() >> 8})
    append(byte);
  for (const char c : header) append(c);
  for (const float value : values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (int shift = 0; shift < 32; shift += 8) append((bits >> shift) & 0xFF);
  }
  return out;
}

}  // namespace samlet::formats
