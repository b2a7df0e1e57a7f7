// Weights on their way into a graph: rearranged, scaled and folded into each other. All are lazy: the work is
// done when the result is written. Sums run in double and in a fixed order, so that every compiler gives the
// same bytes.
#pragma once

#include <cstdint>
#include <vector>

#include "libs/tensor/lazy_tensor.h"

namespace samlet::nn {

/// [a, b] -> [b, a]. PyTorch's Linear stores [out, in], ONNX's MatMul wants [in, out].
[[nodiscard]] LazyTensor transposed(const LazyTensor& tensor);
/// Another shape of the same elements. Errors: kInternal when the counts differ.
[[nodiscard]] LazyTensor reshaped(const LazyTensor& tensor, Shape shape);
/// `count` rows (first axis) from `begin` on.
[[nodiscard]] LazyTensor rows(const LazyTensor& tensor, std::int64_t begin, std::int64_t count);
/// Row i of the result is row order[i].
[[nodiscard]] LazyTensor reordered_rows(const LazyTensor& tensor, std::vector<std::int64_t> order);
/// Rows of one under rows of the other.
[[nodiscard]] LazyTensor stacked(const LazyTensor& above, const LazyTensor& below);
[[nodiscard]] LazyTensor scaled(const LazyTensor& tensor, double factor);
/// Elementwise, of equal shapes.
[[nodiscard]] LazyTensor sum(const LazyTensor& a, const LazyTensor& b);

/// A weight and its bias.
struct Affine {
  LazyTensor weight;
  LazyTensor bias;  // [out]
};

/// The affine map `second` after `first`, for 1x1 and linear maps: weights [out, mid] and [mid, in...] of any
/// further axes: W = W2 W1, b = W2 b1 + b2.
[[nodiscard]] Affine composed(const Affine& second, const Affine& first);
/// A 1x1 convolution `second` [out, mid, 1, 1] after a transposed one `first` [in, mid, k, k]: [in, out, k,
/// k]. Exact where the kernel is as large as the stride, so that no two taps meet.
[[nodiscard]] Affine composed_transposed(const Affine& second, const Affine& first);

/// A 3x3 convolution with padding 1 after a nearest-neighbour doubling, as one transposed convolution with
/// stride 2 and padding 1: [out, in, 3, 3] -> [in, out, 4, 4]. Doubling shows each pixel to two taps of a row
/// at once; with w0 w1 w2 along an axis, even outputs are w0 y[i-1] + (w1 + w2) y[i] and odd ones (w0 + w1)
/// y[i] + w2 y[i+1], which is the kernel [w2, w1 + w2, w0 + w1, w0] of a transposed convolution. Borders
/// agree: both see zeros outside.
[[nodiscard]] LazyTensor doubled_then_convolved(const LazyTensor& weight);

}  // namespace samlet::nn
