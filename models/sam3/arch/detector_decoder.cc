#include <cmath>
#include <numbers>
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

/// log(v / (1 - v)) with both sides kept from zero by 1e-3; v is in 0..1 already.
Value inverse_sigmoid(Builder& g, const Value& v) {
  constexpr float kLeast = 1e-3F;
  const Value low = g.scalar(kLeast);
  const Value odds =
      onnx::div(g, onnx::maximum(g, v, low), onnx::maximum(g, onnx::sub(g, g.scalar(1.0F), v), low));
  return onnx::logarithm(g, odds);
}

/// The query position [B, Q + 1, D]: codes of cy, cx, w, h through a small network; none for the presence
/// token, which stands first.
Value query_position(const DetectorContext& context, const Scope& decoder, const Value& boxes) {
  Builder& g = context.nn.graph;
  const std::int64_t d = context.dimensions.width;
  const auto part = onnx::split(g, boxes, -1, {1, 1, 1, 1});
  const Value sorted = onnx::concat(g, {part[1], part[0], part[2], part[3]}, -1);
  const Value code = nn::sine_code(g, sorted, d / 2);  // [B, Q, 4, D/2]
  const Value flat = onnx::reshape(g, code, {code.dimension(0), code.dimension(1), 2 * d});
  const Value position = nn::mlp(nn::exact(context.nn), flat, decoder / "ref_point_head", {d, d});
  // A row of zeros in front, whatever the batch: zero times the first row.
  const Value zero = onnx::mul(g, onnx::slice(g, position, 1, 0, 1), g.scalar(0.0F));
  return onnx::concat(g, {zero, position}, 1);
}

/// One axis of the box position bias: edges [B, Q, 2] of the boxes against the grid lines i / g, in log
/// scale: t = 8 (i / g - edge), f = sign(t) log2(|t| + 1) / 3, then a small network. [B, heads, Q + 1, g].
Value axis_bias(const DetectorContext& context, const Scope& scope, const Value& edges) {
  Builder& g = context.nn.graph;
  std::vector<float> lines;
  for (std::int64_t i = 0; i < context.grid; ++i) {
    lines.push_back(static_cast<float>(8.0 * static_cast<double>(i) / static_cast<double>(context.grid)));
  }
  const Value grid = g.constant(lines, {context.grid, 1});
  const Value t =
      onnx::sub(g, grid, onnx::mul(g, onnx::unsqueeze(g, edges, {2}), g.scalar(8.0F)));  // [B, Q, g, 2]
  const Value grown = onnx::logarithm(g, onnx::add(g, onnx::absolute(g, t), g.scalar(1.0F)));
  const auto factor = static_cast<float>(1.0 / (3.0 * std::numbers::ln2));
  const Value f = onnx::mul(g, onnx::mul(g, onnx::sign(g, t), grown), g.scalar(factor));
  const Value bias =
      nn::mlp(nn::exact(context.nn), f, scope, {context.dimensions.width, context.dimensions.heads});
  const Value by_head = onnx::transpose(g, bias, {0, 3, 1, 2});  // [B, heads, Q, g]
  const Value zero =
      onnx::mul(g, onnx::slice(g, by_head, 2, 0, 1), g.scalar(0.0F));  // the presence token's row
  return onnx::concat(g, {zero, by_head}, 2);
}

/// The bias of the image cross-attention: [B, heads, Q + 1, L].
Value position_bias(const DetectorContext& context, const Scope& decoder, const Value& boxes) {
  Builder& g = context.nn.graph;
  const auto part = onnx::split(g, corners(g, boxes), -1, {1, 1, 1, 1});
  const Value x = axis_bias(context, decoder / "boxRPB_embed_x", onnx::concat(g, {part[0], part[2]}, -1));
  const Value y = axis_bias(context, decoder / "boxRPB_embed_y", onnx::concat(g, {part[1], part[3]}, -1));
  const Value both =
      onnx::add(g, onnx::unsqueeze(g, y, {4}), onnx::unsqueeze(g, x, {3}));  // [B, h, Q + 1, y, x]
  return onnx::reshape(g, both, {both.dimension(0), both.size(1), both.size(2), context.grid * context.grid});
}

struct LayerInputs {
  const Value& memory;       // [B, L, D]
  const Value& memory_keys;  // memory + position
  const Prompt& prompt;
};

/// One post-norm layer: among the queries, to the prompt, to the image, feed-forward.
Value decoder_layer(const DetectorContext& context, const Scope& scope, const Value& queries,
                    const Value& position, const Value& bias, const LayerInputs& inputs) {
  const nn::Context& nn = context.nn;
  Builder& g = nn.graph;
  const std::int64_t heads = context.dimensions.heads;
  const auto placed = [&](const Value& x) { return onnx::add(g, x, position); };
  const auto normed = [&](const Value& x, const Value& y, const char* norm) {
    return nn::layer_norm(nn, nn::residual(nn, x, y), scope / norm);
  };
  Value x = queries;
  x = normed(x, nn::multi_head_attention(nn, placed(x), placed(x), x, scope / "self_attn", heads), "norm2");
  x = normed(x,
             nn::multi_head_attention(nn, placed(x), inputs.prompt.tokens, inputs.prompt.tokens,
                                      scope / "ca_text", heads, inputs.prompt.key_bias),
             "catext_norm");
  x = normed(x,
             nn::multi_head_attention(nn, placed(x), inputs.memory_keys, inputs.memory, scope / "cross_attn",
                                      heads, bias),
             "norm1");
  // Meta's code keeps this part in f32 even where all else is half.
  return normed(x, nn::feed_forward(nn::exact(nn), x, scope, context.dimensions.ffn), "norm3");
}

