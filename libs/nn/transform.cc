#include "libs/nn/transform.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "samlet/error.h"

namespace samlet::nn {
namespace {

std::size_t to_size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

/// Elements of one row.
std::size_t row_length(const LazyTensor& tensor) {
  const Shape& shape = tensor.shape();
  return shape.empty() || shape[0] == 0 ? 0 : tensor.count() / to_size(shape[0]);
}

[[noreturn]] void misfit(std::string_view what, const LazyTensor& a, const LazyTensor& b) {
  throw Error(ErrorCode::kInternal, fmt::format("{}: weights {} and {} do not fit", what,
                                                to_string(a.shape()), to_string(b.shape())));
}

/// A tensor that is made in one piece.
template <typename Make>
LazyTensor made(Shape shape, const Make& make) {
  return {std::move(shape), [make](const LazyTensor::Sink& sink) { sink(make()); }};
}

/// [m, k] x [k, n], summed over k in order, in double.
std::vector<float> product(std::span<const float> a, std::span<const float> b, std::size_t m, std::size_t k,
                           std::size_t n) {
  std::vector<float> out(m * n);
  std::vector<double> row(n);
  for (std::size_t i = 0; i < m; ++i) {
    std::fill(row.begin(), row.end(), 0.0);
    for (std::size_t j = 0; j < k; ++j) {
      const auto factor = static_cast<double>(a[i * k + j]);
      const auto values = b.subspan(j * n, n);
      for (std::size_t c = 0; c < n; ++c) row[c] += factor * static_cast<double>(values[c]);
    }
    std::transform(row.begin(), row.end(), out.begin() + static_cast<std::ptrdiff_t>(i * n),
                   [](double value) { return static_cast<float>(value); });
  }
  return out;
}

/// W2 b1 + b2, in double. W2 is [out, mid].
LazyTensor composed_bias(const Affine& second, const Affine& first) {
  return made(second.bias.shape(), [second, first] {
    const auto weight = second.weight.values();
    const auto inner = first.bias.values();
    auto bias = second.bias.values();
    for (std::size_t o = 0; o < bias.size(); ++o) {
      auto value = static_cast<double>(bias[o]);
      for (std::size_t m = 0; m < inner.size(); ++m)
        value += static_cast<double>(weight[o * inner.size() + m]) * static_cast<double>(inner[m]);
      bias[o] = static_cast<float>(value);
    }
    return bias;
  });
}

}  // namespace

LazyTensor transposed(const LazyTensor& tensor) {
  if (tensor.shape().size() != 2) misfit("transposed", tensor, tensor);
  const std::size_t rows = to_size(tensor.shape()[0]);
  const std::size_t columns = to_size(tensor.shape()[1]);
  return made({tensor.shape()[1], tensor.shape()[0]}, [tensor, rows, columns] {
    const auto from = tensor.values();
    std::vector<float> to(from.size());
    constexpr std::size_t kTile = 32;  // both sides of a tile stay in the first cache
    for (std::size_t r = 0; r < rows; r += kTile) {
      for (std::size_t c = 0; c < columns; c += kTile) {
        for (std::size_t i = r; i < std::min(rows, r + kTile); ++i) {
          for (std::size_t j = c; j < std::min(columns, c + kTile); ++j)
            to[j * rows + i] = from[i * columns + j];
        }
      }
    }
    return to;
  });
}

LazyTensor reshaped(const LazyTensor& tensor, Shape shape) {
  if (element_count(shape) != tensor.count()) {
    throw Error(ErrorCode::kInternal,
                fmt::format("reshaped: {} as {}", to_string(tensor.shape()), to_string(shape)));
  }
  return {std::move(shape), [tensor](const LazyTensor::Sink& sink) { tensor.stream(sink); }};
}

LazyTensor rows(const LazyTensor& tensor, std::int64_t begin, std::int64_t count) {
  Shape shape = tensor.shape();
  if (shape.empty() || begin < 0 || count < 0 || begin + count > shape[0]) misfit("rows", tensor, tensor);
  shape[0] = count;
  const std::size_t first = to_size(begin) * row_length(tensor);
  const std::size_t last = first + to_size(count) * row_length(tensor);
  return {std::move(shape), [tensor, first, last](const LazyTensor::Sink& sink) {
            std::size_t position = 0;
            tensor.stream([&](std::span<const float> piece) {
              const std::size_t from = std::clamp(first, position, position + piece.size());
              const std::size_t to = std::clamp(last, position, position + piece.size());
              if (to > from) sink(piece.subspan(from - position, to - from));
              position += piece.size();
            });
          }};
}

LazyTensor reordered_rows(const LazyTensor& tensor, std::vector<std::int64_t> order) {
  Shape shape = tensor.shape();
  const std::size_t length = row_length(tensor);
  shape.at(0) = static_cast<std::int64_t>(order.size());
  return made(std::move(shape), [tensor, length, order = std::move(order)] {
    const auto from = tensor.values();
    std::vector<float> to;
    to.reserve(order.size() * length);
    for (const std::int64_t row : order) {
      const auto at = from.begin() + static_cast<std::ptrdiff_t>(to_size(row) * length);
      to.insert(to.end(), at, at + static_cast<std::ptrdiff_t>(length));
    }
    return to;
  });
}

LazyTensor stacked(const LazyTensor& above, const LazyTensor& below) {
  Shape shape = above.shape();
  if (shape.size() != below.shape().size() || row_length(above) != row_length(below))
    misfit("stacked", above, below);
  shape[0] += below.shape()[0];
  return {std::move(shape), [above, below](const LazyTensor::Sink& sink) {
            above.stream(sink);
            below.stream(sink);
          }};
}

LazyTensor scaled(const LazyTensor& tensor, double factor) {
  return made(tensor.shape(), [tensor, factor] {
    auto values = tensor.values();
    for (float& value : values) value = static_cast<float>(static_cast<double>(value) * factor);
    return values;
  });
}

LazyTensor sum(const LazyTensor& a, const LazyTensor& b) {
  if (a.count() != b.count()) misfit("sum", a, b);
  return made(a.shape(), [a, b] {
    auto values = a.values();
    const auto others = b.values();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += others[i];
    return values;
  });
}

Affine composed(const Affine& second, const Affine& first) {
  const std::int64_t mid = first.weight.shape().at(0);
  Shape shape = first.weight.shape();
  shape[0] = second.weight.shape().at(0);
  if (second.weight.count() != to_size(shape[0] * mid)) misfit("composed", second.weight, first.weight);
  const LazyTensor weight = made(shape, [second, first, mid] {
    return product(second.weight.values(), first.weight.values(), to_size(second.weight.shape()[0]),
                   to_size(mid), row_length(first.weight));
  });
  return {weight, composed_bias(second, first)};
}

Affine composed_transposed(const Affine& second, const Affine& first) {
  const Shape& inner = first.weight.shape();  // [in, mid, k, k]
  const std::int64_t out = second.weight.shape().at(0);
  if (inner.size() != 4 || second.weight.count() != to_size(out * inner[1])) {
    misfit("composed_transposed", second.weight, first.weight);
  }
  const LazyTensor weight = made({inner[0], out, inner[2], inner[3]}, [second, first, inner, out] {
    // For each input channel: [k*k, mid] x [mid, out], whose rows are long enough for vectors.
    const auto outer_weight = transposed(reshaped(second.weight, {out, inner[1]})).values();
    const std::size_t outs = to_size(out);
    const std::size_t mid = to_size(inner[1]);
    const std::int64_t taps = inner[2] * inner[3];
    std::vector<float> all;
    all.reserve(to_size(inner[0] * out * taps));
    const LazyTensor in_memory = LazyTensor::of(inner, first.weight.values());
    for (std::int64_t i = 0; i < inner[0]; ++i) {
      const auto below = transposed(reshaped(rows(in_memory, i, 1), {inner[1], taps})).values();
      const auto part = product(below, outer_weight, to_size(taps), mid, outs);
      const auto turned = transposed(LazyTensor::of({taps, out}, part)).values();
      all.insert(all.end(), turned.begin(), turned.end());
    }
    return all;
  });
  return {weight, composed_bias(second, first)};
}

LazyTensor doubled_then_convolved(const LazyTensor& weight) {
  const Shape& shape = weight.shape();  // [out, in, 3, 3]
  if (shape.size() != 4 || shape[2] != 3 || shape[3] != 3) misfit("doubled_then_convolved", weight, weight);
  return made({shape[1], shape[0], 4, 4}, [weight, shape] {
    // Row t of the table: how the three taps add up to tap t of the transposed kernel.
    constexpr double kTaps[4][3] = {{0, 0, 1}, {0, 1, 1}, {1, 1, 0}, {1, 0, 0}};
    const auto from = weight.values();
    const std::size_t outs = to_size(shape[0]);
    const std::size_t ins = to_size(shape[1]);
    std::vector<float> to(ins * outs * 16);
    for (std::size_t o = 0; o < outs; ++o) {
      for (std::size_t i = 0; i < ins; ++i) {
        const float* kernel = &from[(o * ins + i) * 9];
        float* target = &to[(i * outs + o) * 16];
        for (std::size_t t = 0; t < 16; ++t) {
          double value = 0;
          for (std::size_t k = 0; k < 9; ++k)
            value += kTaps[t / 4][k / 3] * kTaps[t % 4][k % 3] * static_cast<double>(kernel[k]);
          target[t] = static_cast<float>(value);
        }
      }
    }
    return to;
  });
}

}  // namespace samlet::nn
