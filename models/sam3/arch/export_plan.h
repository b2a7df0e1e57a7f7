// What an export will write, decided and built before the first byte of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/sam3/arch/graphs.h"
#include "models/sam3/arch/litetext_weights.h"
#include "samlet/export.h"

namespace samlet::sam3 {

struct PlannedGraph {
  std::string file;  // "sam3_decoder.onnx"
  std::unique_ptr<onnx::Builder> graph;
  bool external = false;  // large weights in file + ".data"
  /// For language encoders: "full", "litetext-s0", ... and the tokens a phrase has.
  std::string text_encoder;
  std::int64_t context = 0;
};

/// Owns the checkpoints that the graphs' weights come from.
struct ExportPlan {
  std::unique_ptr<Weights> weights;
  std::vector<std::unique_ptr<LiteTextWeights>> students;
  Dimensions dimensions;
  std::vector<PlannedGraph> graphs;
};

/// What can be said of the options without the checkpoint. Errors: kUsage.
void check_options(const ExportOptions& options);

/// Opens, reads the dimensions, builds all graphs and accounts for every tensor. Errors: those of
/// export_model but for writing.
[[nodiscard]] ExportPlan plan_export(const ExportOptions& options);

/// Whether the layout is that of sam3-onnx v0.3.0. Errors: kUsage for an unknown layout.
[[nodiscard]] bool is_v030(const ExportOptions& options);
/// Errors: kUsage for an unknown target.
[[nodiscard]] DecoderForm decoder_form(const std::string& target);

}  // namespace samlet::sam3
