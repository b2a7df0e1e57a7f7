// The only way to read numbers out of untrusted bytes: bounds-checked, endianness spelled out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace samlet {

/// A cursor over bytes that it does not own. Reads return nothing at the end instead of reading past it; a
/// failed read does not move the cursor. Not thread-safe; copies are independent.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::uint8_t> bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size(); }
  [[nodiscard]] std::size_t position() const noexcept { return position_; }
  [[nodiscard]] std::size_t remaining() const noexcept { return bytes_.size() - position_; }

  /// Moves to an absolute position; false (and no move) when it lies past the end.
  [[nodiscard]] bool seek(std::size_t position) noexcept {
    if (position > bytes_.size()) return false;
    position_ = position;
    return true;
  }
  [[nodiscard]] bool skip(std::size_t count) noexcept {
    if (count > remaining()) return false;
    position_ += count;
    return true;
  }

  /// The next `count` bytes as a view into the source.
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> take(std::size_t count) noexcept {
    if (count > remaining()) return std::nullopt;
    const auto view = bytes_.subspan(position_, count);
    position_ += count;
    return view;
  }

  [[nodiscard]] std::optional<std::uint8_t> u8() noexcept { return read<std::uint8_t>(true); }
  [[nodiscard]] std::optional<std::uint16_t> u16_le() noexcept { return read<std::uint16_t>(true); }
  [[nodiscard]] std::optional<std::uint16_t> u16_be() noexcept { return read<std::uint16_t>(false); }
  [[nodiscard]] std::optional<std::uint32_t> u32_le() noexcept { return read<std::uint32_t>(true); }
  [[nodiscard]] std::optional<std::uint32_t> u32_be() noexcept { return read<std::uint32_t>(false); }
  [[nodiscard]] std::optional<std::uint64_t> u64_le() noexcept { return read<std::uint64_t>(true); }

 private:
  template <typename T>
  [[nodiscard]] std::optional<T> read(bool little_endian) noexcept {
    const auto view = take(sizeof(T));
    if (!view) return std::nullopt;
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      const std::size_t from_the_top = little_endian ? sizeof(T) - 1 - i : i;
      value = (value << 8) | (*view)[from_the_top];
    }
    return static_cast<T>(value);
  }

  std::span<const std::uint8_t> bytes_;
  std::size_t position_ = 0;
};

}  // namespace samlet
