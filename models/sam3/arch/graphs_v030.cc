#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libs/nn/position.h"
#include "libs/onnx/ops.h"
#include "models/sam3/arch/graphs.h"
#include "models/sam3/arch/selection.h"
#include "models/sam3/arch/vision.h"
#include "models/sam3/contract.h"

namespace samlet::sam3 {
namespace {

using onnx::Builder;
using onnx::Value;

/// The sine map of an n x n grid, f32 [1, D, n, n], from one row of codes: the map itself would be 85 MB at
/// the finest level of the released model.
Value position_map(Builder& g, std::int64_t n, std::int64_t d) {
  // Column x of row 0 of the map: its second half of channels is the code of x, which serves for y as well.
  const LazyTensor map = nn::sine_map(n, d);
  const LazyTensor codes({n, d / 2}, [map, n, d](const LazyTensor::Sink& sink) {
    const auto values = nn::rows(nn::reshaped(map, {n * n, d}), 0, n).values();
    for (std::int64_t x = 0; x < n; ++x) {
      sink(std::span<const float>(values).subspan(static_cast<std::size_t>(x * d + d / 2),
                                                  static_cast<std::size_t>(d / 2)));
    }
  });
  const Value code = g.weight(fmt::format("position_code_{}", n), nn::transposed(codes));  // [D/2, n]
  const Value shape = g.indices({1, d / 2, n, n});
  const onnx::Dimensions half{1, d / 2, n, n};
  const Value y = onnx::expand(g, onnx::reshape(g, code, {1, d / 2, n, 1}), shape, half);
  const Value x = onnx::expand(g, onnx::reshape(g, code, {1, d / 2, 1, n}), shape, half);
  return onnx::concat(g, {y, x}, 1);
}

std::unique_ptr<Builder> language_outputs(std::unique_ptr<Builder> builder, const TextOutputs& text,
                                          const Value& embedded) {
  Builder& g = *builder;
  g.output(v030::kTextMask, text.masked);
  g.output(v030::kTextMemory, onnx::transpose(g, text.features, {1, 0, 2}));
  g.output("text_embeds", onnx::transpose(g, embedded, {1, 0, 2}));
  return builder;
}

struct DecoderInputs {
  ImageTokens image;
  Value fine;    // backbone_fpn_0
  Value middle;  // backbone_fpn_1
  Value text;
  Value text_masked;
  BoxInputs boxes;
};

DecoderInputs decoder_inputs(const DetectorContext& context) {
  Builder& g = context.nn.graph;
  const std::int64_t d = context.dimensions.width;
  const std::int64_t grid = context.grid;
  const Value position = g.input(v030::kPosition2, DType::kFloat32, {1, d, grid, grid});
  const Value fine = g.input(v030::kFeatures0, DType::kFloat32, {1, d, 4 * grid, 4 * grid});
  const Value middle = g.input(v030::kFeatures1, DType::kFloat32, {1, d, 2 * grid, 2 * grid});
  const Value coarse = g.input(v030::kFeatures2, DType::kFloat32, {1, d, grid, grid});
  const Value text_masked = g.input(v030::kLanguageMask, DType::kBool, {1, kTextSlots});
  const Value text = g.input(v030::kLanguageFeatures, DType::kFloat32, {kTextSlots, 1, d});
  const Value coords = g.input(v030::kBoxCoords, DType::kFloat32, {1, 1, 4});
  const Value labels = g.input(v030::kBoxLabels, DType::kInt64, {1, 1});
  const Value unused = g.input(v030::kBoxMasks, DType::kBool, {1, 1});
  // One slot and one prompt: [N, B] and [B, N] are the same here.
  return {{nn::to_tokens(g, coarse), coarse, nn::to_tokens(g, position)},
          fine,
          middle,
          onnx::transpose(g, text, {1, 0, 2}),
          text_masked,
          {coords, labels, unused}};
}

}  // namespace

std::unique_ptr<Builder> image_encoder_graph_v030(Weights& weights, const Dimensions& dimensions) {
  auto builder = std::make_unique<Builder>("sam3_image_encoder");
  Builder& g = *builder;
  const nn::Context context{g};
  const std::int64_t d = dimensions.detector.width;
  const std::int64_t side = dimensions.vision.image;
  const Value image = g.input(v030::kImage, DType::kUInt8, {3, side, side});
  const Value trunk = vision_trunk(context, image, weights, dimensions.vision);
  const Pyramid pyramid = detector_neck(context, trunk, weights, d);
  g.set_section("position");
  for (int i = 0; i < 3; ++i) {
    g.output(fmt::format("vision_pos_enc_{}", i),
             position_map(g, pyramid.levels[static_cast<std::size_t>(i)].size(2), d));
  }
  for (int i = 0; i < 3; ++i) {
    g.output(fmt::format("backbone_fpn_{}", i), pyramid.levels[static_cast<std::size_t>(i)]);
  }
  return builder;
}

std::unique_ptr<Builder> language_encoder_graph_v030(Weights& weights, const Dimensions& dimensions) {
  auto builder = std::make_unique<Builder>("sam3_language_encoder");
  Builder& g = *builder;
  const Value tokens = g.input(v030::kTokens, DType::kInt64, {1, dimensions.text.context});
  const TextOutputs text = text_encoder({g}, tokens, weights, dimensions.text, dimensions.detector.width);
  return language_outputs(std::move(builder), text, text.embedded);
}

std::unique_ptr<Builder> litetext_graph_v030(LiteTextWeights& weights, std::int64_t slots) {
  const std::int64_t width = weights.dimensions().width;
  auto builder = std::make_unique<Builder>("sam3_litetext_language_encoder");
  Builder& g = *builder;
  const Value tokens = g.input(v030::kTokens, DType::kInt64, {1, slots});
  const TextOutputs text = litetext_encoder({g}, tokens, weights, weights.dimensions(), slots);
  const std::int64_t missing = kTextSlots - slots;
  if (missing == 0) return language_outputs(std::move(builder), text, text.embedded);
  const auto count = static_cast<std::size_t>(missing * width);
  const Value zeros = g.constant(std::vector<float>(count, 0.0F), {1, missing, width});
  return language_outputs(std::move(builder), text, onnx::concat(g, {text.embedded, zeros}, 1));
}

std::unique_ptr<Builder> decoder_graph_v030(Weights& weights, const Dimensions& dimensions) {
  auto builder = std::make_unique<Builder>("sam3_decoder");
  Builder& g = *builder;
  const DetectorContext context{{g}, weights, dimensions.detector, dimensions.vision.grid()};
  const DecoderInputs inputs = decoder_inputs(context);
  const GeometryTokens geometry = geometry_encoder(context, inputs.boxes, inputs.image);
  const Prompt prompt = join_prompt(context, inputs.text, inputs.text_masked, geometry);
  const Value memory = fusion_encoder(context, fusion_embed(context, inputs.image), inputs.image, prompt);
  const Detections detections = detector_decoder(context, memory, inputs.image, prompt);
  const Value scores = detection_scores(context, detections, prompt);
  const Kept kept =
      keep_above(context, detections, scores, g.scalar(static_cast<float>(v030::kBakedThreshold)));
  // In the loop, although they are the same in every round (there is one): ONNX Runtime 1.21 and 1.22 give up
  // on a convolution outside of it whose only reader is in it.
  const auto features = [&](const DetectorContext& inner) {
    return MaskFeatures{mask_features(inner, inputs.middle, 0), mask_features(inner, inputs.fine, 1)};
  };
  const Value masks = masks_of_kept(context, kept, memory, prompt, features);
  g.output(v030::kBoxes, kept.boxes);
  g.output(v030::kScores, kept.scores);
  g.output(v030::kMasks, onnx::sigmoid(g, onnx::unsqueeze(g, masks, {1})));
  return builder;
}

}  // namespace samlet::sam3
