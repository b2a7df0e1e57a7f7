#include "models/sam3/arch/vision.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libs/nn/attention.h"
#include "libs/nn/position.h"
#include "libs/onnx/ops.h"

namespace samlet::sam3 {
namespace {

using nn::Affine;
using nn::Context;
using nn::Scope;
using onnx::Builder;
using onnx::Value;

constexpr std::string_view kVision = "detector.backbone.vision_backbone";

/// Row and column of each patch in window order: windows row-major, patches within each row-major.
std::vector<std::pair<std::int64_t, std::int64_t>> window_order(const VisionDimensions& d) {
  std::vector<std::pair<std::int64_t, std::int64_t>> order;
  const std::int64_t windows = d.grid() / d.window;
  for (std::int64_t wy = 0; wy < windows; ++wy) {
    for (std::int64_t wx = 0; wx < windows; ++wx) {
      for (std::int64_t y = 0; y < d.window; ++y) {
        for (std::int64_t x = 0; x < d.window; ++x) order.emplace_back(wy * d.window + y, wx * d.window + x);
      }
    }
  }
  return order;
}

/// (v - 127.5) / 127.5 before a convolution without padding is another convolution.
Affine patch_projection(const Scope& scope, const VisionDimensions& d) {
  const LazyTensor weight = scope.get("weight", {d.width, 3, d.patch, d.patch});
  const LazyTensor bias({d.width}, [weight](const LazyTensor::Sink& sink) {
    const auto values = weight.values();
    const auto outs = static_cast<std::size_t>(weight.shape()[0]);
    const std::size_t length = values.size() / outs;
    std::vector<float> sums;
    for (std::size_t o = 0; o < outs; ++o) {
      double sum = 0;
      for (std::size_t i = 0; i < length; ++i) sum += static_cast<double>(values[o * length + i]);
      sums.push_back(static_cast<float>(-sum));
    }
    sink(sums);
  });
  return {nn::scaled(weight, 1.0 / 127.5), bias};
}

/// The stored table tiled over the grid, in window order: [windows, w*w, C], or [1, w*w, C] where every
/// window sees the whole table.
LazyTensor position_table(const LazyTensor& table, const VisionDimensions& d) {
  if (d.pretrain_grid == d.window) return table;  // [1, w*w, C]
  std::vector<std::int64_t> order;
  for (const auto& [y, x] : window_order(d)) {
    order.push_back(y % d.pretrain_grid * d.pretrain_grid + x % d.pretrain_grid);
  }
  const LazyTensor flat = nn::reshaped(table, {d.pretrain_grid * d.pretrain_grid, d.width});
  const std::int64_t windows = d.grid() / d.window;
  return nn::reshaped(nn::reordered_rows(flat, order), {windows * windows, d.window * d.window, d.width});
}

/// [1, C, g, g] -> [windows, w*w, C]
Value to_windows(Builder& g, const Value& map, const VisionDimensions& d) {
  const std::int64_t windows = d.grid() / d.window;
  const Value apart = onnx::reshape(g, map, {d.width, windows, d.window, windows, d.window});
  return onnx::reshape(g, onnx::transpose(g, apart, {1, 3, 2, 4, 0}),
                       {windows * windows, d.window * d.window, d.width});
}

/// [windows, w*w, C] -> [1, C, g, g]
Value from_windows(Builder& g, const Value& tokens, const VisionDimensions& d) {
  const std::int64_t windows = d.grid() / d.window;
  const Value apart = onnx::reshape(g, tokens, {windows, windows, d.window, d.window, d.width});
  return onnx::reshape(g, onnx::transpose(g, apart, {4, 0, 2, 1, 3}), {1, d.width, d.grid(), d.grid()});
}

/// Cosine and sine as initializers, [tokens, head dimension].
struct Rotary {
  Value cosine;
  Value sine;
};

Rotary rotary(Builder& g, const std::string& name, const std::vector<std::pair<double, double>>& positions,
              std::int64_t head) {
  const nn::RotaryTables tables = nn::rotary_tables(positions, head);
  return {g.weight("vision/rotary_" + name + "_cosine", tables.cosine),
          g.weight("vision/rotary_" + name + "_sine", tables.sine)};
}

Rotary window_rotary(Builder& g, const VisionDimensions& d) {
  std::vector<std::pair<double, double>> positions;
  for (std::int64_t t = 0; t < d.window * d.window; ++t) {
    const std::int64_t row = t / d.window;
    positions.emplace_back(static_cast<double>(t % d.window), static_cast<double>(row));
  }
  return rotary(g, "window", positions, d.width / d.heads);
}

Rotary global_rotary(Builder& g, const VisionDimensions& d) {
  const double scale = static_cast<double>(d.window) / static_cast<double>(d.grid());
  std::vector<std::pair<double, double>> positions;
  for (const auto& [y, x] : window_order(d)) {
    positions.emplace_back(static_cast<double>(x) * scale, static_cast<double>(y) * scale);
  }
  return rotary(g, "global", positions, d.width / d.heads);
}

/// The packed projection with the channels of each q and k head in halves, and 1/sqrt(head) in q.
Affine packed_projection(const Scope& scope, const VisionDimensions& d) {
  const Affine stored = nn::affine(scope, {3 * d.width, d.width});
  const std::int64_t head = d.width / d.heads;
  std::vector<std::int64_t> order;
  for (std::int64_t h = 0; h < d.heads; ++h) {
    for (const std::int64_t channel : nn::rotary_order(head)) order.push_back(h * head + channel);
  }
  const double scale = nn::query_scale(d.width, d.heads);
  const auto arranged = [&](const LazyTensor& all) {
    const LazyTensor q = nn::scaled(nn::reordered_rows(nn::rows(all, 0, d.width), order), scale);
    const LazyTensor k = nn::reordered_rows(nn::rows(all, d.width, d.width), order);
    return nn::stacked(nn::stacked(q, k), nn::rows(all, 2 * d.width, d.width));
  };
  return {arranged(stored.weight), arranged(stored.bias)};
}

/// x [W, T, C] -> [W, T, C], attention within each of the W sequences.
Value attention(const Context& context, const Value& x, const Scope& scope, const VisionDimensions& d,
                const Rotary& rotary) {
  Builder& g = context.graph;
  const std::int64_t sequences = x.size(0);
  const std::int64_t tokens = x.size(1);
  const std::int64_t head = d.width / d.heads;
  const Value packed = nn::linear(context, x, packed_projection(scope / "qkv", d), (scope / "qkv").prefix());
  const Value apart = onnx::reshape(g, packed, {sequences, tokens, 3, d.heads, head});
  const Value sorted = onnx::transpose(g, apart, {2, 0, 3, 1, 4});  // [3, W, heads, T, head]
  const auto parts = onnx::split(g, sorted, 0, {2, 1});
  const Value turned = onnx::cast(g, nn::rotate(g, parts[0], rotary.cosine, rotary.sine), context.precision);
  const auto q_and_k = onnx::split(g, turned, 0, {1, 1});
  const Value mixed = nn::attend(context, onnx::squeeze(g, q_and_k[0], {0}),
                                 onnx::squeeze(g, q_and_k[1], {0}), onnx::squeeze(g, parts[1], {0}));
  return nn::linear(context, nn::merge_heads(g, mixed), scope / "proj", d.width);
}

Value block(const Context& context, const Value& x, const Scope& scope, const VisionDimensions& d,
            const Rotary& rotary, bool global) {
  Builder& g = context.graph;
  const Value normed = nn::layer_norm(context, x, scope / "norm1");
  const std::int64_t tokens = d.grid() * d.grid();
  const Value sequences = global ? onnx::reshape(g, normed, {1, tokens, d.width}) : normed;
  const Value mixed =
      onnx::reshape(g, attention(context, sequences, scope / "attn", d, rotary), x.dimensions);
  const Value y = nn::residual(context, x, mixed);
  const Value inner =
      nn::linear(context, nn::layer_norm(context, y, scope / "norm2"), scope / "mlp" / "fc1", d.mlp);
  return nn::residual(context, y, nn::linear(context, onnx::gelu(g, inner), scope / "mlp" / "fc2", d.width));
}

Affine transposed_affine(const Scope& scope, std::int64_t in, std::int64_t out) {
  return nn::affine(scope, {in, out, 2, 2}, out);
}

/// The levels up to their 3x3 convolution, which the two necks end in differently.
struct NeckLevel {
  Value features;  // [1, D, n, n]
  Affine last;     // the 3x3 convolution D -> D
  std::string name;
};

std::array<NeckLevel, 3> neck_levels(const Context& context, const Value& trunk, const Scope& neck,
                                     std::int64_t width) {
  Builder& g = context.graph;
  const std::int64_t c = trunk.size(1);
  const auto pointwise = [&](const Scope& scope, std::int64_t in) {
    return nn::affine(scope / "conv_1x1", {width, in, 1, 1});
  };
  const Scope fine = neck / "0";
  g.set_section(neck.prefix() + ".0");
  const Affine up_0 = transposed_affine(fine / "dconv_2x2_0", c, c / 2);
  const Affine up_1 = transposed_affine(fine / "dconv_2x2_1", c / 2, c / 4);
  Value level_0 = onnx::gelu(g, nn::conv_transpose(context, trunk, up_0, (fine / "dconv_2x2_0").prefix()));
  level_0 = nn::conv_transpose(context, level_0, nn::composed_transposed(pointwise(fine, c / 4), up_1),
                               (fine / "dconv_2x2_1").prefix());
  const Scope middle = neck / "1";
  g.set_section(neck.prefix() + ".1");
  const Affine up = transposed_affine(middle / "dconv_2x2", c, c / 2);
  const Value level_1 = nn::conv_transpose(
      context, trunk, nn::composed_transposed(pointwise(middle, c / 2), up), (middle / "dconv_2x2").prefix());
  const Scope coarse = neck / "2";
  g.set_section(neck.prefix() + ".2");
  const Value level_2 = nn::conv(context, trunk, pointwise(coarse, c), (coarse / "conv_1x1").prefix());

  const auto last = [&](const Scope& scope) { return nn::affine(scope / "conv_3x3", {width, width, 3, 3}); };
  return {NeckLevel{level_0, last(fine), (fine / "conv_3x3").prefix()},
          NeckLevel{level_1, last(middle), (middle / "conv_3x3").prefix()},
          NeckLevel{level_2, last(coarse), (coarse / "conv_3x3").prefix()}};
}

}  // namespace

Value vision_trunk(const Context& context, const Value& image, nn::WeightSource& weights,
                   const VisionDimensions& d) {
  Builder& g = context.graph;
  const Scope trunk = Scope(weights, std::string(kVision)) / "trunk";
  g.set_section("vision/patches");
  const Value pixels = onnx::unsqueeze(g, onnx::cast(g, image, DType::kFloat32), {0});
  // Grey levels up to 255 times small weights: in half precision the rounding would be that of the sum.
  const Value patches =
      nn::conv(nn::exact(context), pixels, patch_projection(trunk / "patch_embed" / "proj", d),
               "vision/patch_embed", d.patch);
  const LazyTensor table = trunk.get("pos_embed", {1, d.pretrain_grid * d.pretrain_grid, d.width});
  Value x = onnx::add(g, to_windows(g, patches, d), g.weight("vision/position", position_table(table, d)));
  x = nn::layer_norm(context, x, trunk / "ln_pre");
  const Rotary window = window_rotary(g, d);
  const Rotary global = global_rotary(g, d);
  for (std::int64_t i = 0; i < d.depth; ++i) {
    g.set_section(fmt::format("vision/block_{:02}", i));
    const bool is_global =
        std::find(d.global_blocks.begin(), d.global_blocks.end(), i) != d.global_blocks.end();
    x = block(context, x, trunk / "blocks" / std::to_string(i), d, is_global ? global : window, is_global);
  }
  g.set_section("vision");
  return from_windows(g, x, d);
}

Pyramid detector_neck(const Context& context, const Value& trunk, nn::WeightSource& weights,
                      std::int64_t width) {
  const Scope neck = Scope(weights, std::string(kVision)) / "convs";
  Pyramid pyramid;
  const auto levels = neck_levels(context, trunk, neck, width);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    pyramid.levels[i] = nn::conv(context, levels[i].features, levels[i].last, levels[i].name);
  }
  return pyramid;
}

Pyramid point_neck(const Context& context, const Value& trunk, nn::WeightSource& weights,
                   std::int64_t width) {
  const Scope neck = Scope(weights, std::string(kVision)) / "sam2_convs";
  const Scope decoder(weights, "tracker.sam_mask_decoder");
  auto levels = neck_levels(context, trunk, neck, width);
  // The 1x1 convolutions stand right behind the 3x3 ones, with nothing in between.
  levels[0].last = nn::composed(nn::affine(decoder / "conv_s0", {width / 8, width, 1, 1}), levels[0].last);
  levels[1].last = nn::composed(nn::affine(decoder / "conv_s1", {width / 4, width, 1, 1}), levels[1].last);
  const LazyTensor no_memory = Scope(weights, "tracker").get("no_mem_embed", {1, 1, width});
  levels[2].last.bias = nn::sum(levels[2].last.bias, nn::reshaped(no_memory, {width}));
  Pyramid pyramid;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    pyramid.levels[i] = nn::conv(context, levels[i].features, levels[i].last, levels[i].name);
  }
  return pyramid;
}

}  // namespace samlet::sam3
