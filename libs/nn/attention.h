// Scaled dot-product attention, spelled out in operators that every ONNX Runtime has.
#pragma once

#include <cstdint>
#include <optional>

#include "libs/nn/blocks.h"

namespace samlet::nn {

/// [B, L, heads * d] -> [B, heads, L, d]
onnx::Value split_heads(onnx::Builder& graph, const onnx::Value& x, std::int64_t heads);
/// [B, heads, L, d] -> [B, L, heads * d]
onnx::Value merge_heads(onnx::Builder& graph, const onnx::Value& x);

/// softmax(q k^T + bias) v for q, k, v of [..., L, d]; the factor 1/sqrt(d) is already in q. `bias`
/// broadcasts against
/// [..., Lq, Lk] and is f32, as the softmax is. When the scores of one call would exceed kMostScoreBytes, the
/// queries are taken in equal pieces, each attending to all keys: the same result in less memory.
onnx::Value attend(const Context& context, const onnx::Value& q, const onnx::Value& k, const onnx::Value& v,
                   const std::optional<onnx::Value>& bias = std::nullopt);
inline constexpr double kMostScoreBytes = 128.0 * 1024 * 1024;

/// PyTorch's MultiheadAttention with "in_proj_weight" [3D, D] (rows q, k, v), "in_proj_bias" and "out_proj".
/// q [B, Lq, D]; k, v [B, Lk, D] or with batch 1 for all.
onnx::Value multi_head_attention(const Context& context, const onnx::Value& q, const onnx::Value& k,
                                 const onnx::Value& v, const Scope& scope, std::int64_t heads,
                                 const std::optional<onnx::Value>& bias = std::nullopt);

/// SAM's attention with "q_proj", "k_proj", "v_proj" to `inner` channels and "out_proj" back.
onnx::Value separate_attention(const Context& context, const onnx::Value& q, const onnx::Value& k,
                               const onnx::Value& v, const Scope& scope, std::int64_t inner,
                               std::int64_t heads, const std::optional<onnx::Value>& bias = std::nullopt);

/// 1 / sqrt(channels of a head), which `attend` expects to be in q already.
[[nodiscard]] double query_scale(std::int64_t channels, std::int64_t heads);

/// Additive bias f32 [B, 1, 1, L] from a mask bool [B, L], True = not to be attended: 0 or -1e9, which is as
/// good as minus infinity and cannot make a NaN.
onnx::Value key_bias(onnx::Builder& graph, const onnx::Value& masked);

}  // namespace samlet::nn
