#include "models/sam3/arch/export_plan.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "models/sam3/arch/litetext_base.h"
#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

struct Target {
  std::string_view name;
  DecoderForm form;
};

constexpr std::array kTargets{
    Target{"portable", DecoderForm::kDynamic}, Target{"cpu", DecoderForm::kDynamic},
    Target{"cuda", DecoderForm::kDynamic},     Target{"coreml", DecoderForm::kStatic},
    Target{"tensorrt", DecoderForm::kStatic},
};

DType precision_of(const ExportOptions& options) {
  if (options.precision == "fp32") return DType::kFloat32;
  if (options.precision == "fp16") return DType::kFloat16;
  throw Error(ErrorCode::kUsage,
              fmt::format("the precision '{}' is unknown; choose fp32 or fp16", options.precision));
}

/// transformers' description beside the checkpoint, where there is one.
fs::path config_beside(const fs::path& checkpoint) {
  fs::path config = checkpoint.parent_path() / "config.json";
  std::error_code ignored;
  return fs::exists(config, ignored) ? config : fs::path();
}

/// Sides that are a multiple of what the position table was made for, since it is tiled.
void set_size(VisionDimensions& vision, int size) {
  if (size == 0) return;
  const std::int64_t unit = vision.pretrain_grid * vision.patch;
  constexpr std::int64_t kMostSide = 8192;
  const std::int64_t below = std::max<std::int64_t>(1, size / unit) * unit;
  if (size % unit != 0 || size < unit || size > kMostSide) {
    const std::int64_t above = std::min(below + unit, kMostSide / unit * unit);
    throw Error(
        ErrorCode::kUsage,
        fmt::format(
            "--size {} cannot be had: the position table needs a multiple of {} up to {}. The nearest are "
            "{} and {}",
            size, unit, kMostSide / unit * unit, std::min(below, above), above));
  }
  vision.image = size;
}

/// Tokens a phrase has: that of the files made for 32, else 16, of which longer tables use the first rows.
std::int64_t context_of(const LiteTextDimensions& dimensions) {
  constexpr std::int64_t kShort = 16;
  return dimensions.rows == kTextSlots ? kTextSlots : kShort;
}

void add_students(ExportPlan& plan, const ExportOptions& options, const GraphOptions& graph_options) {
  for (const fs::path& path : options.text_encoders) plan.students.push_back(LiteTextWeights::open(path));
  for (const auto& student : plan.students) {
    const LiteTextDimensions& dimensions = student->dimensions();
    if (dimensions.output != plan.dimensions.detector.width) {
      throw Error(
          ErrorCode::kModelUnsupported,
          fmt::format(
              "the text encoder '{}' gives {} channels, but the detector of '{}' takes {}; they are not of "
              "one model",
              path_to_utf8(student->path()), dimensions.output, path_to_utf8(options.checkpoint),
              plan.dimensions.detector.width));
    }
    const std::string difference = base_difference(plan.weights->path(), student->path());
    if (!difference.empty()) log(options.log, LogLevel::kWarning, difference);
    PlannedGraph planned;
    planned.file =
        fmt::format("{}{}{}", kLiteTextFilePrefix, name_of(dimensions.variant), kLiteTextFileSuffix);
    planned.text_encoder = fmt::format("litetext-{}", name_of(dimensions.variant));
    planned.context = context_of(dimensions);
    const bool twice = std::any_of(plan.graphs.begin(), plan.graphs.end(),
                                   [&](const PlannedGraph& other) { return other.file == planned.file; });
    if (twice) {
      throw Error(ErrorCode::kUsage,
                  fmt::format("two LiteText encoders of the same size ({}) were given; export them "
                              "into two folders",
                              planned.text_encoder));
    }
    planned.graph = is_v030(options) ? litetext_graph_v030(*student, planned.context)
                                     : litetext_graph(*student, planned.context, graph_options);
    planned.external = true;
    student->require_all_accounted();
    plan.graphs.push_back(std::move(planned));
  }
}

void add(ExportPlan& plan, std::string_view file, std::unique_ptr<onnx::Builder> graph, bool external) {
  plan.graphs.push_back({std::string(file), std::move(graph), external, "", 0});
}

void add_text_encoder(ExportPlan& plan, std::unique_ptr<onnx::Builder> graph) {
  add(plan, kLanguageEncoderFile, std::move(graph), true);
  plan.graphs.back().text_encoder = "full";
  plan.graphs.back().context = plan.dimensions.text.context;
}

void add_graphs(ExportPlan& plan, const GraphOptions& options) {
  Weights& weights = *plan.weights;
  add(plan, kImageEncoderFile, image_encoder_graph(weights, plan.dimensions, options), true);
  if (plan.dimensions.text.width > 0) {
    add_text_encoder(plan, language_encoder_graph(weights, plan.dimensions, options));
  }
  add(plan, kDecoderFile, decoder_graph(weights, plan.dimensions, options), false);
  if (plan.dimensions.point) {
    add(plan, kPointDecoderFile, point_decoder_graph(weights, plan.dimensions, options), false);
  }
}

void add_graphs_v030(ExportPlan& plan) {
  Weights& weights = *plan.weights;
  weights.leave_out(Part::kPointDecoder, "not part of sam3-onnx v0.3.0");
  add(plan, kImageEncoderFile, image_encoder_graph_v030(weights, plan.dimensions), true);
  if (plan.dimensions.text.width > 0) {
    add_text_encoder(plan, language_encoder_graph_v030(weights, plan.dimensions));
  }
  add(plan, kDecoderFile, decoder_graph_v030(weights, plan.dimensions), false);
}

}  // namespace

bool is_v030(const ExportOptions& options) {
  if (options.layout == "samlet") return false;
  if (options.layout == "sam3-onnx") return true;
  throw Error(ErrorCode::kUsage,
              fmt::format("the layout '{}' is unknown; choose samlet or sam3-onnx", options.layout));
}

DecoderForm decoder_form(const std::string& target) {
  std::string names;
  for (const Target& known : kTargets) {
    if (known.name == target) return known.form;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", known.name);
  }
  throw Error(ErrorCode::kUsage, fmt::format("the target '{}' is unknown; choose one of {}", target, names));
}

void check_options(const ExportOptions& options) {
  const bool is_static = decoder_form(options.target) == DecoderForm::kStatic;
  const bool is_half = precision_of(options) != DType::kFloat32;
  if (is_v030(options) && (is_static || is_half)) {
    throw Error(ErrorCode::kUsage, fmt::format("the layout sam3-onnx is dynamic and fp32; leave out --{} {}",
                                               is_static ? "target" : "precision",
                                               is_static ? options.target : options.precision));
  }
}

ExportPlan plan_export(const ExportOptions& options) {
  check_options(options);
  const GraphOptions graph_options{precision_of(options), decoder_form(options.target)};
  ExportPlan plan;
  plan.weights = Weights::open(options.checkpoint);
  plan.dimensions = read_dimensions(*plan.weights, config_beside(plan.weights->path()));
  set_size(plan.dimensions.vision, options.size);
  if (plan.dimensions.text.width == 0) {
    // The checkpoint of a LiteText model: its text encoder is the student in it.
    plan.weights->leave_out(Part::kTextEncoder, "written as a LiteText encoder");
    plan.students.push_back(LiteTextWeights::open(plan.weights->path()));
  }
  if (is_v030(options)) {
    add_graphs_v030(plan);
  } else {
    add_graphs(plan, graph_options);
  }
  add_students(plan, options, graph_options);
  plan.weights->require_all_accounted();
  return plan;
}

}  // namespace samlet::sam3
