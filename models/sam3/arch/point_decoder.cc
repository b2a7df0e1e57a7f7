#include "models/sam3/arch/point_decoder.h"

#include <string>
#include <vector>

#include <fmt/format.h>

#include "libs/nn/attention.h"
#include "libs/nn/position.h"
#include "libs/onnx/ops.h"

namespace samlet::sam3 {
namespace {

using nn::Context;
using nn::Scope;
using onnx::Builder;
using onnx::Value;

constexpr std::int64_t kMasks = 4;
constexpr std::int64_t kFirstMaskToken = 2;  // after the object score's and the IoU's
constexpr std::int64_t kLayers = 2;

/// x [1, n, D] once for each object of `like` [B, ...].
Value for_each_object(Builder& g, const Value& x, const Value& like) {
  const Value shape =
      onnx::concat(g, {onnx::size_of_dimension(g, like, 0), g.indices({x.size(1), x.size(2)})}, 0);
  return onnx::expand(g, x, shape, {like.dimension(0), x.dimension(1), x.dimension(2)});
}

/// Codes of the points and the closing token: [B, P + 1, D], with the mask of the unused [B, P + 1].
struct Sparse {
  Value tokens;
  Value masked;
};

Sparse sparse_prompt(Builder& g, const Scope& encoder, const PointInputs& inputs, const Value& matrix,
                     const VisionDimensions& vision) {
  const std::int64_t d = inputs.embed.size(1);
  const auto side = static_cast<float>(vision.image);
  const Value centred = onnx::div(g, onnx::add(g, inputs.coords, g.scalar(0.5F)), g.scalar(side));
  const Value code = nn::fourier_code(g, centred, matrix);
  LazyTensor kinds = (encoder / "point_embeddings.0").get("weight", {1, d});
  for (int i = 1; i < 4; ++i) {
    kinds = nn::stacked(kinds, (encoder / fmt::format("point_embeddings.{}", i)).get("weight", {1, d}));
  }
  const Value table = g.weight(encoder.prefix() + ".point_embeddings.weight", kinds);
  const Value nothing = g.scalar(std::int64_t{0});
  const Value known = onnx::maximum(g, inputs.labels, nothing);
  const Value points = onnx::add(g, code, onnx::gather(g, table, known, 0));
  const Value closing =
      g.weight(encoder.prefix() + ".not_a_point_embed.weight",
               nn::reshaped((encoder / "not_a_point_embed").get("weight", {1, d}), {1, 1, d}));
  const Value unused = onnx::less(g, inputs.labels, nothing);
  const Value shape = onnx::concat(g, {onnx::size_of_dimension(g, inputs.labels, 0), g.indices({1})}, 0);
  const Value used =
      onnx::expand(g, g.constant(std::vector<bool>{false}, {1, 1}), shape, {inputs.labels.dimension(0), 1});
  return {onnx::concat(g, {points, for_each_object(g, closing, inputs.coords)}, 1, "P+1"),
          onnx::concat(g, {unused, used}, 1, "P+1")};
}

/// What the previous mask adds to the image: its own features, or the "no mask" vector everywhere. [B, D, g,
/// g]
Value dense_prompt(const Context& context, const Scope& encoder, const PointInputs& inputs) {
  Builder& g = context.graph;
  const std::int64_t d = inputs.embed.size(1);
  const Scope down = encoder / "mask_downscaling";
  constexpr std::int64_t kFirst = 4;
  constexpr std::int64_t kSecond = 16;
  const auto halve = [&](const Value& x, std::int64_t out, const char* conv, const char* norm) {
    return onnx::gelu(g,
                      nn::layer_norm_2d(context, nn::conv(context, x, down / conv, out, 2, 2), down / norm));
  };
  const Value seen = halve(halve(inputs.mask, kFirst, "0", "1"), kSecond, "3", "4");
  const Value features = onnx::cast(g, nn::conv(context, seen, down / "6", d, 1), DType::kFloat32);
  const Value none = g.weight(encoder.prefix() + ".no_mask_embed.weight",
                              nn::reshaped((encoder / "no_mask_embed").get("weight", {1, d}), {1, d, 1, 1}));
  // A choice, not a sum with 0 and 1: what stands in an unused mask must not matter, be it NaN.
  const Value given = onnx::unsqueeze(g, onnx::greater(g, inputs.has_mask, g.scalar(0.5F)), {1, 2, 3});
  return onnx::where(g, given, features, none);
}

/// Object score, IoU and mask tokens, then the points: [B, T, D].
Value all_tokens(Builder& g, const Scope& decoder, const Sparse& sparse, std::int64_t d) {
  const LazyTensor masks = (decoder / "mask_tokens").get("weight", {kMasks, d});
  const LazyTensor first = nn::stacked((decoder / "obj_score_token").get("weight", {1, d}),
                                       (decoder / "iou_token").get("weight", {1, d}));
  const Value fixed = g.weight(decoder.prefix() + ".tokens",
                               nn::reshaped(nn::stacked(first, masks), {1, kFirstMaskToken + kMasks, d}));
  return onnx::concat(g, {for_each_object(g, fixed, sparse.tokens), sparse.tokens}, 1, "T");
}

/// Tokens and image as they go through the two-way transformer.
struct TwoWay {
  Value tokens;  // [B, T, D]
  Value image;   // [B, L, D]
};

struct TwoWayInputs {
  const Context& context;
  const Value& token_position;  // the tokens as they were at first
  const Value& image_position;  // [1, L, D]
  const Value& token_bias;      // hides unused points, [B, 1, 1, T]
  const PointDimensions& dimensions;
};

TwoWay two_way_layer(const TwoWayInputs& inputs, const Scope& scope, const TwoWay& before, bool first) {
  const Context& context = inputs.context;
  Builder& g = context.graph;
  const std::int64_t d = before.tokens.size(2);
  const std::int64_t heads = inputs.dimensions.heads;
  const auto placed = [&](const Value& q) { return onnx::add(g, q, inputs.token_position); };
  const auto attention = [&](const Value& q, const Value& k, const Value& v, const char* name,
                             std::int64_t inner, const std::optional<Value>& bias) {
    return nn::separate_attention(context, q, k, v, scope / name, inner, heads, bias);
  };
  // The first layer's self-attention replaces the tokens, and has no positions.
  Value q = before.tokens;
  q = first ? onnx::cast(g, attention(q, q, q, "self_attn", d, inputs.token_bias), DType::kFloat32)
            : nn::residual(context, q, attention(placed(q), placed(q), q, "self_attn", d, inputs.token_bias));
  q = nn::layer_norm(context, q, scope / "norm1");
  const Value keys = onnx::add(g, before.image, inputs.image_position);
  const Value seen =
      attention(placed(q), keys, before.image, "cross_attn_token_to_image", d / 2, std::nullopt);
  q = nn::layer_norm(context, nn::residual(context, q, seen), scope / "norm2");
  const Value inner = onnx::relu(g, nn::linear(context, q, scope / "mlp" / "lin1", inputs.dimensions.mlp));
  q = nn::layer_norm(context, nn::residual(context, q, nn::linear(context, inner, scope / "mlp" / "lin2", d)),
                     scope / "norm3");
  const Value told = attention(keys, placed(q), q, "cross_attn_image_to_token", d / 2, inputs.token_bias);
  return {q, nn::layer_norm(context, nn::residual(context, before.image, told), scope / "norm4")};
}

/// [B, L, D] -> [B, D/8, 4g, 4g] with the fine features added on the way.
Value upscaled(const Context& context, const Scope& decoder, const Value& image, const PointInputs& inputs,
               std::int64_t grid) {
  Builder& g = context.graph;
  const std::int64_t d = image.size(2);
  const Scope up = decoder / "output_upscaling";
  Value y = nn::conv_transpose(context, nn::to_map(g, image, grid),
                               nn::affine(up / "0", {d, d / 4, 2, 2}, d / 4), (up / "0").prefix());
  y = onnx::gelu(g, nn::layer_norm_2d(context, nn::residual(context, y, inputs.features_1), up / "1"));
  y = nn::conv_transpose(context, y, nn::affine(up / "3", {d / 4, d / 8, 2, 2}, d / 8), (up / "3").prefix());
  return onnx::gelu(g, nn::residual(context, y, inputs.features_0));
}

/// One small network a mask token: [B, 4, D/8].
Value hypernetworks(const Context& context, const Scope& decoder, const Value& tokens, std::int64_t d) {
  Builder& g = context.graph;
  std::vector<Value> weights;
  for (std::int64_t i = 0; i < kMasks; ++i) {
    const Value token = onnx::slice(g, tokens, 1, kFirstMaskToken + i, kFirstMaskToken + i + 1);
    const Scope scope = decoder / "output_hypernetworks_mlps" / std::to_string(i);
    weights.push_back(nn::mlp(nn::exact(context), token, scope, {d, d, d / 8}));
  }
  return onnx::concat(g, weights, 1);
}

}  // namespace

PointOutputs point_decoder(const Context& context, nn::WeightSource& weights, const PointInputs& inputs,
                           const PointDimensions& dimensions, const VisionDimensions& vision) {
  Builder& g = context.graph;
  const Scope encoder(weights, "tracker.sam_prompt_encoder");
  const Scope decoder(weights, "tracker.sam_mask_decoder");
  const std::int64_t d = inputs.embed.size(1);
  const std::int64_t grid = vision.grid();
  g.set_section("prompt");
  const LazyTensor matrix = (encoder / "pe_layer").get("positional_encoding_gaussian_matrix", {2, d / 2});
  const Value fourier = g.weight(encoder.prefix() + ".fourier_matrix", matrix);
  const Sparse sparse = sparse_prompt(g, encoder, inputs, fourier, vision);
  const Value dense = dense_prompt(context, encoder, inputs);
  const Value tokens = all_tokens(g, decoder, sparse, d);
  const Value fixed_used =
      g.constant(std::vector<bool>(kFirstMaskToken + kMasks, false), {1, kFirstMaskToken + kMasks});
  const Value shape = onnx::concat(
      g, {onnx::size_of_dimension(g, sparse.masked, 0), g.indices({kFirstMaskToken + kMasks})}, 0);
  const Value used =
      onnx::expand(g, fixed_used, shape, {sparse.masked.dimension(0), kFirstMaskToken + kMasks});
  const Value bias = nn::key_bias(g, onnx::concat(g, {used, sparse.masked}, 1, "T"));
  const Value position = g.weight("points/image_position", nn::fourier_map(grid, matrix));
  const Value image = onnx::add(g, onnx::cast(g, inputs.embed, DType::kFloat32), dense);

  const TwoWayInputs two_way{context, tokens, position, bias, dimensions};
  TwoWay state{tokens, nn::to_tokens(g, image)};
  for (std::int64_t i = 0; i < kLayers; ++i) {
    g.set_section(fmt::format("two_way/layer_{}", i));
    state = two_way_layer(two_way, decoder / "transformer" / "layers" / std::to_string(i), state, i == 0);
  }
  g.set_section("two_way/final");
  const Scope transformer = decoder / "transformer";
  const Value seen =
      nn::separate_attention(context, onnx::add(g, state.tokens, tokens), onnx::add(g, state.image, position),
                             state.image, transformer / "final_attn_token_to_image", d / 2, dimensions.heads);
  const Value q =
      nn::layer_norm(context, nn::residual(context, state.tokens, seen), transformer / "norm_final_attn");

  g.set_section("masks");
  const Value fine = upscaled(context, decoder, state.image, inputs, grid);
  const Value flat = onnx::reshape(g, fine, {fine.dimension(0), d / 8, 16 * grid * grid});
  const Value logits = onnx::matmul(g, hypernetworks(context, decoder, q, d), flat);
  g.set_section("scores");
  const nn::Context exact = nn::exact(context);
  const Value iou = nn::mlp(exact, onnx::slice(g, q, 1, 1, 2), decoder / "iou_prediction_head",
                            {dimensions.iou_hidden, dimensions.iou_hidden, kMasks});
  const Value object = nn::mlp(exact, onnx::slice(g, q, 1, 0, 1), decoder / "pred_obj_score_head", {d, d, 1});
  const Value overlap = onnx::squeeze(g, iou, {1});
  return {onnx::reshape(g, logits, {logits.dimension(0), kMasks, 4 * grid, 4 * grid}),
          dimensions.iou_sigmoid ? onnx::sigmoid(g, overlap) : overlap, onnx::squeeze(g, object, {1, 2})};
}

}  // namespace samlet::sam3
