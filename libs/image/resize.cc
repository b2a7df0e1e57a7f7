#include "libs/image/resize.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

#include <fmt/format.h>

#include "samlet/error.h"

namespace samlet {
namespace {

// Pillow Resample.c keeps 32 - 8 - 2 bits for the fraction: 8 for the value, 2 for sums outside of 0..255.
constexpr int kFractionBits = 22;
constexpr std::int32_t kHalf = 1 << (kFractionBits - 1);
constexpr std::size_t kChannels = 3;

/// The weights of one axis: output i is the sum of `weights[i * taps + j] * input[first[i] + j]`, j <
/// count[i].
struct Filter {
  std::size_t taps = 0;
  std::vector<std::size_t> first;     // [out]
  std::vector<std::size_t> count;     // [out]
  std::vector<std::int32_t> weights;  // [out, taps], fixed point

  [[nodiscard]] std::span<const std::int32_t> row(std::size_t i) const {
    return std::span(weights).subspan(i * taps, count[i]);
  }
};

double triangle(double x) {
  const double distance = std::abs(x);
  return distance < 1.0 ? 1.0 - distance : 0.0;
}

/// Pillow Resample.c, precompute_coeffs and normalize_coeffs_8bpc, for the box that is the whole picture. The
/// order of the floating point operations decides the last bit, so it is Pillow's.
Filter make_filter(int in_size, int out_size) {
  // Pillow passes the box as floats.
  const double scale = static_cast<double>(static_cast<float>(in_size)) / out_size;
  const double filter_scale = std::max(scale, 1.0);
  const double support = filter_scale;
  const double inverse = 1.0 / filter_scale;
  Filter filter;
  filter.taps = static_cast<std::size_t>(std::ceil(support)) * 2 + 1;
  const auto outputs = static_cast<std::size_t>(out_size);
  filter.first.resize(outputs);
  filter.count.resize(outputs);
  filter.weights.resize(outputs * filter.taps);
  std::vector<double> exact(filter.taps);
  // NOLINTBEGIN(bugprone-incorrect-roundings): casting x + 0.5 is Pillow's rounding, and its last bit
  // matters.
  for (std::size_t i = 0; i < outputs; ++i) {
    const double center = (static_cast<double>(i) + 0.5) * scale;
    const int low = std::max(static_cast<int>(center - support + 0.5), 0);
    const int high = std::min(static_cast<int>(center + support + 0.5), in_size);
    const auto count = static_cast<std::size_t>(high - low);
    double sum = 0.0;
    for (std::size_t j = 0; j < count; ++j) {
      exact[j] = triangle((static_cast<double>(j) + low - center + 0.5) * inverse);
      sum += exact[j];
    }
    for (std::size_t j = 0; j < count; ++j) {
      const double weight = sum != 0.0 ? exact[j] / sum : exact[j];
      filter.weights[i * filter.taps + j] = static_cast<std::int32_t>(0.5 + weight * (1 << kFractionBits));
    }
    filter.first[i] = static_cast<std::size_t>(low);
    filter.count[i] = count;
  }
  // NOLINTEND(bugprone-incorrect-roundings)
  return filter;
}

// The weights are positive and their sum is at most twice 1.0 (rounding at worst doubles a weight), so that a
// sum of weighted bytes stays below 2^31 and above 0: only the upper clip of Pillow can happen.
std::uint8_t to_byte(std::int32_t sum) {
  return static_cast<std::uint8_t>(std::min(sum >> kFractionBits, std::int32_t{255}));
}

/// in: [in_width, 3], out: [out_width, 3].
void shrink_row(const std::uint8_t* in, const Filter& filter, std::uint8_t* out) {
  for (std::size_t i = 0; i < filter.first.size(); ++i) {
    const std::uint8_t* pixel = in + filter.first[i] * kChannels;
    const std::int32_t* weight = filter.weights.data() + i * filter.taps;
    const std::size_t count = filter.count[i];
    std::int32_t r = kHalf;
    std::int32_t g = kHalf;
    std::int32_t b = kHalf;
    for (std::size_t j = 0; j < count; ++j, pixel += kChannels) {
      r += pixel[0] * weight[j];
      g += pixel[1] * weight[j];
      b += pixel[2] * weight[j];
    }
    out[i * kChannels] = to_byte(r);
    out[i * kChannels + 1] = to_byte(g);
    out[i * kChannels + 2] = to_byte(b);
  }
}

void add_weighted(const std::uint8_t* row, std::int32_t weight, std::span<std::int32_t> sums) {
  for (std::size_t x = 0; x < sums.size(); ++x) sums[x] += row[x] * weight;
}

std::size_t row_bytes(int width) {
  return kChannels * static_cast<std::size_t>(width);
}

/// The last rows of the horizontally resized picture: a ring that holds as many as one output row needs. The
/// rows are asked for in rising order, each is made once, and the whole intermediate picture never exists.
class RowRing {
 public:
  RowRing(const Image& source, const Filter& horizontal, std::size_t rows)
      : source_(source),
        horizontal_(horizontal),
        rows_(rows),
        bytes_(kChannels * horizontal.first.size()),
        ring_(rows * bytes_) {}

