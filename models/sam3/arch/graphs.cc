#include "models/sam3/arch/graphs.h"

#include <string>
#include <string_view>

#include "libs/nn/position.h"
#include "libs/onnx/ops.h"
#include "models/sam3/arch/point_decoder.h"
#include "models/sam3/arch/selection.h"
#include "models/sam3/arch/vision.h"
#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

using onnx::Builder;
using onnx::Value;

/// backbone_fpn_2 as the detector sees it, with the position map as a constant.
ImageTokens image_tokens(Builder& g, const Value& map, std::int64_t grid) {
  const std::int64_t width = map.size(1);
  return {nn::to_tokens(g, onnx::cast(g, map, DType::kFloat32)), map,
          g.weight("image/position", nn::sine_map(grid, width))};
}

/// What the decoder is given, in the contract's order.
struct DecoderInputs {
  ImageTokens image;
  Value embed;
  MaskFeatures masks;
  Value text;
  Value text_masked;
  BoxInputs boxes;
};

DecoderInputs decoder_inputs(Builder& g, const Dimensions& dimensions, DType features) {
  const std::int64_t d = dimensions.detector.width;
  const std::int64_t grid = dimensions.vision.grid();
  DecoderInputs inputs;
  const Value map = g.input(v1::kFeatures2, features, {1, d, grid, grid});
  inputs.image = image_tokens(g, map, grid);
  inputs.embed = onnx::cast(g, g.input(v1::kFusionEmbed, features, {1, grid * grid, d}), DType::kFloat32);
  inputs.masks[1] = g.input(v1::kMaskFeatures0, features, {1, d, 4 * grid, 4 * grid});
  inputs.masks[0] = g.input(v1::kMaskFeatures1, features, {1, d, 2 * grid, 2 * grid});
  inputs.text = g.input(v1::kLanguageFeatures, DType::kFloat32, {"B", kTextSlots, d});
  inputs.text_masked = g.input(v1::kLanguageMask, DType::kBool, {"B", kTextSlots});
  inputs.boxes.coords = g.input(v1::kBoxCoords, DType::kFloat32, {"B", "N", 4});
  inputs.boxes.labels = g.input(v1::kBoxLabels, DType::kInt64, {"B", "N"});
  inputs.boxes.unused = g.input(v1::kBoxMasks, DType::kBool, {"B", "N"});
  return inputs;
}

/// Masks of all queries: f32 [B, Q, 4g, 4g].
Value masks_of_all(const DetectorContext& context, const Detections& detections, const Value& memory,
                   const Prompt& prompt, const MaskFeatures& features) {
  Builder& g = context.nn.graph;
  const Value embedding = mask_embedding(context, detections.states);
  const Value pixels = pixel_embedding(context, memory, prompt, features);
  const Value logits = mask_logits(context, embedding, pixels);
  const std::int64_t side = 4 * context.grid;
  return onnx::reshape(g, logits, {logits.dimension(0), logits.dimension(1), side, side});
}

}  // namespace

std::unique_ptr<Builder> image_encoder_graph(Weights& weights, const Dimensions& dimensions,
                                             const GraphOptions& options) {
  auto builder = std::make_unique<Builder>("sam3_image_encoder");
  Builder& g = *builder;
  const nn::Context context{g, options.precision};
  const std::int64_t d = dimensions.detector.width;
  const std::int64_t side = dimensions.vision.image;
  const Value image = g.input(v1::kImage, DType::kUInt8, {3, side, side});
  const Value trunk = vision_trunk(context, image, weights, dimensions.vision);
  const Pyramid pyramid = detector_neck(context, trunk, weights, d);
  const DetectorContext detector{context, weights, dimensions.detector, dimensions.vision.grid()};
  const Value& map = pyramid.levels[2];
  const auto feature = [&](std::string_view name, const Value& value) {
    g.output(name, onnx::cast(g, value, options.precision));
  };
  const Value embed = fusion_embed(detector, image_tokens(g, map, detector.grid));
  const Value mask_0 = mask_features(detector, pyramid.levels[0], 1);
  const Value mask_1 = mask_features(detector, pyramid.levels[1], 0);
  feature(v1::kFeatures2, map);
  feature(v1::kFusionEmbed, embed);
  feature(v1::kMaskFeatures0, mask_0);
  feature(v1::kMaskFeatures1, mask_1);
  if (dimensions.point) {
    const Pyramid points = point_neck(context, trunk, weights, d);
    feature(v1::kPointFeatures0, points.levels[0]);
    feature(v1::kPointFeatures1, points.levels[1]);
    feature(v1::kPointEmbed, points.levels[2]);
  }
  return builder;
}

