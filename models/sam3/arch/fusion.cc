#include <string>

#include <fmt/format.h>

#include "libs/nn/attention.h"
#include "libs/onnx/ops.h"
#include "models/sam3/arch/detector.h"

namespace samlet::sam3 {
namespace {

using nn::Scope;
using onnx::Value;

Scope layer_scope(const DetectorContext& context, std::int64_t index) {
  return Scope(context.weights, "detector.transformer.encoder.layers") / std::to_string(index);
}

/// mem + SelfAttn(q = k = norm1(mem) + position, v = norm1(mem))
Value self_attention(const DetectorContext& context, const Scope& scope, const Value& memory,
                     const Value& position) {
  const nn::Context& nn = context.nn;
  const Value h = nn::layer_norm(nn, memory, scope / "norm1");
  const Value placed = onnx::add(nn.graph, h, position);
  const Value mixed =
      nn::multi_head_attention(nn, placed, placed, h, scope / "self_attn", context.dimensions.heads);
  return nn::residual(nn, memory, mixed);
}

/// The two parts of a layer behind its self-attention: attention to the prompt, feed-forward.
Value prompt_and_feed_forward(const DetectorContext& context, const Scope& scope, const Value& memory,
                              const Prompt& prompt) {
  const nn::Context& nn = context.nn;
  const Value asked =
      nn::multi_head_attention(nn, nn::layer_norm(nn, memory, scope / "norm2"), prompt.tokens, prompt.tokens,
                               scope / "cross_attn_image", context.dimensions.heads, prompt.key_bias);
  const Value m = nn::residual(nn, memory, asked);
  const Value inner = nn::layer_norm(nn, m, scope / "norm3");
  return nn::residual(nn, m, nn::feed_forward(nn, inner, scope, context.dimensions.ffn));
}

}  // namespace

Value fusion_embed(const DetectorContext& context, const ImageTokens& image) {
  context.nn.graph.set_section("fusion/layer_0");
  return self_attention(context, layer_scope(context, 0), image.tokens, image.position);
}

Value fusion_encoder(const DetectorContext& context, const Value& embed, const ImageTokens& image,
                     const Prompt& prompt) {
  Value memory = embed;
  for (std::int64_t i = 0; i < context.dimensions.fusion_layers; ++i) {
    context.nn.graph.set_section(fmt::format("fusion/layer_{}", i));
    const Scope scope = layer_scope(context, i);
    if (i > 0) memory = self_attention(context, scope, memory, image.position);
    memory = prompt_and_feed_forward(context, scope, memory, prompt);
  }
  return memory;
}

}  // namespace samlet::sam3
