#include <string>
#include <vector>

#include <fmt/format.h>

#include "libs/nn/attention.h"
#include "libs/nn/position.h"
#include "libs/onnx/ops.h"
#include "models/sam3/arch/detector.h"

namespace samlet::sam3 {
namespace {

using nn::Scope;
using onnx::Builder;
using onnx::Value;

/// 0, 1, ..., n - 1 as f32 of the given shape.
Value counting(Builder& g, std::int64_t n, Shape shape) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(static_cast<float>(i));
  return g.constant(values, std::move(shape));
}

/// One axis of torchvision's roi_align (aligned = False, adaptive sampling) as a matrix [B, N, roi, g] from
/// low and high [B, N, 1], in cells. Bin p holds n = ceil(size / roi) samples at low + p bin + (s + 0.5) bin
/// / n; a sample outside
/// [-1, g] counts as zero, otherwise it is clamped to the cells and interpolated between its two neighbours,
/// whose weights are the hat function 1 - |c - j|.
Value roi_matrix(const DetectorContext& context, const Value& low, const Value& high) {
  Builder& g = context.nn.graph;
  const std::int64_t roi = context.dimensions.roi;
  const std::int64_t cells = context.grid;
  const auto n = static_cast<float>(cells);
  // A box may be three pictures long (one further on both sides), which needs the most samples.
  const std::int64_t most = (3 * cells + roi - 1) / roi + 1;
  const Value size = onnx::maximum(g, onnx::sub(g, high, low), g.scalar(1.0F));
  const Value bin = onnx::div(g, size, g.scalar(static_cast<float>(roi)));
  const Value samples = onnx::minimum(g, onnx::round_up(g, bin), g.scalar(static_cast<float>(most)));
  const auto wide = [&](const Value& x) { return onnx::unsqueeze(g, x, {3}); };  // [B, N, 1, 1]
  const Value index = counting(g, most, {most});
  const Value start = onnx::add(g, low, onnx::mul(g, counting(g, roi, {roi}), bin));  // [B, N, roi]
  const Value step =
      onnx::mul(g, onnx::add(g, index, g.scalar(0.5F)), onnx::div(g, wide(bin), wide(samples)));
  const Value c = onnx::add(g, wide(start), step);  // [B, N, roi, most]
  const Value inside = onnx::logical_and(g, onnx::less_or_equal(g, g.scalar(-1.0F), c),
                                         onnx::less_or_equal(g, c, g.scalar(n)));
  const Value counts = onnx::logical_and(g, onnx::less(g, index, wide(samples)), inside);
  const Value clamped = onnx::unsqueeze(g, onnx::clip(g, c, 0.0F, n - 1), {4});
  const Value distance = onnx::absolute(g, onnx::sub(g, clamped, counting(g, cells, {cells})));
  const Value hat = onnx::relu(g, onnx::sub(g, g.scalar(1.0F), distance));  // [B, N, roi, most, g]
  const Value weights = onnx::mul(g, hat, onnx::unsqueeze(g, onnx::cast(g, counts, DType::kFloat32), {4}));
  return onnx::div(g, onnx::reduce_sum(g, weights, {3}, false), wide(samples));
}

/// cx, cy, w, h, each [B, N, 1].
std::vector<Value> columns(Builder& g, const Value& boxes) {
  return onnx::split(g, boxes, -1, {1, 1, 1, 1});
}

/// Pooled features of every box through the 7x7 projection: [B, N, D].
Value pooled(const DetectorContext& context, const Scope& scope, const Value& boxes,
             const ImageTokens& image) {
  Builder& g = context.nn.graph;
  const auto part = columns(g, boxes);
  const Value side = g.scalar(static_cast<float>(context.grid));
  const Value half = g.scalar(0.5F);
  const auto edge = [&](const Value& centre, const Value& extent, bool high) {
    const Value reach = onnx::mul(g, extent, half);
    return onnx::mul(g, high ? onnx::add(g, centre, reach) : onnx::sub(g, centre, reach), side);
  };
  const Value along_x = roi_matrix(context, edge(part[0], part[2], false), edge(part[0], part[2], true));
  const Value along_y = roi_matrix(context, edge(part[1], part[3], false), edge(part[1], part[3], true));
  const std::int64_t d = context.dimensions.width;
  const std::int64_t roi = context.dimensions.roi;
  // A_y F A_x^T for every box and channel.
  const Value normed = nn::layer_norm(context.nn, image.tokens, scope / "img_pre_norm");
  const Value map = onnx::reshape(g, nn::to_map(g, normed, context.grid), {d, context.grid, context.grid});
  const Value a_x = onnx::unsqueeze(g, onnx::transpose(g, along_x, {0, 1, 3, 2}), {2});  // [B, N, 1, g, roi]
  const Value rows = onnx::matmul(g, map, a_x);                                          // [B, N, D, g, roi]
  const Value cells = onnx::matmul(g, onnx::unsqueeze(g, along_y, {2}), rows);  // [B, N, D, roi, roi]
  const Value flat = onnx::reshape(g, cells, {boxes.dimension(0), boxes.dimension(1), d * roi * roi});
  const Scope project = scope / "boxes_pool_project";
  const nn::Affine stored = nn::affine(project, {d, d, roi, roi});
  return nn::linear(nn::exact(context.nn), flat,
                    {nn::reshaped(stored.weight, {d, d * roi * roi}), stored.bias}, project.prefix());
}

/// Everything a box token is the sum of, before the final projection: [B, N, D].
Value box_embedding(const DetectorContext& context, const Scope& scope, const BoxInputs& boxes,
                    const ImageTokens& image) {
  Builder& g = context.nn.graph;
  const nn::Context exact = nn::exact(context.nn);
  const std::int64_t d = context.dimensions.width;
  const auto part = columns(g, boxes.coords);
  // Codes of the centre, y first, then height and width as they are.
  const Value centre = onnx::concat(g, {part[1], part[0]}, -1);
  const Value code = nn::sine_code(g, centre, d / 2);  // [B, N, 2, D/2]
  const Value flat = onnx::reshape(g, code, {code.dimension(0), code.dimension(1), d});
  const Value placed = onnx::concat(g, {flat, part[3], part[2]}, -1);  // [B, N, D + 2]
  const Value labels =
      g.weight((scope / "label_embed").prefix() + ".weight", (scope / "label_embed").get("weight", {2, d}));
  Value sum = nn::linear(exact, boxes.coords, scope / "boxes_direct_project", d);
  sum = onnx::add(g, sum, pooled(context, scope, boxes.coords, image));
  sum = onnx::add(g, sum, nn::linear(exact, placed, scope / "boxes_pos_enc_project", d));
  return onnx::add(g, sum, onnx::gather(g, labels, boxes.labels, 0));
}

/// One pre-norm layer. The image is attended to as it is, with its position added to the keys.
Value geometry_layer(const DetectorContext& context, const Scope& scope, const Value& tokens,
                     const Value& bias, const ImageTokens& image, const Value& keys) {
  const std::int64_t heads = context.dimensions.heads;
  const nn::Context& nn = context.nn;
  const Value h = nn::layer_norm(nn, tokens, scope / "norm1");
  Value t = nn::residual(nn, tokens, nn::multi_head_attention(nn, h, h, h, scope / "self_attn", heads, bias));
  t = nn::residual(nn, t,
                   nn::multi_head_attention(nn, nn::layer_norm(nn, t, scope / "norm2"), keys, image.tokens,
                                            scope / "cross_attn_image", heads));
  return nn::residual(
      nn, t, nn::feed_forward(nn, nn::layer_norm(nn, t, scope / "norm3"), scope, context.dimensions.ffn));
}

}  // namespace

