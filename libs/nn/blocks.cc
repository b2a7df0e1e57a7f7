#include "libs/nn/blocks.h"

#include <utility>

#include "libs/onnx/ops.h"

namespace samlet::nn {

using onnx::Builder;
using onnx::Value;

Affine affine(const Scope& scope, const Shape& weight) {
  return affine(scope, weight, weight.at(0));
}

Affine affine(const Scope& scope, const Shape& weight, std::int64_t bias_size) {
  return {scope.get("weight", weight), scope.get("bias", {bias_size})};
}

Value linear(const Context& context, const Value& x, const Affine& affine, const std::string& name) {
  Builder& g = context.graph;
  const Value weight = g.weight(name + ".weight", transposed(affine.weight), context.precision);
  const Value bias = g.weight(name + ".bias", affine.bias, context.precision);
  return onnx::add(g, onnx::matmul(g, onnx::cast(g, x, context.precision), weight), bias);
}

Value linear(const Context& context, const Value& x, const Scope& scope, std::int64_t out) {
  return linear(context, x, affine(scope, {out, x.size(-1)}), scope.prefix());
}

Value layer_norm(const Context& context, const Value& x, const Scope& scope, float epsilon) {
  Builder& g = context.graph;
  const Affine norm = affine(scope, {x.size(-1)});
  return onnx::layer_normalization(g, onnx::cast(g, x, DType::kFloat32),
                                   g.weight(scope.prefix() + ".weight", norm.weight),
                                   g.weight(scope.prefix() + ".bias", norm.bias), epsilon);
}

Value layer_norm_2d(const Context& context, const Value& x, const Scope& scope) {
  Builder& g = context.graph;
  constexpr float kEpsilon = 1e-6F;
  const Value channels_last = onnx::transpose(g, onnx::cast(g, x, DType::kFloat32), {0, 2, 3, 1});
  return onnx::transpose(g, layer_norm(context, channels_last, scope, kEpsilon), {0, 3, 1, 2});
}

Value group_norm(const Context& context, const Value& x, const Scope& scope, std::int64_t groups) {
  Builder& g = context.graph;
  constexpr float kEpsilon = 1e-5F;
  const std::int64_t channels = x.size(1);
  const std::int64_t in_group = channels / groups * x.size(2) * x.size(3);
  const Value grouped =
      onnx::reshape(g, onnx::cast(g, x, DType::kFloat32), {x.dimension(0), groups, in_group});
  const auto count = static_cast<std::size_t>(groups);
  const Value ones = g.constant(std::vector<float>(count, 1.0F), {groups});
  const Value zeros = g.constant(std::vector<float>(count, 0.0F), {groups});
  g.count_flops(5 * onnx::count_at_one(x.dimensions));
  const Value normed = g.node("InstanceNormalization", {grouped, ones, zeros}, {{"epsilon", kEpsilon}},
                              {DType::kFloat32, grouped.dimensions});
  const Affine norm = affine(scope, {channels});
  const Value weight = g.weight(scope.prefix() + ".weight", reshaped(norm.weight, {channels, 1, 1}));
  const Value bias = g.weight(scope.prefix() + ".bias", reshaped(norm.bias, {channels, 1, 1}));
  return onnx::add(g, onnx::mul(g, onnx::reshape(g, normed, x.dimensions), weight), bias);
}

Value conv(const Context& context, const Value& x, const Affine& affine, const std::string& name,
           std::int64_t stride) {
  Builder& g = context.graph;
  // A patch convolution (stride = kernel) needs no padding, an even kernel that halves neither.
  const std::int64_t padding = stride == 1 ? (affine.weight.shape().at(2) - 1) / 2 : 0;
  return onnx::conv(g, onnx::cast(g, x, context.precision),
                    g.weight(name + ".weight", affine.weight, context.precision),
                    g.weight(name + ".bias", affine.bias, context.precision), {stride, padding, padding, 1});
}

Value conv(const Context& context, const Value& x, const Scope& scope, std::int64_t out, std::int64_t kernel,
           std::int64_t stride) {
  return conv(context, x, affine(scope, {out, x.size(1), kernel, kernel}), scope.prefix(), stride);
}

Value conv_transpose(const Context& context, const Value& x, const Affine& affine, const std::string& name) {
  Builder& g = context.graph;
  const Value weight = g.weight(name + ".weight", affine.weight, context.precision);
  const Value bias =
      affine.bias.count() == 0 ? Value{} : g.weight(name + ".bias", affine.bias, context.precision);
  return onnx::conv_transpose(g, onnx::cast(g, x, context.precision), weight, bias, 2);
}

Value residual(const Context& context, const Value& x, const Value& y) {
  Builder& g = context.graph;
  return onnx::add(g, onnx::cast(g, x, DType::kFloat32), onnx::cast(g, y, DType::kFloat32));
}

Value mlp(const Context& context, const Value& x, const Scope& scope,
          const std::vector<std::int64_t>& widths) {
  Value y = x;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    y = linear(context, y, scope / "layers" / std::to_string(i), widths[i]);
    if (i + 1 < widths.size()) y = onnx::relu(context.graph, y);
  }
  return y;
}

Value feed_forward(const Context& context, const Value& x, const Scope& scope, std::int64_t hidden) {
  const Value inner = onnx::relu(context.graph, linear(context, x, scope / "linear1", hidden));
  return linear(context, inner, scope / "linear2", x.size(-1));
}

Value to_tokens(Builder& graph, const Value& map) {
  const Value flat = onnx::reshape(graph, map, {map.dimension(0), map.size(1), map.size(2) * map.size(3)});
  return onnx::transpose(graph, flat, {0, 2, 1});
}

Value to_map(Builder& graph, const Value& tokens, std::int64_t side) {
  const Value channels_first = onnx::transpose(graph, tokens, {0, 2, 1});
  return onnx::reshape(graph, channels_first, {tokens.dimension(0), tokens.size(2), side, side});
}

}  // namespace samlet::nn
