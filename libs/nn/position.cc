#include "libs/nn/position.h"

#include <cmath>
#include <numbers>

#include "libs/onnx/ops.h"

namespace samlet::nn {

using onnx::Builder;
using onnx::Value;

namespace {

constexpr double kTemperature = 10000.0;
constexpr double kTwoPi = 2.0 * std::numbers::pi;

std::size_t to_size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

/// 1 / 10000^(2 i / d) for i = 0 .. d/2 - 1
std::vector<double> frequencies(std::int64_t d) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < d / 2; ++i) {
    values.push_back(std::pow(kTemperature, -2.0 * static_cast<double>(i) / static_cast<double>(d)));
  }
  return values;
}

}  // namespace

LazyTensor sine_map(std::int64_t n, std::int64_t d) {
  return {{1, n * n, d}, [n, d](const LazyTensor::Sink& sink) {
            constexpr double kEpsilon = 1e-6;
            const auto axis = frequencies(d / 2);
            const auto put = [&](std::vector<float>& token, std::int64_t index) {
              const double c = static_cast<double>(index + 1) / (static_cast<double>(n) + kEpsilon) * kTwoPi;
              for (const double f : axis) {
                token.push_back(static_cast<float>(std::sin(c * f)));
                token.push_back(static_cast<float>(std::cos(c * f)));
              }
            };
            std::vector<float> token;
            for (std::int64_t t = 0; t < n * n; ++t) {
              token.clear();
              put(token, t / n);
              put(token, t % n);
              sink(token);
            }
          }};
}

Value sine_code(Builder& graph, const Value& x, std::int64_t d) {
  std::vector<float> factors;
  for (const double f : frequencies(d)) factors.push_back(static_cast<float>(kTwoPi * f));
  const auto rank = static_cast<std::int64_t>(x.rank());
  const Value factor = graph.constant(factors, {static_cast<std::int64_t>(factors.size())});
  const Value angles =
      onnx::unsqueeze(graph, onnx::mul(graph, onnx::unsqueeze(graph, x, {rank}), factor), {rank + 1});
  // [..., k, d/2, 2] with sine and cosine side by side.
  const Value pairs = onnx::concat(graph, {onnx::sine(graph, angles), onnx::cosine(graph, angles)},
                                   static_cast<int>(rank) + 1);
  onnx::Dimensions dimensions = x.dimensions;
  dimensions.emplace_back(d);
  return onnx::reshape(graph, pairs, dimensions);
}

Value fourier_code(Builder& graph, const Value& points, const Value& matrix) {
  const Value centred = onnx::sub(graph, onnx::mul(graph, points, graph.scalar(2.0F)), graph.scalar(1.0F));
  const Value angles =
      onnx::mul(graph, onnx::matmul(graph, centred, matrix), graph.scalar(static_cast<float>(kTwoPi)));
  return onnx::concat(graph, {onnx::sine(graph, angles), onnx::cosine(graph, angles)}, -1);
}

LazyTensor fourier_map(std::int64_t n, const LazyTensor& matrix) {
  const std::int64_t half = matrix.shape().at(1);
  return {{1, n * n, 2 * half}, [n, half, matrix](const LazyTensor::Sink& sink) {
            const auto g = matrix.values();
            std::vector<float> token(to_size(2 * half));
            for (std::int64_t t = 0; t < n * n; ++t) {
              const double u = 2.0 * (static_cast<double>(t % n) + 0.5) / static_cast<double>(n) - 1.0;
              const std::int64_t row = t / n;
              const double v = 2.0 * (static_cast<double>(row) + 0.5) / static_cast<double>(n) - 1.0;
              for (std::size_t j = 0; j < to_size(half); ++j) {
                const double angle =
                    (u * static_cast<double>(g[j]) + v * static_cast<double>(g[to_size(half) + j])) * kTwoPi;
                token[j] = static_cast<float>(std::sin(angle));
                token[to_size(half) + j] = static_cast<float>(std::cos(angle));
              }
              sink(token);
            }
          }};
}

RotaryTables rotary_tables(const std::vector<std::pair<double, double>>& positions, std::int64_t d) {
  const auto make = [&](bool sine) {
    const Shape shape{static_cast<std::int64_t>(positions.size()), d};
    return LazyTensor(shape, [positions, d, sine](const LazyTensor::Sink& sink) {
      const auto axis = frequencies(d / 2);  // 10000^(-4 j / d), j < d/4
      std::vector<float> row(to_size(d));
      for (const auto& [x, y] : positions) {
        const std::size_t quarter = axis.size();
        for (std::size_t j = 0; j < 2 * quarter; ++j) {
          const double angle = j < quarter ? x * axis[j] : y * axis[j - quarter];
          row[j] = static_cast<float>(sine ? -std::sin(angle) : std::cos(angle));
          row[2 * quarter + j] = static_cast<float>(sine ? std::sin(angle) : std::cos(angle));
        }
        sink(row);
      }
    });
  };
  return {make(false), make(true)};
}

std::vector<std::int64_t> rotary_order(std::int64_t d) {
  std::vector<std::int64_t> order;
  for (std::int64_t p = 0; p < d / 2; ++p) order.push_back(2 * p);
  for (std::int64_t p = 0; p < d / 2; ++p) order.push_back(2 * p + 1);
  return order;
}

Value rotate(Builder& graph, const Value& x, const Value& cosine, const Value& sine) {
  const std::int64_t half = x.size(-1) / 2;
  const Value full = onnx::cast(graph, x, DType::kFloat32);
  const auto parts = onnx::split(graph, full, -1, {half, half});
  const Value swapped = onnx::concat(graph, {parts[1], parts[0]}, -1);
  return onnx::add(graph, onnx::mul(graph, full, cosine), onnx::mul(graph, swapped, sine));
}

}  // namespace samlet::nn
