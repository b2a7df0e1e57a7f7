#include "libs/nn/transform.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet::nn {
namespace {

/// The same numbers on every machine: mt19937 is defined by the standard, its distributions are not.
std::vector<float> noise(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(engine() % 2000) / 1000.0F - 1.0F;
  return values;
}

LazyTensor random(Shape shape, unsigned seed) {
  const std::size_t count = *element_count(shape);
  return LazyTensor::of(std::move(shape), noise(count, seed));
}

/// x [C, h, w], in double.
struct Map {
  std::size_t channels;
  std::size_t side;
  std::vector<double> values;

  Map(std::size_t c, std::size_t s) : channels(c), side(s), values(c * s * s) {}
  double& at(std::size_t c, std::size_t y, std::size_t x) { return values[(c * side + y) * side + x]; }
  /// Zero outside.
  [[nodiscard]] double padded(std::size_t c, std::ptrdiff_t y, std::ptrdiff_t x) const {
    const auto s = static_cast<std::ptrdiff_t>(side);
    if (y < 0 || x < 0 || y >= s || x >= s) return 0;
    return values[(c * side + static_cast<std::size_t>(y)) * side + static_cast<std::size_t>(x)];
  }
};

Map random_map(std::size_t channels, std::size_t side) {
  Map map(channels, side);
  const auto values = noise(map.values.size(), 7);
  std::ranges::copy(values, map.values.begin());
  return map;
}

/// weight [O, I, k, k], padding (k - 1) / 2, by definition.
Map convolve(const Map& in, const LazyTensor& weight, const std::vector<float>& bias) {
  const auto outs = static_cast<std::size_t>(weight.shape()[0]);
  const auto kernel = static_cast<std::size_t>(weight.shape()[2]);
  const auto w = weight.values();
  Map out(outs, in.side);
  for (std::size_t o = 0; o < outs; ++o) {
    for (std::size_t i = 0; i < in.side * in.side; ++i) {
      double sum = bias.empty() ? 0 : static_cast<double>(bias[o]);
      for (std::size_t t = 0; t < in.channels * kernel * kernel; ++t) {
        const std::size_t c = t / (kernel * kernel);
        const auto dy =
            static_cast<std::ptrdiff_t>(t / kernel % kernel) - static_cast<std::ptrdiff_t>(kernel / 2);
        const auto dx = static_cast<std::ptrdiff_t>(t % kernel) - static_cast<std::ptrdiff_t>(kernel / 2);
        sum += static_cast<double>(w[o * in.channels * kernel * kernel + t]) *
               in.padded(c, static_cast<std::ptrdiff_t>(i / in.side) + dy,
                         static_cast<std::ptrdiff_t>(i % in.side) + dx);
      }
      out.at(o, i / in.side, i % in.side) = sum;
    }
  }
  return out;
}

/// weight [I, O, k, k], stride 2, padding (k - 2) / 2, by definition: every input pixel paints its kernel.
Map convolve_transposed(const Map& in, const LazyTensor& weight, const std::vector<float>& bias) {
  const auto outs = static_cast<std::size_t>(weight.shape()[1]);
  const auto kernel = static_cast<std::size_t>(weight.shape()[2]);
  const auto w = weight.values();
  Map out(outs, 2 * in.side);
  for (std::size_t o = 0; o < outs; ++o) {
    for (std::size_t i = 0; i < out.side * out.side; ++i)
      out.values[o * out.side * out.side + i] = bias.empty() ? 0 : static_cast<double>(bias[o]);
    for (std::size_t c = 0; c < in.channels; ++c) {
      for (std::size_t i = 0; i < in.side * in.side * kernel * kernel; ++i) {
        const std::size_t y = i / (in.side * kernel * kernel);
        const std::size_t x = i / (kernel * kernel) % in.side;
        const std::size_t ky = i / kernel % kernel;
        const std::size_t kx = i % kernel;
        const std::size_t oy =
            2 * y + ky - (kernel - 2) / 2;  // wraps below zero, which the next line catches
        const std::size_t ox = 2 * x + kx - (kernel - 2) / 2;
        if (oy >= out.side || ox >= out.side) continue;
        out.at(o, oy, ox) += static_cast<double>(w[((c * outs + o) * kernel + ky) * kernel + kx]) *
                             in.padded(c, static_cast<std::ptrdiff_t>(y), static_cast<std::ptrdiff_t>(x));
      }
    }
  }
  return out;
}

Map doubled(const Map& in) {
  Map out(in.channels, 2 * in.side);
  for (std::size_t c = 0; c < in.channels; ++c) {
    for (std::size_t i = 0; i < out.side * out.side; ++i) {
      const std::size_t y = i / out.side;
      const std::size_t x = i % out.side;
      out.at(c, y, x) = in.values[(c * in.side + y / 2) * in.side + x / 2];
    }
  }
  return out;
}

/// Weights are rounded to float once, so maps agree to a few parts in ten million.
void expect_same(const Map& a, const Map& b) {
  ASSERT_EQ(a.values.size(), b.values.size());
  double largest = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i)
    largest = std::max(largest, std::fabs(a.values[i] - b.values[i]));
  EXPECT_LT(largest, 2e-6);
}

