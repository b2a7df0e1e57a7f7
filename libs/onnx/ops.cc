#include "libs/onnx/ops.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "samlet/error.h"

namespace samlet::onnx {
namespace {

[[noreturn]] void misfit(std::string_view op, const Value& a, const Value& b) {
  throw Error(ErrorCode::kInternal, fmt::format("{}: '{}' {} and '{}' {} do not fit", op, a.name,
                                                to_string(a.dimensions), b.name, to_string(b.dimensions)));
}

bool is_one(const Dimension& d) {
  return d.is_fixed() && d.size() == 1;
}

/// NumPy's rule; symbols are equal when their names are.
Dimensions broadcast(std::string_view op, const Value& a, const Value& b, std::size_t spare_axes = 0) {
  const std::size_t rank_a = a.rank() - spare_axes;
  const std::size_t rank_b = b.rank() - spare_axes;
  const std::size_t rank = std::max(rank_a, rank_b);
  Dimensions result;
  for (std::size_t i = 0; i < rank; ++i) {
    const Dimension one(1);
    const Dimension& da = i + rank_a >= rank ? a.dimensions[i + rank_a - rank] : one;
    const Dimension& db = i + rank_b >= rank ? b.dimensions[i + rank_b - rank] : one;
    if (!(da == db) && !is_one(da) && !is_one(db)) misfit(op, a, b);
    result.push_back(is_one(da) ? db : da);
  }
  return result;
}

Value binary(Builder& g, std::string_view op, const Value& a, const Value& b) {
  if (a.dtype != b.dtype) misfit(op, a, b);
  Dimensions dimensions = broadcast(op, a, b);
  g.count_flops(count_at_one(dimensions));
  return g.node(op, {a, b}, {}, {a.dtype, std::move(dimensions)});
}

Value compare(Builder& g, std::string_view op, const Value& a, const Value& b) {
  if (a.dtype != b.dtype) misfit(op, a, b);
  return g.node(op, {a, b}, {}, {DType::kBool, broadcast(op, a, b)});
}

Value unary(Builder& g, std::string_view op, const Value& x) {
  g.count_flops(count_at_one(x.dimensions));
  return g.node(op, {x}, {}, {x.dtype, x.dimensions});
}

Value reduce(Builder& g, std::string_view op, const Value& x, const std::vector<std::int64_t>& axes,
             bool keep, bool axes_are_input) {
  Dimensions dimensions;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const bool reduced = std::any_of(
        axes.begin(), axes.end(), [&](std::int64_t axis) { return x.index_of(static_cast<int>(axis)) == i; });
    if (!reduced) dimensions.push_back(x.dimensions[i]);
    if (reduced && keep) dimensions.emplace_back(1);
  }
  g.count_flops(count_at_one(x.dimensions));
  const Attribute keep_dims{"keepdims", std::int64_t{keep ? 1 : 0}};
  if (axes_are_input) return g.node(op, {x, g.indices(axes)}, {keep_dims}, {x.dtype, dimensions});
  return g.node(op, {x}, {{"axes", axes}, keep_dims}, {x.dtype, dimensions});
}

}  // namespace

Value add(Builder& g, const Value& a, const Value& b) {
  return binary(g, "Add", a, b);
}
Value sub(Builder& g, const Value& a, const Value& b) {
  return binary(g, "Sub", a, b);
}
Value mul(Builder& g, const Value& a, const Value& b) {
  return binary(g, "Mul", a, b);
}
Value div(Builder& g, const Value& a, const Value& b) {
  return binary(g, "Div", a, b);
}
Value minimum(Builder& g, const Value& a, const Value& b) {
  return binary(g, "Min", a, b);
}
Value maximum(Builder& g, const Value& a, const Value& b) {
  return binary(g, "Max", a, b);
}
Value equal(Builder& g, const Value& a, const Value& b) {
  return compare(g, "Equal", a, b);
}
Value less(Builder& g, const Value& a, const Value& b) {
  return compare(g, "Less", a, b);
}
Value less_or_equal(Builder& g, const Value& a, const Value& b) {
  return compare(g, "LessOrEqual", a, b);
}
Value greater(Builder& g, const Value& a, const Value& b) {
  return compare(g, "Greater", a, b);
}
Value logical_and(Builder& g, const Value& a, const Value& b) {
  return compare(g, "And", a, b);
}

Value where(Builder& g, const Value& condition, const Value& a, const Value& b) {
  if (a.dtype != b.dtype || condition.dtype != DType::kBool) misfit("Where", a, b);
  const Value both{"", a.dtype, broadcast("Where", a, b)};
  return g.node("Where", {condition, a, b}, {}, {a.dtype, broadcast("Where", condition, both)});
}

Value negate(Builder& g, const Value& x) {
  return unary(g, "Neg", x);
}
Value absolute(Builder& g, const Value& x) {
  return unary(g, "Abs", x);
}
Value sign(Builder& g, const Value& x) {
  return unary(g, "Sign", x);
}
Value sine(Builder& g, const Value& x) {
  return unary(g, "Sin", x);
}
Value cosine(Builder& g, const Value& x) {
  return unary(g, "Cos", x);
}
Value logarithm(Builder& g, const Value& x) {
  return unary(g, "Log", x);
}
Value square_root(Builder& g, const Value& x) {
  return unary(g, "Sqrt", x);
}
Value round_up(Builder& g, const Value& x) {
  return unary(g, "Ceil", x);
}
Value sigmoid(Builder& g, const Value& x) {
  return unary(g, "Sigmoid", x);
}
Value relu(Builder& g, const Value& x) {
  return unary(g, "Relu", x);
}
Value gelu(Builder& g, const Value& x) {
  return unary(g, "Gelu", x);
}
Value logical_not(Builder& g, const Value& x) {
  return unary(g, "Not", x);
}

