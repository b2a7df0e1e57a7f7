// Position encodings: tables that are constants of a graph, and codes of coordinates that a graph computes.
#pragma once

#include <cstdint>
#include <vector>

#include "libs/nn/blocks.h"

namespace samlet::nn {

/// DETR's sine map of an n x n grid as tokens: f32 [1, n*n, d], row-major. With c_i = (i + 1) / (n + 1e-6) *
/// 2 pi and half = d / 2 channels an axis (y first, then x), channel j is sin (even j) or cos (odd j) of c /
/// 10000^(2 floor(j/2) / half).
[[nodiscard]] LazyTensor sine_map(std::int64_t n, std::int64_t d);

/// The same code of coordinates: x [..., k] of fractions (without the +1) -> [..., k, d] with angles v * 2 pi
/// / 10000^...
onnx::Value sine_code(onnx::Builder& graph, const onnx::Value& x, std::int64_t d);

/// SAM's random Fourier features of (u, v) in 0..1: z = (2u - 1, 2v - 1) G 2 pi, code = [sin z, cos z].
/// points [..., 2], matrix G [2, half] -> [..., 2 * half], all f32.
onnx::Value fourier_code(onnx::Builder& graph, const onnx::Value& points, const onnx::Value& matrix);
/// The same at the cell centres ((x + 0.5) / n, (y + 0.5) / n), row-major: f32 [1, n*n, 2 * half].
[[nodiscard]] LazyTensor fourier_map(std::int64_t n, const LazyTensor& matrix);

/// Rotary tables for one attention sequence: positions[t] = (x, y) of token t, already scaled. Channels are
/// ordered in halves (see rotary_order): of the d/2 angles the first d/4 turn with x, the others with y, at
/// 10000^(-4 j / d). cosine and signed sine, each [t, d].
struct RotaryTables {
  LazyTensor cosine;
  LazyTensor sine;
};
[[nodiscard]] RotaryTables rotary_tables(const std::vector<std::pair<double, double>>& positions,
                                         std::int64_t d);

/// The order of a head's channels that turns interleaved pairs (2p, 2p + 1) into halves (p, d/2 + p): the
/// same rotation without moving single channels about at run time. Applied to the rows of the q and k
/// projections, where it changes nothing else: both factors of q.k are reordered alike.
[[nodiscard]] std::vector<std::int64_t> rotary_order(std::int64_t d);

/// x cos + swap(x) sin for x [..., t, d] in halves, in f32.
onnx::Value rotate(onnx::Builder& graph, const onnx::Value& x, const onnx::Value& cosine,
                   const onnx::Value& sine);

}  // namespace samlet::nn
