#include "samlet/mask.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "libs/mask/runs.h"
#include "samlet/error.h"

namespace samlet {
namespace {

// Runs go down columns, bitmaps along rows. Both conversions go through a block of so many columns at a time,
// so that each row of the bitmap is touched in whole cache lines.
constexpr std::size_t kBlockColumns = 64;

std::uint64_t sum(const std::vector<std::uint32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

/// Hands out the pixels of the runs in order, any number at a time.
class RunReader {
 public:
  explicit RunReader(const std::vector<std::uint32_t>& counts) : counts_(counts) {}

  /// Writes the next `length` pixels; the runs must hold that many more.
  void read(std::uint8_t* out, std::size_t length) {
    while (length > 0) {
      while (left_ == 0) next();
      const std::size_t step = std::min<std::size_t>(length, left_);
      std::fill_n(out, step, set_ ? std::uint8_t{1} : std::uint8_t{0});
      out += step;
      length -= step;
      left_ -= static_cast<std::uint32_t>(step);
    }
  }

 private:
  void next() {
    set_ = index_ % 2 == 1;
    left_ = counts_[index_++];
  }

  const std::vector<std::uint32_t>& counts_;
  std::size_t index_ = 0;
  std::uint32_t left_ = 0;
  bool set_ = false;
};

/// A position in the runs of one mask while two masks are walked together.
struct Cursor {
  const std::vector<std::uint32_t>& counts;
  std::size_t index = 0;
  std::uint32_t left = 0;

  /// Goes to the run that holds the next pixel; false at the end.
  bool settle() {
    while (left == 0 && index < counts.size()) left = counts[index++];
    return left > 0;
  }
  // `index` already points past the current run, so set runs (odd places) have an even one.
  [[nodiscard]] bool set() const { return index % 2 == 0; }
};

}  // namespace

void check_runs(const Mask& mask) {
  if (mask.width < 0 || mask.height < 0) {
    throw Error(ErrorCode::kUsage,
                fmt::format("a mask of {} x {} pixels has a negative side; give its real size", mask.width,
                            mask.height));
  }
  const std::uint64_t pixels =
      static_cast<std::uint64_t>(mask.width) * static_cast<std::uint64_t>(mask.height);
  const std::uint64_t total = sum(mask.counts);
  if (total != pixels) {
    throw Error(
        ErrorCode::kUsage,
        fmt::format("the runs of a mask add up to {} pixels, but {} x {} are {}; check that the size belongs "
                    "to this mask (width and height may be swapped)",
                    total, mask.width, mask.height, pixels));
  }
}

std::uint64_t Mask::area() const noexcept {
  std::uint64_t set = 0;
  for (std::size_t i = 1; i < counts.size(); i += 2) set += counts[i];
  return set;
}

std::vector<std::uint8_t> to_bitmap(const Mask& mask) {
  check_runs(mask);
  const auto width = static_cast<std::size_t>(mask.width);
  const auto height = static_cast<std::size_t>(mask.height);
  std::vector<std::uint8_t> bitmap(width * height);
  std::vector<std::uint8_t> block(std::min(width, kBlockColumns) * height);  // [columns, height]
  RunReader reader(mask.counts);
  for (std::size_t x0 = 0; x0 < width; x0 += kBlockColumns) {
    const std::size_t columns = std::min(kBlockColumns, width - x0);
    reader.read(block.data(), columns * height);
    for (std::size_t y = 0; y < height; ++y) {
      std::uint8_t* row = bitmap.data() + y * width + x0;
      for (std::size_t x = 0; x < columns; ++x) row[x] = block[x * height + y];
    }
  }
  return bitmap;
}

Mask from_bitmap(const std::vector<std::uint8_t>& bitmap, int width, int height) {
  const bool negative = width < 0 || height < 0;
  const auto columns_total = static_cast<std::size_t>(negative ? 0 : width);
  const auto rows = static_cast<std::size_t>(negative ? 0 : height);
  if (negative || bitmap.size() != columns_total * rows) {
    throw Error(ErrorCode::kUsage,
                fmt::format("a bitmap of {} bytes is not one of {} x {} pixels; give one byte a pixel",
                            bitmap.size(), width, height));
  }
  if (bitmap.size() > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::kUsage,
                fmt::format("a mask of {} x {} pixels has more than a run can count (2^32 - 1); "
                            "cut the picture into parts",
                            width, height));
  }
  RunBuilder runs;
  std::vector<std::uint8_t> block(std::min(columns_total, kBlockColumns) * rows);  // [columns, height]
  for (std::size_t x0 = 0; x0 < columns_total; x0 += kBlockColumns) {
    const std::size_t columns = std::min(kBlockColumns, columns_total - x0);
    for (std::size_t y = 0; y < rows; ++y) {
      const std::uint8_t* row = bitmap.data() + y * columns_total + x0;
      for (std::size_t x = 0; x < columns; ++x) block[x * rows + y] = row[x] != 0 ? 1 : 0;
    }
    const auto end = block.begin() + static_cast<std::ptrdiff_t>(columns * rows);
    for (auto at = block.begin(); at != end;) {
      const auto next = std::find_if(at, end, [value = *at](std::uint8_t b) { return b != value; });
      runs.append(*at != 0, static_cast<std::uint64_t>(next - at));
      at = next;
    }
  }
  return Mask{width, height, std::move(runs).finish()};
}

std::uint64_t overlap_area(const Mask& a, const Mask& b) {
  if (a.width != b.width || a.height != b.height) {
    throw Error(ErrorCode::kUsage,
                fmt::format("masks of {} x {} and {} x {} pixels cannot be compared; they must be of "
                            "the same picture",
                            a.width, a.height, b.width, b.height));
  }
  check_runs(a);
  check_runs(b);
  Cursor left{a.counts};
  Cursor right{b.counts};
  std::uint64_t both = 0;
  while (left.settle() && right.settle()) {
    const std::uint32_t step = std::min(left.left, right.left);
    if (left.set() && right.set()) both += step;
    left.left -= step;
    right.left -= step;
  }
  return both;
}

double intersection_over_union(const Mask& a, const Mask& b) {
  const std::uint64_t both = overlap_area(a, b);
  const std::uint64_t either = a.area() + b.area() - both;
  return either == 0 ? 1.0 : static_cast<double>(both) / static_cast<double>(either);
}

}  // namespace samlet