Value clip(Builder& g, const Value& x, float low, float high) {
  return g.node("Clip", {x, g.scalar(low), g.scalar(high)}, {}, {x.dtype, x.dimensions});
}

Value softmax(Builder& g, const Value& x, int axis) {
  g.count_flops(3 * count_at_one(x.dimensions));
  return g.node("Softmax", {x}, {{"axis", std::int64_t{axis}}}, {x.dtype, x.dimensions});
}

Value reduce_mean(Builder& g, const Value& x, const std::vector<std::int64_t>& axes, bool keep) {
  return reduce(g, "ReduceMean", x, axes, keep, true);
}

Value reduce_sum(Builder& g, const Value& x, const std::vector<std::int64_t>& axes, bool keep) {
  return reduce(g, "ReduceSum", x, axes, keep, true);
}

Value reduce_max(Builder& g, const Value& x, const std::vector<std::int64_t>& axes, bool keep) {
  return reduce(g, "ReduceMax", x, axes, keep, true);
}

Value layer_normalization(Builder& g, const Value& x, const Value& weight, const Value& bias, float epsilon) {
  if (!(weight.dimension(-1) == x.dimension(-1))) misfit("LayerNormalization", x, weight);
  g.count_flops(5 * count_at_one(x.dimensions));
  return g.node("LayerNormalization", {x, weight, bias}, {{"axis", std::int64_t{-1}}, {"epsilon", epsilon}},
                {x.dtype, x.dimensions});
}

Value matmul(Builder& g, const Value& a, const Value& b) {
  if (a.rank() < 2 || b.rank() < 2 || a.dtype != b.dtype || !(a.dimension(-1) == b.dimension(-2))) {
    misfit("MatMul", a, b);
  }
  Dimensions dimensions = broadcast("MatMul", a, b, 2);
  dimensions.push_back(a.dimension(-2));
  dimensions.push_back(b.dimension(-1));
  g.count_flops(2 * count_at_one(dimensions) * count_at_one({a.dimension(-1)}));
  return g.node("MatMul", {a, b}, {}, {a.dtype, std::move(dimensions)});
}

Value conv(Builder& g, const Value& x, const Value& weight, const Value& bias, const ConvOptions& options) {
  const std::int64_t rows = weight.size(2);
  const std::int64_t columns = weight.size(3);
  if (x.rank() != 4 || x.size(1) != weight.size(1) * options.groups || x.dtype != weight.dtype) {
    misfit("Conv", x, weight);
  }
  const auto along = [&](int axis, std::int64_t kernel, std::int64_t padding) {
    return (x.size(axis) + 2 * padding - kernel) / options.stride + 1;
  };
  Dimensions dimensions{x.dimension(0), weight.size(0), along(2, rows, options.padding_rows),
                        along(3, columns, options.padding_columns)};
  g.count_flops(2 * count_at_one(dimensions) * static_cast<double>(weight.size(1) * rows * columns));
  std::vector<Value> inputs{x, weight};
  if (!bias.name.empty()) inputs.push_back(bias);
  const Result result{x.dtype, std::move(dimensions)};
  return g
      .node("Conv", inputs,
            {{"group", options.groups},
             {"kernel_shape", std::vector<std::int64_t>{rows, columns}},
             {"pads", std::vector<std::int64_t>{options.padding_rows, options.padding_columns,
                                                options.padding_rows, options.padding_columns}},
             {"strides", std::vector<std::int64_t>{options.stride, options.stride}}},
            std::span<const Result>(&result, 1))
      .front();
}

Value conv_transpose(Builder& g, const Value& x, const Value& weight, const Value& bias,
                     std::int64_t stride) {
  const std::int64_t kernel = weight.size(2);
  if (x.rank() != 4 || !(x.dimension(1) == weight.dimension(0)) || x.dtype != weight.dtype ||
      (kernel - stride) % 2 != 0) {
    misfit("ConvTranspose", x, weight);
  }
  const std::int64_t padding = (kernel - stride) / 2;
  Dimensions dimensions{x.dimension(0), weight.size(1), x.size(2) * stride, x.size(3) * stride};
  g.count_flops(2 * count_at_one(x.dimensions) * static_cast<double>(weight.size(1) * kernel * kernel));
  std::vector<Value> inputs{x, weight};
  if (!bias.name.empty()) inputs.push_back(bias);
  const Result result{x.dtype, std::move(dimensions)};
  return g
      .node("ConvTranspose", inputs,
            {{"kernel_shape", std::vector<std::int64_t>{kernel, kernel}},
             {"pads", std::vector<std::int64_t>{padding, padding, padding, padding}},
             {"strides", std::vector<std::int64_t>{stride, stride}}},
            std::span<const Result>(&result, 1))
      .front();
}

}  // namespace samlet::onnx
