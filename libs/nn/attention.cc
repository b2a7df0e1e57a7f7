#include "libs/nn/attention.h"

#include <cmath>
#include <vector>

#include "libs/onnx/ops.h"

namespace samlet::nn {

using onnx::Builder;
using onnx::Value;

namespace {

/// Attention of some of the queries. k is [..., d, Lk].
Value attend_once(const Context& context, const Value& q, const Value& k_transposed, const Value& v,
                  const std::optional<Value>& bias) {
  Builder& g = context.graph;
  Value scores = onnx::cast(g, onnx::matmul(g, q, k_transposed), DType::kFloat32);
  if (bias) scores = onnx::add(g, scores, *bias);
  const Value weights = onnx::cast(g, onnx::softmax(g, scores, -1), context.precision);
  return onnx::matmul(g, weights, v);
}

/// In how many equal pieces the queries are taken: the fewest that keep the scores small enough.
std::int64_t pieces(const Value& q, const Value& k) {
  const onnx::Dimension& queries = q.dimension(-2);
  if (!queries.is_fixed()) return 1;
  double scores = sizeof(float) * onnx::count_at_one({queries, k.dimension(-2)});
  for (std::size_t i = 0; i + 2 < q.rank(); ++i) scores *= onnx::count_at_one({q.dimensions[i]});
  std::int64_t count = 1;
  while (count < queries.size() &&
         (scores / static_cast<double>(count) > kMostScoreBytes || queries.size() % count != 0)) {
    ++count;
  }
  return count;
}

/// The part of a bias that belongs to queries [begin, end); one row for all queries serves every part.
std::optional<Value> bias_of(Builder& g, const std::optional<Value>& bias, std::int64_t begin,
                             std::int64_t end) {
  if (!bias || bias->dimension(-2) == onnx::Dimension(1)) return bias;
  return onnx::slice(g, *bias, static_cast<int>(bias->rank()) - 2, begin, end);
}

struct Projected {
  Value q;
  Value k;
  Value v;
};

Value attend_heads(const Context& context, const Projected& projected, std::int64_t heads,
                   const std::optional<Value>& bias) {
  Builder& g = context.graph;
  return merge_heads(g, attend(context, split_heads(g, projected.q, heads),
                               split_heads(g, projected.k, heads), split_heads(g, projected.v, heads), bias));
}

}  // namespace

double query_scale(std::int64_t channels, std::int64_t heads) {
  const std::int64_t head = channels / heads;
  return 1.0 / std::sqrt(static_cast<double>(head));
}

Value split_heads(Builder& graph, const Value& x, std::int64_t heads) {
  const Value apart = onnx::reshape(graph, x, {x.dimension(0), x.dimension(1), heads, x.size(2) / heads});
  return onnx::transpose(graph, apart, {0, 2, 1, 3});
}

Value merge_heads(Builder& graph, const Value& x) {
  const Value tokens_first = onnx::transpose(graph, x, {0, 2, 1, 3});
  return onnx::reshape(graph, tokens_first, {x.dimension(0), x.dimension(2), x.size(1) * x.size(3)});
}

Value attend(const Context& context, const Value& q, const Value& k, const Value& v,
             const std::optional<Value>& bias) {
  Builder& g = context.graph;
  const auto rank = static_cast<std::int64_t>(k.rank());
  std::vector<std::int64_t> swap_last;
  for (std::int64_t i = 0; i + 2 < rank; ++i) swap_last.push_back(i);
  swap_last.insert(swap_last.end(), {rank - 1, rank - 2});
  const Value k_transposed = onnx::transpose(g, k, swap_last);
  const std::int64_t count = pieces(q, k);
  if (count == 1) return attend_once(context, q, k_transposed, v, bias);
  const std::int64_t size = q.size(-2) / count;
  const int axis = static_cast<int>(q.rank()) - 2;
  std::vector<Value> parts;
  for (const Value& part :
       onnx::split(g, q, axis, std::vector<std::int64_t>(static_cast<std::size_t>(count), size))) {
    const auto begin = static_cast<std::int64_t>(parts.size()) * size;
    parts.push_back(attend_once(context, part, k_transposed, v, bias_of(g, bias, begin, begin + size)));
  }
  return onnx::concat(g, parts, axis);
}

Value multi_head_attention(const Context& context, const Value& q, const Value& k, const Value& v,
                           const Scope& scope, std::int64_t heads, const std::optional<Value>& bias) {
  const std::int64_t d = q.size(-1);
  const LazyTensor weight = scope.get("in_proj_weight", {3 * d, d});
  const LazyTensor offset = scope.get("in_proj_bias", {3 * d});
  const double scale = query_scale(d, heads);
  const auto part = [&](std::int64_t index) {
    return Affine{rows(weight, index * d, d), rows(offset, index * d, d)};
  };
  const auto project = [&](const Value& x, const Affine& affine, const char* name) {
    return linear(context, x, affine, scope.prefix() + "." + name);
  };
  const Affine query{scaled(part(0).weight, scale), scaled(part(0).bias, scale)};
  const Projected projected{project(q, query, "q_proj"), project(k, part(1), "k_proj"),
                            project(v, part(2), "v_proj")};
  return linear(context, attend_heads(context, projected, heads, bias), scope / "out_proj", d);
}

Value separate_attention(const Context& context, const Value& q, const Value& k, const Value& v,
                         const Scope& scope, std::int64_t inner, std::int64_t heads,
                         const std::optional<Value>& bias) {
  const std::int64_t d = q.size(-1);
  const double scale = query_scale(inner, heads);
  Affine query = affine(scope / "q_proj", {inner, d});
  query = {scaled(query.weight, scale), scaled(query.bias, scale)};
  const Projected projected{linear(context, q, query, (scope / "q_proj").prefix()),
                            linear(context, k, scope / "k_proj", inner),
                            linear(context, v, scope / "v_proj", inner)};
  return linear(context, attend_heads(context, projected, heads, bias), scope / "out_proj", d);
}

Value key_bias(Builder& graph, const Value& masked) {
  constexpr float kMasked = -1e9F;
  const Value bias = onnx::where(graph, masked, graph.scalar(kMasked), graph.scalar(0.0F));
  return onnx::unsqueeze(graph, bias, {1, 2});
}

}  // namespace samlet::nn