TEST(Transform, TransposedInTilesAndRest) {
  const LazyTensor w = random({70, 35}, 1);
  const auto from = w.values();
  const auto to = transposed(w).values();
  for (std::size_t i = 0; i < from.size(); ++i) ASSERT_EQ(to[i % 35 * 70 + i / 35], from[i]);
  EXPECT_EQ(transposed(w).shape(), (Shape{35, 70}));
}

TEST(Transform, RowsOfPiecesOfAnySize) {
  const LazyTensor w({4, 3}, [](const LazyTensor::Sink& sink) {
    const std::vector<float> all{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
    const std::span<const float> view(all);
    sink(view.first(5));
    sink(view.subspan(5, 2));
    sink(view.subspan(7));
  });
  EXPECT_EQ(rows(w, 1, 2).values(), (std::vector<float>{3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(rows(w, 0, 4).values().size(), 12U);
  EXPECT_EQ(rows(w, 3, 1).values(), (std::vector<float>{9, 10, 11}));
  EXPECT_TRUE(rows(w, 2, 0).values().empty());
  EXPECT_THROW((void)rows(w, 3, 2), Error);
  EXPECT_EQ(reordered_rows(w, {2, 0}).values(), (std::vector<float>{6, 7, 8, 0, 1, 2}));
  EXPECT_EQ(stacked(rows(w, 3, 1), rows(w, 0, 1)).values(), (std::vector<float>{9, 10, 11, 0, 1, 2}));
}

TEST(Transform, ArithmeticIsElementwise) {
  const LazyTensor a = LazyTensor::of({2}, {1, -2});
  EXPECT_EQ(scaled(a, 0.5).values(), (std::vector<float>{0.5F, -1}));
  EXPECT_EQ(sum(a, a).values(), (std::vector<float>{2, -4}));
  EXPECT_THROW((void)sum(a, LazyTensor::of({3}, {1, 2, 3})), Error);
  EXPECT_THROW((void)reshaped(a, {3}), Error);
}

TEST(Rewrite, PointwiseBehindAConvolutionIsOneConvolution) {
  const Affine first{random({6, 5, 3, 3}, 1), random({6}, 2)};
  const Affine second{random({4, 6, 1, 1}, 3), random({4}, 4)};
  const Map x = random_map(5, 7);
  const Affine both = composed(second, first);
  const Map two_steps =
      convolve(convolve(x, first.weight, first.bias.values()), second.weight, second.bias.values());
  expect_same(convolve(x, both.weight, both.bias.values()), two_steps);
}

TEST(Rewrite, PointwiseBehindATransposedConvolutionIsOneTransposedConvolution) {
  const Affine first{random({5, 6, 2, 2}, 1), random({6}, 2)};
  const Affine second{random({4, 6, 1, 1}, 3), random({4}, 4)};
  const Map x = random_map(5, 7);
  const Affine both = composed_transposed(second, first);
  const Map two_steps = convolve(convolve_transposed(x, first.weight, first.bias.values()), second.weight,
                                 second.bias.values());
  expect_same(convolve_transposed(x, both.weight, both.bias.values()), two_steps);
}

TEST(Rewrite, ConvolutionOfADoubledMapIsATransposedOneAlsoAtTheBorders) {
  const LazyTensor weight = random({4, 5, 3, 3}, 1);
  for (const std::size_t side : {1U, 2U, 7U}) {
    const Map x = random_map(5, side);
    expect_same(convolve_transposed(x, doubled_then_convolved(weight), {}), convolve(doubled(x), weight, {}));
  }
}

}  // namespace
}  // namespace samlet::nn
