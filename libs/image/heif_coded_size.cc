// The sizes that the coded data of HEIF files gives itself, bit by bit.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libs/image/heif_boxes.h"

namespace samlet {
namespace {

using Bytes = std::span<const std::uint8_t>;

/// Numbers of any count of bits, the highest first. After the end it gives zeros and says so.
class BitReader {
 public:
  explicit BitReader(Bytes bytes) : bytes_(bytes) {}

  std::uint32_t bits(int count) {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 1 | bit();
    return value;
  }
  void skip(std::size_t count) { position_ += count; }
  /// An Exp-Golomb number.
  std::uint32_t golomb() {
    int zeros = 0;
    while (zeros < 32 && ok() && bit() == 0) ++zeros;
    if (zeros >= 32) position_ = 8 * bytes_.size() + 1;
    return zeros >= 32 ? 0 : (1U << zeros) - 1 + bits(zeros);
  }
  [[nodiscard]] bool ok() const { return position_ <= 8 * bytes_.size(); }

 private:
  std::uint32_t bit() {
    const std::size_t byte = position_ / 8;
    const auto shift = static_cast<int>(7 - position_ % 8);
    ++position_;
    return byte < bytes_.size() ? (std::uint32_t{bytes_[byte]} >> shift) & 1U : 0;
  }

  Bytes bytes_;
  std::size_t position_ = 0;
};

/// HEVC data has a 3 after two zeros wherever a start code could be mistaken.
std::vector<std::uint8_t> without_emulation(Bytes bytes) {
  std::vector<std::uint8_t> out;
  int zeros = 0;
  for (const std::uint8_t byte : bytes) {
    if (zeros >= 2 && byte == 3) {
      zeros = 0;
      continue;
    }
    zeros = byte == 0 ? zeros + 1 : 0;
    out.push_back(byte);
  }
  return out;
}

}  // namespace

HeifSize hevc_coded_size(std::span<const std::uint8_t> unit) {
  const std::vector<std::uint8_t> plain = without_emulation(unit);
  BitReader reader(plain);
  reader.skip(16 + 4);
  const std::uint32_t layers = reader.bits(3);  // fewer by one than there are
  reader.skip(1 + 88 + 8);                      // nesting, profile, level
  std::uint32_t profiles = 0;
  std::uint32_t levels = 0;
  for (std::uint32_t i = 0; i < layers; ++i) {
    profiles += reader.bits(1);
    levels += reader.bits(1);
  }
  if (layers > 0) reader.skip(std::size_t{2} * (8 - layers));
  reader.skip(std::size_t{88} * profiles + std::size_t{8} * levels);
  reader.golomb();  // its number
  if (reader.golomb() == 3) reader.skip(1);
  HeifSize size;
  size.width = reader.golomb();
  size.height = reader.golomb();
  return reader.ok() ? size : HeifSize{};
}

HeifSize av1_coded_size(std::span<const std::uint8_t> payload) {
  BitReader reader(payload);
  reader.skip(3 + 1);  // profile, still picture
  const bool reduced = reader.bits(1) != 0;
  if (reduced) {
    reader.skip(5);
  } else {
    bool decoder_model = false;
    std::uint32_t delay_bits = 0;
    if (reader.bits(1) != 0) {  // timing
      reader.skip(64);
      if (reader.bits(1) != 0) reader.golomb();
      decoder_model = reader.bits(1) != 0;
      if (decoder_model) {
        delay_bits = reader.bits(5) + 1;
        reader.skip(32 + 5 + 5);
      }
    }
    const bool display_delay = reader.bits(1) != 0;
    const std::uint32_t points = reader.bits(5) + 1;
    for (std::uint32_t i = 0; i < points; ++i) {
      reader.skip(12);
      if (reader.bits(5) > 7) reader.skip(1);
      if (decoder_model && reader.bits(1) != 0) reader.skip(std::size_t{2} * delay_bits + 1);
      if (display_delay && reader.bits(1) != 0) reader.skip(4);
    }
  }
  const auto width_bits = static_cast<int>(reader.bits(4) + 1);
  const auto height_bits = static_cast<int>(reader.bits(4) + 1);
  HeifSize size;
  size.width = reader.bits(width_bits) + 1;
  size.height = reader.bits(height_bits) + 1;
  return reader.ok() ? size : HeifSize{};
}

}  // namespace samlet