GeometryTokens geometry_encoder(const DetectorContext& context, const BoxInputs& boxes,
                                const ImageTokens& image) {
  Builder& g = context.nn.graph;
  const Scope scope(context.weights, "detector.geometry_encoder");
  const std::int64_t d = context.dimensions.width;
  g.set_section("geometry/boxes");
  const Value embedded = box_embedding(context, scope, boxes, image);
  const Value class_token = g.weight("detector.geometry_encoder.cls_embed.weight",
                                     nn::reshaped((scope / "cls_embed").get("weight", {1, d}), {1, 1, d}));
  const Value batch = onnx::size_of_dimension(g, boxes.coords, 0);
  const Value repeated = onnx::expand(g, class_token, onnx::concat(g, {batch, g.indices({1, d})}, 0),
                                      {boxes.coords.dimension(0), 1, d});
  Value tokens = onnx::concat(g, {embedded, repeated}, 1, "N+1");
  const Value used =
      onnx::expand(g, g.constant(std::vector<bool>{false}, {1, 1}),
                   onnx::concat(g, {batch, g.indices({1})}, 0), {boxes.coords.dimension(0), 1});
  const Value masked = onnx::concat(g, {boxes.unused, used}, 1, "N+1");
  const Value bias = nn::key_bias(g, masked);
  tokens =
      nn::layer_norm(context.nn, nn::linear(context.nn, tokens, scope / "final_proj", d), scope / "norm");
  const Value keys = onnx::add(g, image.tokens, image.position);
  for (std::int64_t i = 0; i < context.dimensions.geometry_layers; ++i) {
    g.set_section(fmt::format("geometry/layer_{}", i));
    tokens = geometry_layer(context, scope / "encode" / std::to_string(i), tokens, bias, image, keys);
  }
  return {nn::layer_norm(context.nn, tokens, scope / "encode_norm"), masked};
}

Prompt join_prompt(const DetectorContext& context, const Value& text, const Value& text_masked,
                   const GeometryTokens& geometry) {
  Builder& g = context.nn.graph;
  g.set_section("prompt");
  Prompt prompt;
  prompt.tokens = onnx::concat(g, {text, geometry.tokens}, 1, "K");
  prompt.masked = onnx::concat(g, {text_masked, geometry.masked}, 1, "K");
  prompt.key_bias = nn::key_bias(g, prompt.masked);
  return prompt;
}

}  // namespace samlet::sam3
