#include "models/sam3/arch/text.h"

#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "libs/nn/attention.h"
#include "libs/onnx/ops.h"

namespace samlet::sam3 {
namespace {

using nn::Context;
using nn::Scope;
using onnx::Builder;
using onnx::Value;

/// -1e9 above the diagonal: [1, 1, C, C].
Value causal_bias(Builder& g, std::int64_t context) {
  constexpr float kMasked = -1e9F;
  std::vector<float> values;
  for (std::int64_t q = 0; q < context; ++q) {
    for (std::int64_t k = 0; k < context; ++k) values.push_back(k > q ? kMasked : 0.0F);
  }
  return g.weight("text/causal_bias", LazyTensor::of({1, 1, context, context}, std::move(values)));
}

Value tower_block(const Context& context, const Value& x, const Scope& scope, const TextDimensions& d,
                  const Value& causal) {
  const Value h = nn::layer_norm(context, x, scope / "ln_1");
  const Value y =
      nn::residual(context, x, nn::multi_head_attention(context, h, h, h, scope / "attn", d.heads, causal));
  const Value inner =
      nn::linear(context, nn::layer_norm(context, y, scope / "ln_2"), scope / "mlp" / "c_fc", d.mlp);
  return nn::residual(
      context, y, nn::linear(context, onnx::gelu(context.graph, inner), scope / "mlp" / "c_proj", d.width));
}

}  // namespace

Value is_padding(Builder& g, const Value& tokens) {
  return onnx::equal(g, tokens, g.scalar(std::int64_t{0}));
}

TextOutputs in_slots(Builder& g, const Value& features, const Value& masked, const Value& embedded) {
  const std::int64_t missing = kTextSlots - features.size(1);
  if (missing == 0) return {features, masked, embedded};
  const Value batch = onnx::size_of_dimension(g, features, 0);
  const onnx::Dimension& b = features.dimension(0);
  const std::int64_t d = features.size(2);
  const Value zeros = onnx::expand(g, g.constant(std::vector<float>{0.0F}, {1, 1, 1}),
                                   onnx::concat(g, {batch, g.indices({missing, d})}, 0), {b, missing, d});
  const Value unused = onnx::expand(g, g.constant(std::vector<bool>{true}, {1, 1}),
                                    onnx::concat(g, {batch, g.indices({missing})}, 0), {b, missing});
  return {onnx::concat(g, {features, zeros}, 1), onnx::concat(g, {masked, unused}, 1), embedded};
}

TextOutputs text_encoder(const Context& context, const Value& tokens, nn::WeightSource& weights,
                         const TextDimensions& d, std::int64_t width) {
  Builder& g = context.graph;
  const Scope backbone(weights, "detector.backbone.language_backbone");
  const Scope encoder = backbone / "encoder";
  g.set_section("text/embedding");
  const Value table =
      g.weight("detector.backbone.language_backbone.encoder.token_embedding.weight",
               (encoder / "token_embedding").get("weight", {d.vocabulary, d.width}), context.precision);
  const LazyTensor positions = encoder.get("positional_embedding", {d.context, d.width});
  const Value embedded = onnx::cast(g, onnx::gather(g, table, tokens, 0), DType::kFloat32);
  Value x = onnx::add(g, embedded, g.weight("text/position", positions));
  const Value causal = causal_bias(g, d.context);
  for (std::int64_t i = 0; i < d.layers; ++i) {
    g.set_section(fmt::format("text/block_{:02}", i));
    x = tower_block(context, x, encoder / "transformer" / "resblocks" / std::to_string(i), d, causal);
  }
  g.set_section("text/output");
  const Value features = nn::linear(nn::exact(context), nn::layer_norm(context, x, encoder / "ln_final"),
                                    backbone / "resizer", width);
  return in_slots(g, features, is_padding(g, tokens), embedded);
}

}  // namespace samlet::sam3