  const std::uint8_t* row(std::size_t y) {
    for (; next_ <= y; ++next_) {
      shrink_row(source_.rgb.data() + next_ * row_bytes(source_.width), horizontal_,
                 ring_.data() + (next_ % rows_) * bytes_);
    }
    return ring_.data() + (y % rows_) * bytes_;
  }

 private:
  const Image& source_;
  const Filter& horizontal_;
  std::size_t rows_;
  std::size_t bytes_;
  std::size_t next_ = 0;
  std::vector<std::uint8_t> ring_;  // [rows, out_width, 3]
};

void horizontal_only(const Image& source, const Filter& horizontal, Image& out) {
  for (std::size_t y = 0; y < static_cast<std::size_t>(out.height); ++y) {
    shrink_row(source.rgb.data() + y * row_bytes(source.width), horizontal,
               out.rgb.data() + y * row_bytes(out.width));
  }
}

void horizontal_then_vertical(const Image& source, const Filter& horizontal, const Filter& vertical,
                              Image& out) {
  RowRing rows(source, horizontal, vertical.taps);
  std::vector<std::int32_t> sums(row_bytes(out.width));
  for (std::size_t y = 0; y < vertical.first.size(); ++y) {
    std::fill(sums.begin(), sums.end(), kHalf);
    const auto weights = vertical.row(y);
    for (std::size_t j = 0; j < weights.size(); ++j) {
      add_weighted(rows.row(vertical.first[y] + j), weights[j], sums);
    }
    std::transform(sums.begin(), sums.end(), out.rgb.data() + y * sums.size(), to_byte);
  }
}

/// `horizontal` may be null: then the width does not change.
void vertical_then_horizontal(const Image& source, const Filter* horizontal, const Filter& vertical,
                              Image& out) {
  std::vector<std::int32_t> sums(row_bytes(source.width));
  std::vector<std::uint8_t> row(horizontal != nullptr ? sums.size() : 0);
  for (std::size_t y = 0; y < vertical.first.size(); ++y) {
    std::fill(sums.begin(), sums.end(), kHalf);
    const auto weights = vertical.row(y);
    for (std::size_t j = 0; j < weights.size(); ++j) {
      add_weighted(source.rgb.data() + (vertical.first[y] + j) * sums.size(), weights[j], sums);
    }
    std::uint8_t* target = out.rgb.data() + y * row_bytes(out.width);
    std::transform(sums.begin(), sums.end(), horizontal != nullptr ? row.data() : target, to_byte);
    if (horizontal != nullptr) shrink_row(row.data(), *horizontal, target);
  }
}

/// Pillow 13.0.0 turns the order of the passes when the height shrinks by more than twice what the width does
/// (in pixels); Pillow 12 never did. As each pass rounds to bytes, the order can be seen in the last bit.
bool is_vertical_first(const Image& source, int width, int height) {
  const std::int64_t rows_less = std::int64_t{source.height} - height;
  const std::int64_t columns_less = std::int64_t{source.width} - width;
  return rows_less > 0 && rows_less > 2 * columns_less;
}

void check_arguments(const Image& source, int width, int height) {
  if (width <= 0 || height <= 0) {
    throw Error(ErrorCode::kInternal,
                fmt::format("cannot resize a picture to {}x{}; sides start at 1", width, height));
  }
  if (source.width <= 0 || source.height <= 0 ||
      source.rgb.size() !=
          kChannels * static_cast<std::size_t>(source.width) * static_cast<std::size_t>(source.height)) {
    throw Error(ErrorCode::kInternal,
                fmt::format("a picture of {}x{} with {} bytes is not RGB; please report this", source.width,
                            source.height, source.rgb.size()));
  }
}

}  // namespace

Image resize_bilinear(const Image& source, int width, int height) {
  check_arguments(source, width, height);
  Image out{width, height, {}};
  if (width == source.width && height == source.height) {
    out.rgb = source.rgb;
    return out;
  }
  out.rgb.resize(row_bytes(width) * static_cast<std::size_t>(height));
  if (width == source.width) {
    vertical_then_horizontal(source, nullptr, make_filter(source.height, height), out);
    return out;
  }
  const Filter horizontal = make_filter(source.width, width);
  if (height == source.height) {
    horizontal_only(source, horizontal, out);
    return out;
  }
  const Filter vertical = make_filter(source.height, height);
  if (is_vertical_first(source, width, height)) {
    vertical_then_horizontal(source, &horizontal, vertical, out);
  } else {
    horizontal_then_vertical(source, horizontal, vertical, out);
  }
  return out;
}

std::vector<std::uint8_t> to_planes(const Image& image) {
  check_arguments(image, image.width, image.height);
  const std::size_t pixels = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  std::vector<std::uint8_t> planes(kChannels * pixels);
  std::uint8_t* red = planes.data();
  std::uint8_t* green = red + pixels;
  std::uint8_t* blue = green + pixels;
  for (std::size_t i = 0; i < pixels; ++i) {
    red[i] = image.rgb[i * kChannels];
    green[i] = image.rgb[i * kChannels + 1];
    blue[i] = image.rgb[i * kChannels + 2];
  }
  return planes;
}

}  // namespace samlet
