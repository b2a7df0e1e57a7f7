// Folders without model.json whose graphs are those of the miniature, renamed and wrapped, through the
// program: what they give is what the miniature gives.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "models/sam3/graphs_v050.h"
#include "models/sam3/graphs_v1.h"
#include "models/sam3/self_test_cases.h"
#include "tests/e2e/cli.h"
#include "tests/support/onnx_edit.h"

namespace samlet::test {
namespace {

constexpr const char* kImage = "sam3_image_encoder.onnx";
constexpr const char* kLanguage = "sam3_language_encoder.onnx";
constexpr const char* kDecoder = "sam3_decoder.onnx";
constexpr const char* kPoints = "sam3_point_decoder.onnx";

class Aliases : public CliTest {
 protected:
  /// The committed graphs of v0.3.0, in a folder that may be changed.
  void copy_v030() {
    fs::copy(miniature_model(), foreign());
    original_ = miniature_model();
  }

  /// A fresh export of samlet's own graphs, whose copy has no model.json.
  void copy_own(std::vector<std::string> options = {"--no-check"}) {
    original_ = export_miniature("original", std::move(options));
    fs::copy(original_, foreign());
    fs::remove(foreign() / "model.json");
  }

  [[nodiscard]] fs::path foreign() const { return folder_.path() / "foreign"; }

  void edit(const std::string& file, const std::function<void(OnnxEdit&)>& change) const {
    OnnxEdit graph(foreign() / file);
    change(graph);
    graph.save(foreign() / file);
  }

  void write_aliases(std::string_view text) {
    write_file(folder_.path() / "aliases.json", text);
    options_ = {"--aliases", "aliases.json"};
  }

  [[nodiscard]] Json instances_of(const std::string& model, std::vector<std::string> words) const {
    words.insert(words.begin(), {"run", model, "--json"});
    const ProcessResult result = samlet(std::move(words));
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return result.exit_code == 0 ? Json::parse(result.output)["instances"] : Json::array();
  }

  /// Of three samples the same instances: their number, scores as they are printed, to six digits (where the
  /// last may be rounded the other way), and masks pixel by pixel.
  void expect_same(const std::vector<std::string>& asked) const {
    for (const char* name : {"shapes_01.png", "shapes_02.jpg", "shapes_05.png"}) {
      SCOPED_TRACE(name);
      std::vector<std::string> words{sample(name)};
      words.insert(words.end(), asked.begin(), asked.end());
      const Json wanted = instances_of(original_, words);
      words.insert(words.end(), options_.begin(), options_.end());
      const Json found = instances_of(foreign().native(), words);
      ASSERT_EQ(found.size(), wanted.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        EXPECT_EQ(found[i]["prompt_index"], wanted[i]["prompt_index"]);
        EXPECT_NEAR(found[i]["score"].get<double>(), wanted[i]["score"].get<double>(), 1.1e-6);
        EXPECT_EQ(found[i]["mask"], wanted[i]["mask"]) << i;
      }
      compared_ += wanted.size();
    }
    EXPECT_GT(compared_, 0U) << "nothing was compared";
  }

  [[nodiscard]] ProcessResult check() const {
    std::vector<std::string> words{"check", foreign().native()};
    words.insert(words.end(), options_.begin(), options_.end());
    return samlet(words);
  }

