#include "libs/mask/upsample.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "libs/mask/runs.h"
#include "samlet/error.h"

namespace samlet {
namespace {

// The arithmetic is that of PyTorch's CPU kernels (ATen/native/cpu/UpSampleKernel.cpp) as its x86-64 builds
// run them on any processor since 2013: every a * b + c is one fused operation. std::fma spells that out, so
// that the same bits come from every compiler and machine.

// Numbers of a size that neither underflows to zero in two products with weights of which the larger is >=
// 1/2, nor overflows. A weighted mean of such numbers of one sign keeps the sign in floats too: each product
// keeps it, the sum of two terms of one sign keeps it, and rounding is monotone.
constexpr float kTiny = 1e-30F;
constexpr float kHuge = 1e30F;

/// True also for NaN: what is not positive never sets a pixel, and means of it never do (each term is <= 0 or
/// NaN).
bool not_positive(float value) noexcept {
  return !(value > 0);
}
bool safely_positive(float value) noexcept {
  return value >= kTiny && value <= kHuge;
}
bool tame(float value) noexcept {
  return std::fabs(value) <= kHuge;
}

/// (1 - weight) * a + weight * b, in the order of operations of PyTorch.
float mix(float weight, float a, float b) noexcept {
  return std::fma(1.0F - weight, a, weight * b);
}

/// One axis of the resize: output i lies between the inputs lower and next(lower), `weight(i)` of the way.
class Axis {
 public:
  Axis(int inputs, int outputs)
      : inputs_(inputs),
        same_(inputs == outputs),
        weight_(to_size(outputs)),
        first_(to_size(inputs) + 1, outputs) {
    const float scale = static_cast<float>(inputs) / static_cast<float>(outputs);
    int next_cell = 0;
    for (int i = 0; i < outputs; ++i) {
      const float source = same_ ? static_cast<float>(i)
                                 : std::max(0.0F, std::fma(scale, static_cast<float>(i) + 0.5F, -0.5F));
      const int lower = std::min(static_cast<int>(source), inputs - 1);
      weight_[to_size(i)] = std::clamp(source - static_cast<float>(lower), 0.0F, 1.0F);
      while (next_cell <= lower) first_[to_size(next_cell++)] = i;
    }
  }

  [[nodiscard]] int inputs() const noexcept { return inputs_; }
  /// The outputs whose lower input is `cell`: begin(cell) .. end(cell) - 1.
  [[nodiscard]] int begin(int cell) const noexcept { return first_[to_size(cell)]; }
  [[nodiscard]] int end(int cell) const noexcept { return first_[to_size(cell) + 1]; }
  [[nodiscard]] float weight(int output) const noexcept { return weight_[to_size(output)]; }
  /// The upper neighbour. Where nothing is resized PyTorch takes the input itself (it matters to infinities
  /// only).
  [[nodiscard]] int next(int cell) const noexcept { return same_ || cell + 1 == inputs_ ? cell : cell + 1; }

 private:
  static std::size_t to_size(int i) noexcept { return static_cast<std::size_t>(i); }

  int inputs_;
  bool same_;
  std::vector<float> weight_;  // [outputs]
  std::vector<int> first_;     // [inputs + 1]
};

/// What is known of a cell, the square between four logits, without evaluating a pixel of it.
enum class Kind { kClear, kSet, kMixed };

/// Cells of one kind that lie below each other; a mixed one stands alone.
struct Stretch {
  int begin;  // output rows
  int end;
  Kind kind;
  int row;  // the input row, for a mixed one
};

class Upsampler {
 public:
  Upsampler(std::span<const float> logits, int columns, const Axis& across, const Axis& down)
      : logits_(logits), columns_(static_cast<std::size_t>(columns)), across_(across), down_(down) {}

  /// Separable, as PyTorch resizes when width + height > 128.
  std::vector<std::uint32_t> by_cells() && {
    for (int column = 0; column < across_.inputs(); ++column) {
      find_stretches(column);
      for (int x = across_.begin(column); x < across_.end(column); ++x)
        append_column(column, across_.weight(x));
    }
    return std::move(runs_).finish();
  }

  /// By four products of weights, as PyTorch resizes small pictures.
  std::vector<std::uint32_t> by_pixels() && {
    for (int column = 0; column < across_.inputs(); ++column) {
      for (int x = across_.begin(column); x < across_.end(column); ++x) {
        for (int row = 0; row < down_.inputs(); ++row) {
          for (int y = down_.begin(row); y < down_.end(row); ++y) {
            runs_.append(four_products(row, column, across_.weight(x), down_.weight(y)) > 0, 1);
          }
        }
      }
    }
    return std::move(runs_).finish();
  }

 private:
  [[nodiscard]] float at(int row, int column) const noexcept {
    return logits_[static_cast<std::size_t>(row) * columns_ + static_cast<std::size_t>(column)];
  }

  /// The kind of the two logits of one row that a cell lies between.
  [[nodiscard]] Kind edge_kind(int row, int column) const noexcept {
    const float a = at(row, column);
    const float b = at(row, across_.next(column));
    if (not_positive(a) && not_positive(b)) return Kind::kClear;
    if (safely_positive(a) && safely_positive(b)) return Kind::kSet;
    return Kind::kMixed;
  }