std::unique_ptr<Builder> language_encoder_graph(Weights& weights, const Dimensions& dimensions,
                                                const GraphOptions& options) {
  auto builder = std::make_unique<Builder>("sam3_language_encoder");
  Builder& g = *builder;
  const Value tokens = g.input(v1::kTokens, DType::kInt64, {"B", dimensions.text.context});
  const TextOutputs text =
      text_encoder({g, options.precision}, tokens, weights, dimensions.text, dimensions.detector.width);
  g.output(v1::kLanguageFeatures, text.features);
  g.output(v1::kLanguageMask, text.masked);
  return builder;
}

std::unique_ptr<Builder> litetext_graph(LiteTextWeights& weights, std::int64_t slots,
                                        const GraphOptions& options) {
  auto builder = std::make_unique<Builder>("sam3_litetext_language_encoder");
  Builder& g = *builder;
  const Value tokens = g.input(v1::kTokens, DType::kInt64, {"B", slots});
  const TextOutputs text =
      litetext_encoder({g, options.precision}, tokens, weights, weights.dimensions(), slots);
  g.output(v1::kLanguageFeatures, text.features);
  g.output(v1::kLanguageMask, text.masked);
  return builder;
}

std::unique_ptr<Builder> decoder_graph(Weights& weights, const Dimensions& dimensions,
                                       const GraphOptions& options) {
  auto builder = std::make_unique<Builder>("sam3_decoder");
  Builder& g = *builder;
  const DetectorContext context{
      {g, options.precision}, weights, dimensions.detector, dimensions.vision.grid()};
  const DecoderInputs inputs = decoder_inputs(g, dimensions, options.precision);
  const bool dynamic = options.form == DecoderForm::kDynamic;
  const Value threshold = dynamic ? g.input(v1::kScoreThreshold, DType::kFloat32, {}) : Value{};
  const GeometryTokens geometry = geometry_encoder(context, inputs.boxes, inputs.image);
  const Prompt prompt = join_prompt(context, inputs.text, inputs.text_masked, geometry);
  const Value memory = fusion_encoder(context, inputs.embed, inputs.image, prompt);
  const Detections detections = detector_decoder(context, memory, inputs.image, prompt);
  const Value scores = detection_scores(context, detections, prompt);
  const Value presence = onnx::squeeze(g, detections.presence, {1});
  if (dynamic) {
    const Kept kept = keep_above(context, detections, scores, threshold);
    const Value masks =
        masks_of_kept(context, kept, memory, prompt, [&](const DetectorContext&) { return inputs.masks; });
    g.output(v1::kBoxes, kept.boxes);
    g.output(v1::kScores, kept.scores);
    g.output(v1::kMaskLogits, masks);
    g.output(v1::kPromptIndex, kept.prompt_index);
  } else {
    const Value masks = masks_of_all(context, detections, memory, prompt, inputs.masks);
    g.output(v1::kBoxes, corners(g, detections.boxes));
    g.output(v1::kScores, scores);
    g.output(v1::kMaskLogits, masks);
  }
  g.output(v1::kPresence, presence);
  return builder;
}

std::unique_ptr<Builder> point_decoder_graph(Weights& weights, const Dimensions& dimensions,
                                             const GraphOptions& options) {
  if (!dimensions.point)
    throw Error(ErrorCode::kInternal, "a point decoder was asked for, but there are no weights");
  auto builder = std::make_unique<Builder>("sam3_point_decoder");
  Builder& g = *builder;
  const std::int64_t d = dimensions.detector.width;
  const std::int64_t grid = dimensions.vision.grid();
  PointInputs inputs;
  inputs.features_0 = g.input(v1::kPointFeatures0, options.precision, {1, d / 8, 4 * grid, 4 * grid});
  inputs.features_1 = g.input(v1::kPointFeatures1, options.precision, {1, d / 4, 2 * grid, 2 * grid});
  inputs.embed = g.input(v1::kPointEmbed, options.precision, {1, d, grid, grid});
  inputs.coords = g.input(v1::kPointCoords, DType::kFloat32, {"B", "P", 2});
  inputs.labels = g.input(v1::kPointLabels, DType::kInt64, {"B", "P"});
  inputs.mask = g.input(v1::kMaskInput, DType::kFloat32, {"B", 1, 4 * grid, 4 * grid});
  inputs.has_mask = g.input(v1::kHasMask, DType::kFloat32, {"B"});
  const PointOutputs outputs =
      point_decoder({g, options.precision}, weights, inputs, *dimensions.point, dimensions.vision);
  g.output(v1::kMaskLogits, outputs.mask_logits);
  g.output(v1::kIou, outputs.iou);
  g.output(v1::kObjectScore, outputs.object_score);
  return builder;
}

}  // namespace samlet::sam3
