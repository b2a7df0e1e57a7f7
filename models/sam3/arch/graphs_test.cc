// What the graphs are made of: nothing dead, no operator that a plain ONNX Runtime lacks, and the costs of
// the released size, which the rewrites lower.
#include "models/sam3/arch/graphs.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "models/sam3/contract.h"

namespace samlet::sam3 {
namespace {

/// Gives any tensor that is asked for, zero and never made: graphs of any size can be built, none can be
/// written.
class AnyWeights final : public Weights {
 public:
  LazyTensor get(const std::string& name, const Shape& shape) override {
    asked.insert(name);
    return {shape, [](const LazyTensor::Sink&) { ADD_FAILURE() << "a weight was read"; }};
  }
  [[nodiscard]] std::optional<Shape> shape_of(const std::string&) const override { return std::nullopt; }
  [[nodiscard]] CheckpointLayout layout() const noexcept override { return CheckpointLayout::kMeta; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept override { return path_; }
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const noexcept override { return files_; }
  void leave_out(Part, std::string_view) override {}
  [[nodiscard]] std::vector<std::string> unused() const override { return {}; }
  void require_all_accounted() const override {}

  std::set<std::string> asked;

 private:
  std::filesystem::path path_;
  std::vector<std::filesystem::path> files_;
};

Dimensions released() {
  Dimensions d;
  d.vision = {1008, 14, 24, 24, 1024, 4736, 32, 16, {7, 15, 23, 31}};
  d.text = {1024, 4096, 24, 16, 32, 49408};
  d.detector = {256, 8, 2048, 3, 6, 6, 200, 7};
  d.point = PointDimensions{2048, 256, 8, true};
  return d;
}

using Graph = std::unique_ptr<onnx::Builder>;

std::map<std::string, Graph> released_graphs(Weights& weights, const GraphOptions& options) {
  const Dimensions d = released();
  std::map<std::string, Graph> graphs;
  graphs["image"] = image_encoder_graph(weights, d, options);
  graphs["language"] = language_encoder_graph(weights, d, options);
  graphs["decoder"] = decoder_graph(weights, d, options);
  graphs["points"] = point_decoder_graph(weights, d, options);
  return graphs;
}

std::map<std::string, Graph> all_graphs(Weights& weights) {
  auto graphs = released_graphs(weights, {});
  const Dimensions d = released();
  graphs["half decoder"] = decoder_graph(weights, d, {DType::kFloat16, DecoderForm::kDynamic});
  graphs["half image"] = image_encoder_graph(weights, d, {DType::kFloat16, DecoderForm::kDynamic});
  graphs["static decoder"] = decoder_graph(weights, d, {DType::kFloat32, DecoderForm::kStatic});
  graphs["v030 image"] = image_encoder_graph_v030(weights, d);
  graphs["v030 language"] = language_encoder_graph_v030(weights, d);
  graphs["v030 decoder"] = decoder_graph_v030(weights, d);
  return graphs;
}

/// Calls `see` for every node, those of loop bodies included.
void for_each_node(const onnx::Body& body, const std::function<void(const onnx::Node&, bool in_loop)>& see,
                   bool in_loop = false) {
  for (const onnx::Node& node : body.nodes) {
    see(node, in_loop);
    for (const onnx::Attribute& attribute : node.attributes) {
      const auto* inner = std::get_if<std::shared_ptr<const onnx::Body>>(&attribute.value);
      if (inner != nullptr) for_each_node(**inner, see, true);
    }
  }
}

TEST(Graphs, HaveNoNodeAndNoWeightWithoutAUse) {
  AnyWeights weights;
  for (const auto& [name, graph] : all_graphs(weights)) {
    std::set<std::string> used;
    const auto use_outputs = [&](const onnx::Body& body) {
      for (const onnx::Value& output : body.outputs) used.insert(output.name);
    };
    use_outputs(graph->body());
    for_each_node(graph->body(), [&](const onnx::Node& node, bool) {
      used.insert(node.inputs.begin(), node.inputs.end());
      for (const onnx::Attribute& attribute : node.attributes) {
        const auto* inner = std::get_if<std::shared_ptr<const onnx::Body>>(&attribute.value);
        if (inner != nullptr) use_outputs(**inner);
      }
    });
    for_each_node(graph->body(), [&](const onnx::Node& node, bool) {
      EXPECT_TRUE(
          std::ranges::any_of(node.outputs, [&](const std::string& output) { return used.contains(output); }))
          << name << ": " << node.name;
    });
    for (const onnx::Initializer& weight : graph->initializers()) {
      EXPECT_TRUE(used.contains(weight.name)) << name << ": " << weight.name;
    }
    for (const onnx::Value& input : graph->body().inputs)
      EXPECT_TRUE(used.contains(input.name)) << name << ": " << input.name;
  }
}

TEST(Graphs, UseOnlyOperatorsOfOnnxItself) {
  AnyWeights weights;
  for (const auto& [name, graph] : all_graphs(weights)) {
    for_each_node(graph->body(),
                  [&](const onnx::Node& node, bool) { EXPECT_EQ(node.domain, "") << name << node.name; });
  }
}

// The mask head stands in the loop over prompts that kept something: with none it is not run.
TEST(Graphs, MaskHeadOfTheDynamicDecoderStandsInTheLoop) {
  AnyWeights weights;
  const Graph graph = decoder_graph(weights, released(), {});
  int inside = 0;
  for_each_node(graph->body(), [&](const onnx::Node& node, bool in_loop) {
    if (node.op_type != "ConvTranspose" && node.op_type != "InstanceNormalization") return;
    EXPECT_TRUE(in_loop) << node.name;
    ++inside;
  });
  EXPECT_EQ(inside, 4);
}

TEST(Graphs, StaticDecoderHasNoShapeThatDependsOnValues) {
  AnyWeights weights;
  const Graph graph = decoder_graph(weights, released(), {DType::kFloat32, DecoderForm::kStatic});
  for_each_node(graph->body(), [](const onnx::Node& node, bool) {
    EXPECT_NE(node.op_type, "NonZero");
    EXPECT_NE(node.op_type, "Loop");
  });
}

// In half precision everything heavy is half, and what is sensitive is not.
TEST(Graphs, HalfPrecisionKeepsNormsAndSoftmaxInSingle) {
  AnyWeights weights;
  const Graph graph = decoder_graph(weights, released(), {DType::kFloat16, DecoderForm::kDynamic});
  double half = 0;
  double single = 0;
  for (const onnx::Initializer& weight : graph->initializers()) {
    (weight.dtype == DType::kFloat16 ? half : single) += static_cast<double>(weight.byte_size());
    for (const char* exact : {"norm", "bbox_embed", "presence", "dot_prod_scoring", "boxRPB"}) {
      if (weight.name.find(exact) == std::string::npos) continue;
      EXPECT_EQ(weight.dtype, DType::kFloat32) << weight.name;
    }
  }
  EXPECT_GT(half, 0);
  EXPECT_GT(single, 0);
}

// GFLOP at the released size, 2 a multiply-add. Meta's code: image 5826 (both necks), fusion 256, decoder 20,
// geometry 4, masks 143, points 4.6; the rewrites take about 104 off the image encoder's necks, move 30 of
// the fusion encoder and 122 of the mask head to it, and leave 4/9 of the mask head's convolutions and no 1x1
// one to the decoder.
TEST(Graphs, CostsAreThoseOfTheRewrittenModel) {
  AnyWeights weights;
  const auto graphs = released_graphs(weights, {});
  constexpr double kGiga = 1e9;
  EXPECT_NEAR(graphs.at("image")->flops() / kGiga, 5860, 60);
  EXPECT_NEAR(graphs.at("language")->flops() / kGiga, 19.4, 1);
  EXPECT_NEAR(graphs.at("decoder")->flops() / kGiga, 318, 12);
  EXPECT_NEAR(graphs.at("points")->flops() / kGiga, 4.6, 0.5);
  const Graph all_masks = decoder_graph(weights, released(), {DType::kFloat32, DecoderForm::kStatic});
  EXPECT_GT(all_masks->flops(), graphs.at("decoder")->flops());
}

TEST(Graphs, AskForEachTensorOfTheReleasedCheckpointThatPicturesNeed) {
  AnyWeights weights;
  (void)released_graphs(weights, {});
  // 1465 tensors less those unused: rotary tables 32, half-size levels 8, text projection 1, detector points
  // 6, third pixel decoder stage 4, semantic head 2, and the tracker but for 4.22 M parameters of its prompt
  // encoder, mask decoder and no_mem_embed: 309 - 149.
  EXPECT_EQ(weights.asked.size(), 1465U - 32 - 8 - 1 - 6 - 4 - 2 - 160);
}

}  // namespace
}  // namespace samlet::sam3