  void find_stretches(int column) {
    stretches_.clear();
    for (int row = 0; row < down_.inputs(); ++row) {
      if (down_.begin(row) == down_.end(row)) continue;
      const Kind upper = edge_kind(row, column);
      const Kind lower = edge_kind(down_.next(row), column);
      const Kind kind = upper == lower ? upper : Kind::kMixed;
      if (kind != Kind::kMixed && !stretches_.empty() && stretches_.back().kind == kind) {
        stretches_.back().end = down_.end(row);
      } else {
        stretches_.push_back({down_.begin(row), down_.end(row), kind, row});
      }
    }
  }

  void append_column(int column, float weight) {
    const int right = across_.next(column);
    for (const Stretch& s : stretches_) {
      if (s.kind == Kind::kMixed) {
        const int below = down_.next(s.row);
        append_mixed(s, mix(weight, at(s.row, column), at(s.row, right)),
                     mix(weight, at(below, column), at(below, right)));
      } else {
        append(s.kind == Kind::kSet, s.begin, s.end);
      }
    }
  }

  /// The pixels of one column within one cell, between the values `upper` and `lower`.
  void append_mixed(const Stretch& s, float upper, float lower) {
    if (not_positive(upper) && not_positive(lower)) {
      append(false, s.begin, s.end);
    } else if (safely_positive(upper) && safely_positive(lower)) {
      append(true, s.begin, s.end);
    } else if (tame(upper) && tame(lower) && not_positive(upper) != not_positive(lower)) {
      append_crossing(s, upper, lower);
    } else {
      for (int y = s.begin; y < s.end; ++y) append(mix(down_.weight(y), upper, lower) > 0, y, y + 1);
    }
  }

  /// From a positive to a non-positive value the rounded mean only falls: 1 - w and w are monotone in y, and
  /// so are products with a number of fixed sign, sums, and rounding. Hence there is one crossing, found by
  /// halving.
  void append_crossing(const Stretch& s, float upper, float lower) {
    const bool starts_set = upper > 0;
    int low = s.begin;
    int high = s.end;
    while (low < high) {
      const int middle = low + (high - low) / 2;
      const bool set = mix(down_.weight(middle), upper, lower) > 0;
      (set == starts_set ? low : high) = set == starts_set ? middle + 1 : middle;
    }
    append(starts_set, s.begin, low);
    append(!starts_set, low, s.end);
  }

  [[nodiscard]] float four_products(int row, int column, float wx, float wy) const noexcept {
    const int right = across_.next(column);
    const int below = down_.next(row);
    const float left_part = 1.0F - wx;
    const float upper_part = 1.0F - wy;
    float sum = (upper_part * wx) * at(row, right);
    sum = std::fma(upper_part * left_part, at(row, column), sum);
    sum = std::fma(wy * left_part, at(below, column), sum);
    return std::fma(wy * wx, at(below, right), sum);
  }

  void append(bool set, int begin, int end) { runs_.append(set, static_cast<std::uint64_t>(end - begin)); }

  std::span<const float> logits_;  // [rows, columns]
  std::size_t columns_;
  const Axis& across_;
  const Axis& down_;
  std::vector<Stretch> stretches_;
  RunBuilder runs_;
};

void check_sizes(std::size_t logits, int rows, int columns, int width, int height) {
  if (rows <= 0 || columns <= 0 || width <= 0 || height <= 0) {
    throw Error(ErrorCode::kInternal,
                fmt::format("mask logits of {} x {} cannot become a mask of {} x {} pixels: a side "
                            "is not positive; please report this",
                            columns, rows, width, height));
  }
  if (logits != static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {
    throw Error(ErrorCode::kInternal,
                fmt::format("{} mask logits do not fill {} x {}; please report this", logits, columns, rows));
  }
  const std::uint64_t pixels = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  if (pixels > std::numeric_limits<std::uint32_t>::max()) {
    throw Error(ErrorCode::kImageTooLarge,
                fmt::format("a picture of {} x {} pixels has more than a mask can count "
                            "(2^32 - 1); make it smaller or cut it into parts",
                            width, height));
  }
}

}  // namespace

Mask upsample_logits(std::span<const float> logits, int rows, int columns, int width, int height) {
  check_sizes(logits.size(), rows, columns, width, height);
  // PyTorch's threshold for its other kernel (_use_vectorized_kernel_cond_2d).
  constexpr std::int64_t kSmallSides = 128;
  const bool small = std::int64_t{width} + height <= kSmallSides;
  const Axis across(columns, width);
  const Axis down(rows, height);
  Upsampler upsampler(logits, columns, across, down);
  return Mask{width, height, small ? std::move(upsampler).by_pixels() : std::move(upsampler).by_cells()};
}

void probabilities_to_logits(std::span<float> values) noexcept {
  constexpr double kLimit = 16;
  for (float& value : values) {
    // Outside of 0..1 the logarithm has no value; such numbers are rounding of the ends. At the ends it is
    // infinite and clamped like the rest. NaN stays NaN.
    const auto p = std::clamp(static_cast<double>(value), 0.0, 1.0);
    value = static_cast<float>(std::clamp(std::log(p / (1 - p)), -kLimit, kLimit));
  }
}

}  // namespace samlet
