// The blocks that models are made of, each emitting its part of a graph. Weights are looked up by scope under
// PyTorch's names ("weight", "bias"), their sizes follow from the input and the stated output size.
#pragma once

#include <cstdint>
#include <string>

#include "libs/nn/transform.h"
#include "libs/nn/weight_source.h"
#include "libs/onnx/builder.h"

namespace samlet::nn {

/// Where blocks write to, and the type in which the heavy products are computed and their weights stored: f32
/// or f16. Norms, softmax and whatever is called with `exact(context)` stay in f32.
struct Context {
  onnx::Builder& graph;
  DType precision = DType::kFloat32;
};

/// The same graph, all in f32.
[[nodiscard]] inline Context exact(const Context& context) {
  return {context.graph, DType::kFloat32};
}

/// Weight and bias of a scope: "weight" of the shape and "bias" of its first axis (or `bias_size`).
[[nodiscard]] Affine affine(const Scope& scope, const Shape& weight);
[[nodiscard]] Affine affine(const Scope& scope, const Shape& weight, std::int64_t bias_size);

/// x [..., in] -> [..., out] by weight [out, in] and bias [out], in the context's precision. `name` is what
/// the weights are called in the graph.
onnx::Value linear(const Context& context, const onnx::Value& x, const Affine& affine,
                   const std::string& name);
/// The same by the scope's own weights.
onnx::Value linear(const Context& context, const onnx::Value& x, const Scope& scope, std::int64_t out);

/// Over the last axis, in f32 whatever comes in.
onnx::Value layer_norm(const Context& context, const onnx::Value& x, const Scope& scope,
                       float epsilon = 1e-5F);
/// Over the channels of [B, C, H, W], epsilon 1e-6, in f32 (SAM's LayerNorm2d).
onnx::Value layer_norm_2d(const Context& context, const onnx::Value& x, const Scope& scope);
/// Over groups of channels of [B, C, H, W], epsilon 1e-5, in f32. Spelled out: GroupNormalization of operator
/// set 18 has one scale a group, and that of 21 is too new.
onnx::Value group_norm(const Context& context, const onnx::Value& x, const Scope& scope, std::int64_t groups);

/// [B, C, H, W] by weight [out, C, k, k], padding (k - 1) / 2.
onnx::Value conv(const Context& context, const onnx::Value& x, const Affine& affine, const std::string& name,
                 std::int64_t stride = 1);
onnx::Value conv(const Context& context, const onnx::Value& x, const Scope& scope, std::int64_t out,
                 std::int64_t kernel, std::int64_t stride = 1);
/// [B, C, H, W] by weight [C, out, k, k]: twice as large. Without bias when the bias is empty.
onnx::Value conv_transpose(const Context& context, const onnx::Value& x, const Affine& affine,
                           const std::string& name);

/// x + y in f32, the type of all residual streams: sums of many terms lose most in half precision.
onnx::Value residual(const Context& context, const onnx::Value& x, const onnx::Value& y);

/// Linear layers "layers.0", "layers.1", ... with ReLU between them; `widths` are their outputs.
onnx::Value mlp(const Context& context, const onnx::Value& x, const Scope& scope,
                const std::vector<std::int64_t>& widths);

/// linear2(relu(linear1(x))), the feed-forward part of a DETR layer.
onnx::Value feed_forward(const Context& context, const onnx::Value& x, const Scope& scope,
                         std::int64_t hidden);

/// [1, D, n, n] -> [1, n*n, D] and back, row-major.
onnx::Value to_tokens(onnx::Builder& graph, const onnx::Value& map);
onnx::Value to_map(onnx::Builder& graph, const onnx::Value& tokens, std::int64_t side);

}  // namespace samlet::nn
