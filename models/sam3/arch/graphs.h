// The graphs of a model folder, composed from the parts: samlet's own contract, and that of sam3-onnx v0.3.0.
#pragma once

#include <memory>

#include "libs/onnx/builder.h"
#include "models/sam3/arch/dimensions.h"
#include "models/sam3/arch/text.h"
#include "models/sam3/manifest.h"

namespace samlet::sam3 {

struct GraphOptions {
  DType precision = DType::kFloat32;  ///< f16: weights and features are halved
  DecoderForm form = DecoderForm::kDynamic;
};

// Contract version 1 (models/sam3/contract.h, v1). Errors: none of their own; what is wrong with the weights
// is noted by them, see Weights::require_all_accounted.
std::unique_ptr<onnx::Builder> image_encoder_graph(Weights& weights, const Dimensions& dimensions,
                                                   const GraphOptions& options);
std::unique_ptr<onnx::Builder> language_encoder_graph(Weights& weights, const Dimensions& dimensions,
                                                      const GraphOptions& options);
std::unique_ptr<onnx::Builder> litetext_graph(LiteTextWeights& weights, std::int64_t slots,
                                              const GraphOptions& options);
std::unique_ptr<onnx::Builder> decoder_graph(Weights& weights, const Dimensions& dimensions,
                                             const GraphOptions& options);
/// Errors: kInternal without a point decoder in the dimensions.
std::unique_ptr<onnx::Builder> point_decoder_graph(Weights& weights, const Dimensions& dimensions,
                                                   const GraphOptions& options);

// sam3-onnx v0.3.0 (contract.h, v030): everything static but the number of instances; f32 only.
std::unique_ptr<onnx::Builder> image_encoder_graph_v030(Weights& weights, const Dimensions& dimensions);
std::unique_ptr<onnx::Builder> language_encoder_graph_v030(Weights& weights, const Dimensions& dimensions);
std::unique_ptr<onnx::Builder> litetext_graph_v030(LiteTextWeights& weights, std::int64_t slots);
std::unique_ptr<onnx::Builder> decoder_graph_v030(Weights& weights, const Dimensions& dimensions);

}  // namespace samlet::sam3