  std::string original_;
  std::vector<std::string> options_;
  mutable std::size_t compared_ = 0;
};

const std::vector<std::string> kPhrases{"--text", "red circle", "--text", "blue square", "--text", "star"};
const std::vector<std::string> kPhrasesAndBox{"--text", "circle", "--box", "60,40,180,160"};

TEST_F(Aliases, GraphsOfV030WithOtherNamesGiveTheSame) {
  copy_v030();
  edit(kImage, [](OnnxEdit& g) {
    g.rename_input("image", "images").rename_output("vision_pos_enc_2", "fpn_pos_2");
    for (const char* level : {"0", "1", "2"})
      g.rename_output(std::string("backbone_fpn_") + level, std::string("fpn_feat_") + level);
  });
  edit(kLanguage, [](OnnxEdit& g) {
    g.rename_input("tokens", "input_ids").rename_output("text_memory", "text_features");
    g.rename_output("text_attention_mask", "text_mask");
  });
  edit(kDecoder, [](OnnxEdit& g) {
    g.rename_input("language_features", "prompt_features").rename_input("language_mask", "prompt_mask");
    g.rename_input("box_coords", "input_boxes").rename_input("box_labels", "input_boxes_labels");
    g.rename_output("boxes", "pred_boxes")
        .rename_output("scores", "pred_scores")
        .rename_output("masks", "pred_masks");
  });
  expect_same(kPhrases);
  expect_same(kPhrasesAndBox);
  const ProcessResult checked = check();
  EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.error;
  for (const char* part : {"takes 'input_boxes' f32 [1, 1, 4]: box_coords, by the alias table\n",
                           "gives 'fpn_pos_2'", "takes 'box_masks' bool [1, 1]: box_masks, by its name\n",
                           "threshold_in_graph: 0.5 (assumed, as in v0.3.0",
                           "clicks: not possible (there is no sam3_point_decoder.onnx)\n",
                           "ok      self-test  sam3_decoder.onnx: "})
    EXPECT_TRUE(mentions(checked.output, part)) << part << " in: " << checked.output;
}

TEST_F(Aliases, NamesOfNoTableAreGivenByAFile) {
  copy_v030();
  // Of one type and shape: nothing but a name tells them apart.
  edit(kImage,
       [](OnnxEdit& g) { g.rename_output("vision_pos_enc_2", "p").rename_output("backbone_fpn_2", "q"); });
  edit(kDecoder, [](OnnxEdit& g) {
    g.rename_input("vision_pos_enc_2", "left")
        .rename_input("backbone_fpn_2", "right")
        .rename_output("scores", "s");
  });
  remember_entries();
  expect_refused(samlet({"run", foreign().native(), sample("shapes_01.png"), "--text", "circle"}), 3,
                 {"sam3_decoder.onnx", "the input 'left'", "the input 'right'",
                  "'s' f32 [-1]: scores, by its type and shape",
                  "'box_coords' f32 [1, 1, 4]: box_coords, by its name", "--aliases FILE"});
  const ProcessResult failed = check();
  EXPECT_EQ(failed.exit_code, 3);
  EXPECT_TRUE(mentions(failed.output, "FAILED  contract   all graphs: ")) << failed.output;
  EXPECT_TRUE(mentions(failed.output, "the input 'left'")) << failed.output;

  write_aliases(R"({"image_encoder": {"outputs": {"vision_pos_enc_2": "p", "backbone_fpn_2": "q"}},
                    "decoder": {"inputs": {"vision_pos_enc_2": "left", "backbone_fpn_2": "right"}}})");
  expect_same(kPhrases);
  const ProcessResult checked = check();
  EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.error;
  EXPECT_TRUE(mentions(checked.output, "takes 'left'")) << checked.output;
  EXPECT_TRUE(mentions(checked.output, ": vision_pos_enc_2, by the alias file\n")) << checked.output;
  EXPECT_TRUE(mentions(checked.output, "gives 's' f32 [-1]: scores, by its type and shape\n"))
      << checked.output;
}

TEST_F(Aliases, MaskLogitsAreFoundOut) {
  copy_v030();
  edit(kDecoder, [](OnnxEdit& g) {
    g.floats("unit", {1}, {})
        .floats("least", {1e-7F}, {})
        .floats("most", {0.9999999F}, {})
        .drop_output("masks");
    g.after({"Clip", {"masks", "least", "most"}, {"inner"}}).after({"Sub", {"unit", "inner"}, {"rest"}});
    g.after({"Div", {"inner", "rest"}, {"odds"}}).after({"Log", {"odds"}, {"deep"}});
    g.integers("one", {1}, {1}).after({"Squeeze", {"deep", "one"}, {"flat_masks"}});
    g.add_output("flat_masks", OnnxType::kFloat, {-1, 48, 48});
  });
  write_aliases(R"({"decoder": {"outputs": {"masks": "flat_masks"}}})");
  expect_same(kPhrases);
  write_aliases(R"({"decoder": {"outputs": {"masks": "flat_masks"}}, "facts": {"masks": "logits"}})");
  expect_same(kPhrases);
}

TEST_F(Aliases, OwnGraphsWithAnyNumberOfBoxesInAnotherOrder) {
  copy_own();
  edit(kLanguage, [](OnnxEdit& g) {
    g.drop_output("language_features").add_output("text_memory", OnnxType::kFloat, {32, 1, 64});
    g.after({"Transpose", {"language_features"}, {"text_memory"}, {{"perm", {1, 0, 2}}}});
    g.rename_output("language_mask", "text_attention_mask");
  });
  edit(kDecoder, [](OnnxEdit& g) {
    g.drop_input("language_features").add_input("prompt_features", OnnxType::kFloat, {32, 1, 64});
    g.before({"Transpose", {"prompt_features"}, {"language_features"}, {{"perm", {1, 0, 2}}}});
    g.drop_input("box_coords").add_input("input_boxes", OnnxType::kFloat, {-1, 1, 4});
    g.before({"Transpose", {"input_boxes"}, {"box_coords"}, {{"perm", {1, 0, 2}}}});
    g.drop_input("box_labels").add_input("boxes_labels", OnnxType::kInt64, {-1, 1});
    g.before({"Transpose", {"boxes_labels"}, {"box_labels"}, {{"perm", {1, 0}}}});
    g.drop_output("mask_logits")
        .integers("one", {1}, {1})
        .after({"Sigmoid", {"mask_logits"}, {"probabilities"}});
    g.after({"Unsqueeze", {"probabilities", "one"}, {"masks"}})
        .add_output("masks", OnnxType::kFloat, {-1, 1, 48, 48});
  });
  expect_same({"--text", "red circle", "--threshold", "0.1"});
  expect_same(
      {"--text", "circle", "--box", "60,40,180,160", "--negative-box", "10,10,90,90", "--threshold", "0.1"});
  const ProcessResult checked = check();
  EXPECT_EQ(checked.exit_code, 0) << checked.output << checked.error;
  EXPECT_TRUE(mentions(checked.output, "box_layout: boxes_first (the decoder's declaration)\n"))
      << checked.output;
  EXPECT_TRUE(mentions(checked.output, "closing_point: ignored (")) << checked.output;
}

TEST_F(Aliases, FourSlotsAndABuiltInThreshold) {
  copy_own();
  edit(kDecoder, [](OnnxEdit& g) {
    g.drop_input("box_coords").drop_input("box_labels").drop_input("box_masks").drop_input("score_threshold");
    g.add_input("input_boxes", OnnxType::kFloat, {1, 4, 4})
        .before({"Identity", {"input_boxes"}, {"box_coords"}});
    g.add_input("boxes_labels", OnnxType::kInt64, {1, 4})
        .before({"Identity", {"boxes_labels"}, {"box_labels"}});
    g.add_input("boxes_mask", OnnxType::kBool, {1, 4}).before({"Identity", {"boxes_mask"}, {"box_masks"}});
    g.floats("score_threshold", {0.5F}, {});
  });
  remember_entries();
  expect_same(kPhrases);
  expect_same({"--text", "circle", "--box", "60,40,180,160", "--box", "100,100,200,200"});
  std::vector<std::string> five{"run", foreign().native(), sample("shapes_01.png")};
  for (int i = 0; i < 5; ++i) five.insert(five.end(), {"--box", "10,10,90,90"});
  expect_refused(samlet(five), 3, {"5 boxes were given", "takes 4 at most"});
  expect_refused(
      samlet({"run", foreign().native(), sample("shapes_01.png"), "--text", "circle", "--threshold", "0.4"}),
      3, {"0.5 or less"});
}

TEST_F(Aliases, EveryQueryAsLogitsBesideThePresence) {
  copy_own({"--no-check", "--target", "tensorrt"});
  edit(kDecoder, [](OnnxEdit& g) {
    g.floats("unit", {1}, {}).floats("least", {1e-12F}, {}).drop_output("scores").drop_output("presence");
    g.after({"Div", {"scores", "presence"}, {"raw"}}).after({"Max", {"raw", "least"}, {"classes"}});
    for (const auto& [from, to] :
         std::map<std::string, std::string>{{"classes", "pred_logits"}, {"presence", "presence_logits"}}) {
      g.after({"Sub", {"unit", from}, {to + "_rest"}}).after({"Div", {from, to + "_rest"}, {to + "_odds"}});
      g.after({"Log", {to + "_odds"}, {to}});
    }
    g.add_output("pred_logits", OnnxType::kFloat, {-1, 20})
        .add_output("presence_logits", OnnxType::kFloat, {-1});
  });
  for (const char* threshold : {"0.3", "0.5"})
    expect_same({"--text", "red circle", "--threshold", threshold});
}

/// Clicks have no command yet, so their graphs are asked directly.
sam3::DecodedPoints points_of(sam3::Graphs& graphs) {
  const std::vector<sam3::PointPrompt> objects{
      {{{60, 70, 1}}, {}},
      {{{60, 70, 1}, {20, 90, 0}, {140, 30, 0}}, {}},
      {{{20, 20, 2}, {120, 100, 3}}, std::vector<float>(std::size_t{48} * 48, -2)}};
  const auto features = graphs.encode_image(sam3::noise_image(168, 1), sam3::FeaturesFor::kPoints, {});
  return graphs.decode_points(features, objects, true, {});
}

TEST_F(Aliases, PointsOfTheMiniatureWhoeverClosesThem) {
  copy_own();
  ModelOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.runtime_library = SAMLET_ORT_LIBRARY_DIR;
  const auto own = points_of(*sam3::make_graphs_v1(sam3::open_folder(original_), options));
  EXPECT_EQ(own.objects, 3U);
  EXPECT_EQ(own.masks, 4U);
  EXPECT_EQ(own.object_scores.size(), 3U);
  const auto expect_own = [&] {
    const fs::path aliases = options_.empty() ? fs::path() : folder_.path() / options_.back();
    const auto found = points_of(*sam3::make_graphs_v050(sam3::open_folder(foreign(), {}, aliases), options));
    ASSERT_EQ(found.mask_logits.size(), own.mask_logits.size());
    double apart = 0;
    for (std::size_t i = 0; i < own.mask_logits.size(); ++i)
      apart = std::max(apart, static_cast<double>(std::abs(found.mask_logits[i] - own.mask_logits[i])));
    EXPECT_LT(apart, 1e-3);  // objects side by side and one by one round differently
    for (std::size_t i = 0; i < own.iou.size(); ++i) EXPECT_NEAR(found.iou[i], own.iou[i], 1e-5);
  };
  expect_own();
  // Without the last point, which must be the closing one: the graph has its own.
  edit(kPoints, [](OnnxEdit& g) {
    g.integers("first", {0}, {1}).integers("last", {-1}, {1}).integers("points_axis", {1}, {1});
    g.drop_input("point_coords").add_input("input_points", OnnxType::kFloat, {1, -1, 2});
    g.before({"Slice", {"input_points", "first", "last", "points_axis"}, {"point_coords"}});
    g.drop_input("point_labels").add_input("input_labels", OnnxType::kInt32, {1, -1});
    g.before({"Slice", {"input_labels", "first", "last", "points_axis"}, {"cut_labels"}});
    g.before({"Cast", {"cut_labels"}, {"point_labels"}, {}, {{"to", 7}}});
  });
  write_aliases(R"({"facts": {"closing_point": "outside"}})");
  expect_own();
}

TEST_F(Aliases, AFileThatIsWrongEndsWithStatus2) {
  copy_v030();
  write_aliases(R"({"decoder": {"inputs": {"box_cords": "b"}}})");
  remember_entries();
  std::vector<std::string> words{"run", foreign().native(), sample("shapes_01.png"), "--text", "circle"};
  words.insert(words.end(), options_.begin(), options_.end());
  expect_refused(samlet(words), 2, {"aliases.json", "'box_cords'", "'box_coords'"});
  EXPECT_EQ(check().exit_code, 2);
  words.back() = "none.json";
  expect_refused(samlet(words), 1, {"none.json"});
  words.back() = "";
  expect_refused(samlet(words), 2, {"--aliases"});
  write_file(folder_.path() / "aliases.json", "{}");
  remember_entries();
  words.back() = "aliases.json";
  words[1] = (fs::path(SAMLET_SOURCE_DIR) / "tests/data/stub-v1").native();
  expect_refused(samlet(words), 2, {"model.json", "leave the alias file out"});
}

TEST_F(Aliases, APointDecoderThatCannotBeMappedIsToldByCheckOnly) {
  copy_own();
  edit(kPoints, [](OnnxEdit& g) {
    g.add_input("orig_im_size", OnnxType::kInt64, {2}).after({"Identity", {"orig_im_size"}, {"size_again"}});
    g.add_output("size_again", OnnxType::kInt64, {2});
  });
  expect_same(kPhrases);
  const ProcessResult checked = check();
  EXPECT_EQ(checked.exit_code, 3);
  EXPECT_TRUE(mentions(checked.output, "FAILED  contract   sam3_point_decoder.onnx: ")) << checked.output;
  EXPECT_TRUE(mentions(checked.output, "the input 'orig_im_size' i64 [2] fits no role")) << checked.output;
}

}  // namespace
}  // namespace samlet::test
