#include "models/sam3/arch/mask_head.h"

#include <string>

#include <fmt/format.h>

#include "libs/nn/attention.h"
#include "libs/onnx/ops.h"

namespace samlet::sam3 {
namespace {

using nn::Scope;
using onnx::Builder;
using onnx::Value;

constexpr std::int64_t kGroups = 8;

Scope head_scope(const DetectorContext& context) {
  return {context.weights, "detector.segmentation_head"};
}

}  // namespace

Value mask_features(const DetectorContext& context, const Value& level, int step) {
  context.nn.graph.set_section(fmt::format("mask_features_{}", step));
  const Scope conv = head_scope(context) / "pixel_decoder" / "conv_layers" / std::to_string(step);
  return nn::conv(context.nn, level, conv, context.dimensions.width, 3);
}

Value mask_embedding(const DetectorContext& context, const Value& states) {
  const std::int64_t d = context.dimensions.width;
  context.nn.graph.set_section("masks/embedding");
  return nn::mlp(nn::exact(context.nn), states, head_scope(context) / "mask_predictor" / "mask_embed",
                 {d, d, d});
}

Value pixel_embedding(const DetectorContext& context, const Value& memory, const Prompt& prompt,
                      const MaskFeatures& features) {
  const nn::Context& nn = context.nn;
  Builder& g = nn.graph;
  const Scope scope = head_scope(context);
  const std::int64_t d = context.dimensions.width;
  g.set_section("masks/prompt");
  const Value asked = nn::multi_head_attention(nn, nn::layer_norm(nn, memory, scope / "cross_attn_norm"),
                                               prompt.tokens, prompt.tokens, scope / "cross_attend_prompt",
                                               context.dimensions.heads, prompt.key_bias);
  Value y = nn::to_map(g, nn::residual(nn, memory, asked), context.grid);
  for (int step = 0; step < 2; ++step) {
    g.set_section(fmt::format("masks/step_{}", step));
    const Scope conv = scope / "pixel_decoder" / "conv_layers" / std::to_string(step);
    const nn::Affine second{nn::doubled_then_convolved(conv.get("weight", {d, d, 3, 3})), {}};
    const Value doubled = nn::conv_transpose(nn, y, second, conv.prefix());
    const Value summed = nn::residual(nn, features[static_cast<std::size_t>(step)], doubled);
    y = onnx::relu(
        g, nn::group_norm(nn, summed, scope / "pixel_decoder" / "norms" / std::to_string(step), kGroups));
  }
  return onnx::reshape(g, y, {y.dimension(0), d, 16 * context.grid * context.grid});
}

Value mask_logits(const DetectorContext& context, const Value& embedding, const Value& pixels) {
  Builder& g = context.nn.graph;
  const Scope head = head_scope(context) / "instance_seg_head";
  const std::int64_t d = context.dimensions.width;
  const nn::Affine instance = nn::affine(head, {d, d, 1, 1});
  g.set_section("masks/logits");
  const Value weight =
      g.weight(head.prefix() + ".weight", nn::reshaped(instance.weight, {d, d}));  // [out, in]
  const Value bias = g.weight(head.prefix() + ".bias", nn::reshaped(instance.bias, {d, 1}));
  const Value moved = onnx::matmul(g, embedding, weight);  // e W
  const Value offset = onnx::matmul(g, embedding, bias);   // e b, [..., n, 1]
  const Value product = onnx::matmul(g, onnx::cast(g, moved, context.nn.precision),
                                     onnx::cast(g, pixels, context.nn.precision));
  return onnx::add(g, onnx::cast(g, product, DType::kFloat32), offset);
}

}  // namespace samlet::sam3