/// Presence token and queries as they start: [1, Q + 1, D].
Value first_queries(const DetectorContext& context, const Scope& decoder) {
  const std::int64_t d = context.dimensions.width;
  const std::int64_t queries = context.dimensions.queries;
  const LazyTensor rows = nn::stacked((decoder / "presence_token").get("weight", {1, d}),
                                      (decoder / "query_embed").get("weight", {queries, d}));
  return context.nn.graph.weight("detector.transformer.decoder.queries",
                                 nn::reshaped(rows, {1, queries + 1, d}));
}

}  // namespace

Value corners(Builder& g, const Value& boxes) {
  const auto part = onnx::split(g, boxes, -1, {2, 2});
  const Value reach = onnx::mul(g, part[1], g.scalar(0.5F));
  return onnx::concat(g, {onnx::sub(g, part[0], reach), onnx::add(g, part[0], reach)}, -1);
}

Detections detector_decoder(const DetectorContext& context, const Value& memory, const ImageTokens& image,
                            const Prompt& prompt) {
  Builder& g = context.nn.graph;
  const nn::Context exact = nn::exact(context.nn);
  const Scope decoder(context.weights, "detector.transformer.decoder");
  const std::int64_t d = context.dimensions.width;
  const std::int64_t queries = context.dimensions.queries;
  g.set_section("decoder");
  const LazyTensor points = (decoder / "reference_points").get("weight", {queries, 4});
  Value boxes = onnx::sigmoid(g, g.weight("detector.transformer.decoder.reference_points.weight",
                                          nn::reshaped(points, {1, queries, 4})));
  Value x = first_queries(context, decoder);
  const Value keys = onnx::add(g, memory, image.position);
  Value states;
  for (std::int64_t i = 0; i < context.dimensions.decoder_layers; ++i) {
    g.set_section(fmt::format("decoder/layer_{}", i));
    const Value position = query_position(context, decoder, boxes);
    const Value bias = position_bias(context, decoder, boxes);
    x = decoder_layer(context, decoder / "layers" / std::to_string(i), x, position, bias,
                      {memory, keys, prompt});
    states = nn::layer_norm(context.nn, onnx::slice(g, x, 1, 1, queries + 1), decoder / "norm");
    const Value moved = nn::mlp(exact, states, decoder / "bbox_embed", {d, d, 4});
    boxes = onnx::sigmoid(g, onnx::add(g, moved, inverse_sigmoid(g, boxes)));
  }
  g.set_section("decoder/presence");
  const Value token =
      nn::layer_norm(context.nn, onnx::slice(g, x, 1, 0, 1), decoder / "presence_token_out_norm");
  const Value logit = nn::mlp(exact, token, decoder / "presence_token_head", {d, d, 1});  // [B, 1, 1]
  return {states, boxes, onnx::squeeze(g, onnx::sigmoid(g, logit), {2})};
}

Value detection_scores(const DetectorContext& context, const Detections& detections, const Prompt& prompt) {
  Builder& g = context.nn.graph;
  const nn::Context exact = nn::exact(context.nn);
  const Scope scope(context.weights, "detector.dot_prod_scoring");
  const std::int64_t d = context.dimensions.width;
  constexpr float kMostLogit = 12.0F;
  g.set_section("scores");
  const Value changed = nn::mlp(exact, prompt.tokens, scope / "prompt_mlp", {context.dimensions.ffn, d});
  const Value tokens =
      nn::layer_norm(exact, nn::residual(exact, prompt.tokens, changed), scope / "prompt_mlp" / "out_norm");
  // The mean over the used tokens; there is always one, the class token.
  const Value used = onnx::cast(g, onnx::logical_not(g, prompt.masked), DType::kFloat32);
  const Value total = onnx::reduce_sum(g, onnx::mul(g, tokens, onnx::unsqueeze(g, used, {2})), {1}, true);
  const Value count = onnx::unsqueeze(g, onnx::reduce_sum(g, used, {1}, true), {2});
  const Value mean = onnx::div(g, total, count);  // [B, 1, D]
  const Value wanted = onnx::transpose(g, nn::linear(exact, mean, scope / "prompt_proj", d), {0, 2, 1});
  const Value found = nn::linear(exact, detections.states, scope / "hs_proj", d);
  const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(d)));
  const Value logits = onnx::mul(g, onnx::squeeze(g, onnx::matmul(g, found, wanted), {2}), g.scalar(scale));
  return onnx::mul(g, onnx::sigmoid(g, onnx::clip(g, logits, -kMostLogit, kMostLogit)), detections.presence);
}

}  // namespace samlet::sam3
