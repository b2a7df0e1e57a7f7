// NumPy's .npy files with one array of mask logits, as they are kept and given back for refinement.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace samlet::formats {

/// How the numbers of an array are stored.
enum class NpyType : std::uint8_t { kFloat16, kFloat32, kFloat64, kBool, kUint8 };

/// A mask as an array. Value type.
struct NpyArray {
  int rows = 0;
  int columns = 0;
  NpyType type = NpyType::kFloat32;
  std::vector<float> values;  ///< Row-major [rows, columns], as stored: nothing is scaled or clamped.

  /// Zeros and others, rather than logits.
  [[nodiscard]] bool is_mask() const noexcept { return type == NpyType::kBool || type == NpyType::kUint8; }
};

/// Reads an array of the shape (h, w) or (1, h, w), of float16, float32, float64, bool or uint8, in either
/// order of bytes and of axes, of format version 1, 2 or 3. Bytes after the array are ignored, as NumPy does.
/// The memory taken is at most four times the file's. Errors: kPromptInvalid. Thread-safe.
[[nodiscard]] NpyArray read_npy(std::span<const std::uint8_t> bytes);

/// A file of version 1.0 with a float32 array (rows, columns) in C order, as numpy.save writes it. `values`
/// are row-major. Errors: kUsage when they do not fill the size. Thread-safe.
[[nodiscard]] std::vector<std::uint8_t> write_npy(std::span<const float> values, int rows, int columns);

}  // namespace samlet::formats
