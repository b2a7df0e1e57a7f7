// ONNX operators as functions: each adds one node, works out the result's dimensions, and counts what it
// costs. All are of operator set 20 or older. Errors of all: kInternal when operands do not fit, which is a
// fault of the caller.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

#include "libs/onnx/builder.h"

namespace samlet::onnx {

// Elementwise, with NumPy's broadcasting.
Value add(Builder& g, const Value& a, const Value& b);
Value sub(Builder& g, const Value& a, const Value& b);
Value mul(Builder& g, const Value& a, const Value& b);
Value div(Builder& g, const Value& a, const Value& b);
Value minimum(Builder& g, const Value& a, const Value& b);
Value maximum(Builder& g, const Value& a, const Value& b);
Value equal(Builder& g, const Value& a, const Value& b);          ///< bool
Value less(Builder& g, const Value& a, const Value& b);           ///< bool
Value less_or_equal(Builder& g, const Value& a, const Value& b);  ///< bool
Value greater(Builder& g, const Value& a, const Value& b);        ///< bool
Value logical_and(Builder& g, const Value& a, const Value& b);    ///< bool
Value where(Builder& g, const Value& condition, const Value& a, const Value& b);

Value negate(Builder& g, const Value& x);
Value absolute(Builder& g, const Value& x);
Value sign(Builder& g, const Value& x);
Value sine(Builder& g, const Value& x);
Value cosine(Builder& g, const Value& x);
Value logarithm(Builder& g, const Value& x);
Value square_root(Builder& g, const Value& x);
Value round_up(Builder& g, const Value& x);  ///< Ceil
Value sigmoid(Builder& g, const Value& x);
Value relu(Builder& g, const Value& x);
Value gelu(Builder& g, const Value& x);  ///< Exact, by erf (operator set 20).
Value logical_not(Builder& g, const Value& x);
Value clip(Builder& g, const Value& x, float low, float high);
/// The same value as another type; no node when it has it already.
Value cast(Builder& g, const Value& x, DType dtype);

Value softmax(Builder& g, const Value& x, int axis);
/// Over the axes; kept as 1 when `keep`.
Value reduce_mean(Builder& g, const Value& x, const std::vector<std::int64_t>& axes, bool keep);
Value reduce_sum(Builder& g, const Value& x, const std::vector<std::int64_t>& axes, bool keep);
Value reduce_max(Builder& g, const Value& x, const std::vector<std::int64_t>& axes, bool keep);
/// Over the last axis; weight and bias of its size.
Value layer_normalization(Builder& g, const Value& x, const Value& weight, const Value& bias, float epsilon);

Value matmul(Builder& g, const Value& a, const Value& b);
/// x [B, C, H, W], weight [O, C / groups, kh, kw], bias [O] or a Value without a name.
struct ConvOptions {
  std::int64_t stride = 1;
  std::int64_t padding_rows = 0;
  std::int64_t padding_columns = 0;
  std::int64_t groups = 1;
};
Value conv(Builder& g, const Value& x, const Value& weight, const Value& bias, const ConvOptions& options);
/// x [B, C, H, W], weight [C, O, k, k]; the result is stride times as large: padding = (k - stride) / 2.
Value conv_transpose(Builder& g, const Value& x, const Value& weight, const Value& bias, std::int64_t stride);

/// Dimensions that vary must keep their place, but for one, which ONNX works out.
Value reshape(Builder& g, const Value& x, const Dimensions& dimensions);
Value transpose(Builder& g, const Value& x, std::vector<std::int64_t> permutation);
Value unsqueeze(Builder& g, const Value& x, const std::vector<std::int64_t>& axes);
Value squeeze(Builder& g, const Value& x, const std::vector<std::int64_t>& axes);
/// `size` along the axis is worked out where it is fixed; where it is not, `total` names it.
Value concat(Builder& g, std::span<const Value> parts, int axis, const Dimension& total = Dimension(-1));
Value concat(Builder& g, std::initializer_list<Value> parts, int axis,
             const Dimension& total = Dimension(-1));
std::vector<Value> split(Builder& g, const Value& x, int axis, const std::vector<std::int64_t>& sizes);
/// Elements [begin, end) along the axis, which is fixed or (for `end` before it) long enough.
Value slice(Builder& g, const Value& x, int axis, std::int64_t begin, std::int64_t end);
/// Rows of x along the axis by i64 indices of any rank.
Value gather(Builder& g, const Value& x, const Value& indices, int axis);
/// x[i0, i1, ...] for each row of indices i64 [n, k].
Value gather_nd(Builder& g, const Value& x, const Value& indices);
/// Indices of what is not zero: i64 [rank, n], `symbol` names n.
Value nonzero(Builder& g, const Value& x, const char* symbol);
/// The size of one dimension, i64 [1].
Value size_of_dimension(Builder& g, const Value& x, int axis);
/// Broadcasts x to a shape given as i64 [rank], which `dimensions` describes.
Value expand(Builder& g, const Value& x, const Value& shape, Dimensions dimensions);

}  // namespace samlet::onnx
