#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "libs/nn/attention.h"
#include "libs/onnx/ops.h"
#include "models/sam3/arch/text.h"

namespace samlet::sam3 {

using nn::Affine;
using nn::Context;
using nn::Scope;
using onnx::Builder;
using onnx::Value;

namespace {

/// A batch norm at inference is y = s x + t with s = weight / sqrt(variance + 1e-5), t = bias - mean s.
struct Line {
  std::vector<double> slope;
  std::vector<double> offset;
};

struct BatchNorm {
  LazyTensor weight;
  LazyTensor bias;
  LazyTensor mean;
  LazyTensor variance;

  BatchNorm(const Scope& scope, std::int64_t width)
      : weight(scope.get("weight", {width})),
        bias(scope.get("bias", {width})),
        mean(scope.get("running_mean", {width})),
        variance(scope.get("running_var", {width})) {}

  [[nodiscard]] Line line() const {
    constexpr double kEpsilon = 1e-5;
    const auto w = weight.values();
    const auto b = bias.values();
    const auto m = mean.values();
    const auto v = variance.values();
    Line line;
    for (std::size_t c = 0; c < w.size(); ++c) {
      line.slope.push_back(static_cast<double>(w[c]) / std::sqrt(static_cast<double>(v[c]) + kEpsilon));
      line.offset.push_back(static_cast<double>(b[c]) - static_cast<double>(m[c]) * line.slope.back());
    }
    return line;
  }
};

/// A lazy tensor from doubles that `make` computes.
template <typename Make>
LazyTensor computed(Shape shape, const Make& make) {
  return {std::move(shape), [make](const LazyTensor::Sink& sink) {
            const std::vector<double> values = make();
            sink(std::vector<float>(values.begin(), values.end()));
          }};
}

/// The token mixer x + ls (skip(x) + bn(conv(x)) - norm(x)) as one depthwise convolution with bias. With
/// lines s0, t0 of norm, s1, t1 of the skip and s2, t2 of the convolution's norm: W = ls s2 Wconv, centre tap
/// + 1 + ls (s1 - s0), b = ls (t2 + t1 - t0).
Affine folded_mixer(const Scope& scope, std::int64_t width, std::int64_t size) {
  const BatchNorm norm(scope / "norm.rbr_skip", width);
  const BatchNorm skip(scope / "mixer.rbr_skip", width);
  const BatchNorm convolved(scope / "mixer.rbr_conv.0.bn", width);
  const LazyTensor kernel = (scope / "mixer.rbr_conv.0.conv").get("weight", {width, 1, 1, size});
  const LazyTensor scale = scope.get("layer_scale", {width, 1, 1});
  const LazyTensor weight = computed({width, 1, 1, size}, [=] {
    const auto taps = kernel.values();
    const auto ls = scale.values();
    const Line s0 = norm.line();
    const Line s1 = skip.line();
    const Line s2 = convolved.line();
    const auto length = static_cast<std::size_t>(size);
    std::vector<double> values;
    for (std::size_t i = 0; i < taps.size(); ++i) {
      const std::size_t c = i / length;
      double value = static_cast<double>(ls[c]) * s2.slope[c] * static_cast<double>(taps[i]);
      if (i % length == length / 2) value += 1.0 + static_cast<double>(ls[c]) * (s1.slope[c] - s0.slope[c]);
      values.push_back(value);
    }
    return values;
  });
  const LazyTensor bias = computed({width}, [=] {
    const auto ls = scale.values();
    const Line t0 = norm.line();
    const Line t1 = skip.line();
    const Line t2 = convolved.line();
    std::vector<double> values;
    for (std::size_t c = 0; c < ls.size(); ++c) {
      values.push_back(static_cast<double>(ls[c]) * (t2.offset[c] + t1.offset[c] - t0.offset[c]));
    }
    return values;
  });
  return {weight, bias};
}

/// The depthwise convolution of the feed-forward part with its batch norm.
Affine folded_depthwise(const Scope& scope, std::int64_t width, std::int64_t size) {
  const BatchNorm norm(scope / "bn", width);
  const LazyTensor kernel = (scope / "conv").get("weight", {width, 1, 1, size});
  const LazyTensor weight = computed({width, 1, 1, size}, [=] {
    const auto taps = kernel.values();
    const Line line = norm.line();
    const auto length = static_cast<std::size_t>(size);
    std::vector<double> values;
    for (std::size_t i = 0; i < taps.size(); ++i)
      values.push_back(line.slope[i / length] * static_cast<double>(taps[i]));
    return values;
  });
  return {weight, computed({width}, [=] { return norm.line().offset; })};
}

/// Rows and bias multiplied by the layer's scale.
Affine scaled_rows(const Affine& affine, const LazyTensor& scale) {
  const auto times = [scale](const LazyTensor& tensor) {
    return computed(tensor.shape(), [=] {
      const auto from = tensor.values();
      const auto ls = scale.values();
      const std::size_t length = from.size() / ls.size();
      std::vector<double> values;
      for (std::size_t i = 0; i < from.size(); ++i)
        values.push_back(static_cast<double>(from[i]) * static_cast<double>(ls[i / length]));
      return values;
    });
  };
  return {times(affine.weight), times(affine.bias)};
}

/// Along the tokens: [B, W, 1, C], zeros outside.
Value depthwise(const Context& context, const Value& x, const Affine& affine, const std::string& name) {
  Builder& g = context.graph;
  const Value weight = g.weight(name + ".weight", affine.weight, context.precision);
  const Value bias = g.weight(name + ".bias", affine.bias, context.precision);
  return onnx::conv(g, onnx::cast(g, x, context.precision), weight, bias,
                    {1, 0, affine.weight.shape()[3] / 2, affine.weight.shape()[0]});
}

/// x [B, C, W] -> [B, C, W]; the batch norms are folded away. Convolutions over channels are matrix products
/// here.
Value repmixer_block(const Context& context, const Value& x, const Scope& scope,
                     const LiteTextDimensions& d) {
  Builder& g = context.graph;
  const Value channels_first = onnx::unsqueeze(g, onnx::transpose(g, x, {0, 2, 1}), {2});
  const Value mixed =
      depthwise(context, channels_first, folded_mixer(scope / "token_mixer", d.width, d.kernel),
                (scope / "token_mixer").prefix());
  const Scope ffn = scope / "convffn";
  const Value local =
      depthwise(context, mixed, folded_depthwise(ffn / "conv", d.width, d.kernel), (ffn / "conv").prefix());
  const auto to_last = [&](const Value& y) {
    return onnx::transpose(g, onnx::squeeze(g, y, {2}), {0, 2, 1});
  };
  const Affine first = nn::affine(ffn / "fc1", {d.mlp, d.width, 1, 1});
  const Affine second = nn::affine(ffn / "fc2", {d.width, d.mlp, 1, 1});
  const Affine last = scaled_rows({nn::reshaped(second.weight, {d.width, d.mlp}), second.bias},
                                  scope.get("layer_scale", {d.width, 1, 1}));
  const Value inner =
      nn::linear(context, to_last(local), {nn::reshaped(first.weight, {d.mlp, d.width}), first.bias},
                 (ffn / "fc1").prefix());
  return nn::residual(context, to_last(mixed),
                      nn::linear(context, onnx::gelu(g, inner), last, (ffn / "fc2").prefix()));
}

/// Pre-norm block with a packed projection: rows q, k, v.
Value student_block(const Context& context, const Value& x, const Scope& scope, const LiteTextDimensions& d) {
  Builder& g = context.graph;
  const Scope attention = scope / "pre_norm_mha.1";
  const Affine packed = nn::affine(attention / "qkv_proj", {3 * d.width, d.width});
  const double scale = nn::query_scale(d.width, d.heads);
  const Value h = nn::layer_norm(context, x, scope / "pre_norm_mha.0");
  const auto project = [&](std::int64_t index, const char* name, double factor) {
    const Affine part{nn::scaled(nn::rows(packed.weight, index * d.width, d.width), factor),
                      nn::scaled(nn::rows(packed.bias, index * d.width, d.width), factor)};
    return nn::split_heads(g, nn::linear(context, h, part, attention.prefix() + name), d.heads);
  };
  const Value mixed = nn::attend(context, project(0, ".q_proj", scale), project(1, ".k_proj", 1.0),
                                 project(2, ".v_proj", 1.0));
  const Value y = nn::residual(
      context, x, nn::linear(context, nn::merge_heads(g, mixed), attention / "out_proj", d.width));
  const Value inner = nn::linear(context, nn::layer_norm(context, y, scope / "pre_norm_ffn.0"),
                                 scope / "pre_norm_ffn.1", d.mlp);
  return nn::residual(context, y,
                      nn::linear(context, onnx::gelu(g, inner), scope / "pre_norm_ffn.4", d.width));
}

}  // namespace

TextOutputs litetext_encoder(const Context& context, const Value& tokens, nn::WeightSource& weights,
                             const LiteTextDimensions& d, std::int64_t slots) {
  Builder& g = context.graph;
  const Scope encoder(weights, "encoder");
  g.set_section("text/embedding");
  const Value table =
      g.weight("encoder.embedding_layer.weight",
               (encoder / "embedding_layer").get("weight", {d.vocabulary, d.width}), context.precision);
  const LazyTensor stored =
      (encoder / "positional_embedding").get("pos_embed.pos_embed", {1, 1, d.rows, d.width});
  const LazyTensor positions = nn::rows(nn::reshaped(stored, {d.rows, d.width}), 0, slots);
  const Value embedded = onnx::cast(g, onnx::gather(g, table, tokens, 0), DType::kFloat32);
  Value x = onnx::add(g, embedded, g.weight("text/position", positions));
  for (std::int64_t i = 0; i < d.layers; ++i) {
    g.set_section(fmt::format("text/block_{:02}", i));
    const Scope scope = encoder / "transformer" / std::to_string(i);
    x = std::find(d.repmixer_blocks.begin(), d.repmixer_blocks.end(), i) != d.repmixer_blocks.end()
            ? repmixer_block(context, x, scope, d)
            : student_block(context, x, scope, d);
  }
  g.set_section("text/output");
  const Value features =
      nn::linear(nn::exact(context), nn::layer_norm(context, x, encoder / "final_layer_norm"),
                 Scope(weights, "projector"), d.output);
  return in_slots(g, features, is_padding(g, tokens), embedded);
}

}  // namespace samlet::sam3
