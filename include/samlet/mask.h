// Masks as COCO run-length encodings: small, exact, and what other tools read.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace samlet {

/// A binary mask of a whole picture. Pixels are taken column by column (x outer, y inner: COCO's order);
/// `counts` holds alternating run lengths, beginning with a run of zeros (which may be empty). The runs add
/// up to width x height. Value type.
struct Mask {
  int width = 0;
  int height = 0;
  std::vector<std::uint32_t> counts;

  /// The number of set pixels.
  [[nodiscard]] std::uint64_t area() const noexcept;
};

/// COCO's compressed string of the runs, byte for byte as pycocotools writes it. Thread-safe.
std::string to_coco_string(const Mask& mask);

/// The inverse. Errors: kUsage when the text is no such string or does not fill width x height. Thread-safe.
Mask from_coco_string(const std::string& counts, int width, int height);

/// Row-major bytes [height, width], 1 where set. Thread-safe.
std::vector<std::uint8_t> to_bitmap(const Mask& mask);

/// The inverse of to_bitmap; any non-zero byte counts as set. Errors: kUsage when the size does not match.
Mask from_bitmap(const std::vector<std::uint8_t>& bitmap, int width, int height);

/// |a and b|: the pixels that both have. Errors: kUsage when the sizes differ. Thread-safe.
std::uint64_t overlap_area(const Mask& a, const Mask& b);

/// |a and b| / |a or b|; 1 when both are empty. Errors: kUsage when the sizes differ. Thread-safe.
double intersection_over_union(const Mask& a, const Mask& b);

}  // namespace samlet
