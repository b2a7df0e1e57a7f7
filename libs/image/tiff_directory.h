// The directories of a TIFF structure: a TIFF file's own, and the block that EXIF data is. Sources: TIFF 6.0,
// the BigTIFF design; Pillow's ImageFileDirectory_v2.load for what counts when a directory is odd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "libs/base/byte_reader.h"

namespace samlet {

/// The four bytes that all offsets and numbers depend on, and the first directory's offset.
struct TiffHeader {
  bool little = true;
  bool big_tiff = false;  ///< 64-bit counts and offsets
  std::uint64_t first = 0;
};

/// The header of a TIFF file: "II" or "MM", then 42 or 43 (BigTIFF); the two with the 42 in the wrong byte
/// order occur, and Pillow takes them. Nothing for other bytes. Thread-safe.
[[nodiscard]] std::optional<TiffHeader> read_tiff_header(std::span<const std::uint8_t> bytes) noexcept;

/// One entry of a directory. It points into the file's bytes.
struct TiffField {
  std::uint16_t tag = 0;
  std::uint16_t type = 0;
  bool little = true;
  std::uint64_t count = 0;             ///< at least 1
  std::span<const std::uint8_t> data;  ///< `count` values

  /// A value, whatever its number type; doubles hold every legal number exactly. Nothing past the last one,
  /// for text and bytes (which Pillow does not take as numbers either), and for a ratio with the divisor 0.
  [[nodiscard]] std::optional<double> number(std::uint64_t index = 0) const noexcept;
};

/// Walks the entries of one directory in order, because Pillow does: an entry of unknown type or without
/// values is skipped, one whose data lies outside of the bytes ends the walk, one that claims more than there
/// is (counted over all entries) is skipped. Any bytes are safe. Not thread-safe; copies are independent.
class TiffDirectory {
 public:
  TiffDirectory(std::span<const std::uint8_t> bytes, const TiffHeader& header, std::uint64_t offset) noexcept;

  /// The next entry; nothing at the end.
  [[nodiscard]] std::optional<TiffField> next() noexcept;

 private:
  [[nodiscard]] bool find_data(TiffField& field, std::size_t bytes_each,
                               std::span<const std::uint8_t> inside) noexcept;

  std::span<const std::uint8_t> bytes_;
  TiffHeader header_;
  ByteReader reader_;
  std::uint64_t left_ = 0;     // entries
  std::uint64_t claimed_ = 0;  // bytes of data outside of the directory
};

/// What reading a directory costs a library that keeps every entry.
struct TiffDirectoryWeight {
  std::uint64_t entries = 0;     ///< As the directory says.
  std::uint64_t data_bytes = 0;  ///< Outside of the directory and inside of the file.
};

/// Looks at all entries that are there, whatever the rules of TiffDirectory say. Thread-safe.
[[nodiscard]] TiffDirectoryWeight weigh_tiff_directory(std::span<const std::uint8_t> bytes,
                                                       const TiffHeader& header,
                                                       std::uint64_t offset) noexcept;

/// Where the directory after the one at `offset` begins: 0 for none, nothing when that one is not whole.
/// Thread-safe.
[[nodiscard]] std::optional<std::uint64_t> next_tiff_directory(std::span<const std::uint8_t> bytes,
                                                               const TiffHeader& header,
                                                               std::uint64_t offset) noexcept;

/// The number of directories in a chain: it ends with an offset of 0, at one that was there already, at one
/// outside of the bytes, or at `most`. At least 1. Thread-safe.
[[nodiscard]] std::uint64_t count_tiff_directories(std::span<const std::uint8_t> bytes,
                                                   const TiffHeader& header, std::uint64_t most);

}  // namespace samlet
