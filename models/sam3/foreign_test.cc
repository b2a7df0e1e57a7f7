// Folders whose graphs are samlet's stub, renamed and wrapped as others might have made them: what they give
// is what the stub gives.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "models/sam3/contract.h"
#include "models/sam3/folder.h"
#include "models/sam3/foreign.h"
#include "models/sam3/graphs_v050.h"
#include "models/sam3/graphs_v1.h"
#include "models/sam3/pipeline.h"
#include "models/sam3/self_test.h"
#include "models/sam3/self_test_cases.h"
#include "models/sam3/test_support.h"
#include "tests/support/onnx_edit.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;
using test::OnnxEdit;
using test::OnnxType;

const std::vector<ConceptPrompt> kPrompts{
    {"red circle", {}},
    {"dog", {{{5, 5, 20, 25}, true}}},
    {std::nullopt, {{{1, 2, 30, 20}, true}, {{20, 10, 30, 30}, false}}}};

Result segment_with(const Folder& folder, const std::vector<ConceptPrompt>& prompts, double threshold) {
  const auto model = make_segmenter(folder, test_options());
  const auto features = model->encode(test_image(40, 32));
  return model->segment(*features, prompts, {threshold, {}});
}

void expect_same(const Result& found, const Result& wanted) {
  ASSERT_EQ(found.instances.size(), wanted.instances.size());
  ASSERT_GT(wanted.instances.size(), 0U) << "nothing is compared";
  for (std::size_t i = 0; i < wanted.instances.size(); ++i) {
    const Instance& a = found.instances[i];
    const Instance& b = wanted.instances[i];
    EXPECT_EQ(a.prompt_index, b.prompt_index);
    EXPECT_NEAR(a.score, b.score, 1e-6);
    EXPECT_NEAR(a.box.x1, b.box.x1, 1e-4);
    EXPECT_NEAR(a.box.y2, b.box.y2, 1e-4);
    EXPECT_EQ(a.mask.counts, b.mask.counts) << "instance " << i;
  }
}

class Foreign : public testing::Test {
 protected:
  explicit Foreign(std::string_view name = "stub-v1") {
    scratch_.copy(stub(name));
    fs::remove(scratch_.path() / kManifestFile);
    fs::remove(scratch_.path() / "sam3_litetext_s0_language_encoder.onnx");
  }

  void edit(std::string_view file, const std::function<void(OnnxEdit&)>& change) const {
    OnnxEdit graph(scratch_.path() / file);
    change(graph);
    graph.save(scratch_.path() / file);
  }

  /// What an alias file says.
  void aliases(std::string_view text) {
    scratch_.write("aliases.json", text);
    aliases_ = scratch_.path() / "aliases.json";
  }

  [[nodiscard]] Folder open() const { return open_folder(scratch_.path(), {}, aliases_); }

  void expect_as_the_stub(const std::vector<ConceptPrompt>& prompts = kPrompts,
                          double threshold = 0.3) const {
    const Folder folder = open();
    EXPECT_EQ(folder.layout, Layout::kSam3OnnxV050);
    expect_same(segment_with(folder, prompts, threshold),
                segment_with(open_folder(stub("stub-v1")), prompts, threshold));
  }

  [[nodiscard]] std::string fact(const Folder& folder, std::string_view name) const {
    std::string all;
    for (const Fact& fact : folder.foreign->facts) {
      if (fact.name == name) return fact.value + " (" + fact.whence + ")";
      all += fact.name + " ";
    }
    return "not among " + all;
  }

  [[nodiscard]] static How how(const MappedTensor* tensor) {
    EXPECT_NE(tensor, nullptr);
    return tensor == nullptr ? How::kName : tensor->how;
  }

  ScratchFolder scratch_;
  fs::path aliases_;
};

/// Box tensors of this many slots (-1 = any number), in another order of dimensions when `boxes_first`.
void wrap_boxes(OnnxEdit& g, std::int64_t slots, bool boxes_first, bool with_masks = true) {
  using Dims = std::vector<std::int64_t>;
  for (const auto name : {v1::kBoxCoords, v1::kBoxLabels}) g.drop_input(name);
  const std::string coords(v1::kBoxCoords);
  const std::string labels(v1::kBoxLabels);
  const std::string masks(v1::kBoxMasks);
  g.add_input("input_boxes", OnnxType::kFloat, boxes_first ? Dims{slots, 1, 4} : Dims{1, slots, 4});
  g.add_input("input_boxes_labels", OnnxType::kInt64, boxes_first ? Dims{slots, 1} : Dims{1, slots});
  if (boxes_first) {
    g.before({"Transpose", {"input_boxes"}, {coords}, {{"perm", {1, 0, 2}}}});
    g.before({"Transpose", {"input_boxes_labels"}, {labels}, {{"perm", {1, 0}}}});
  } else {
    g.before({"Identity", {"input_boxes"}, {coords}});
    g.before({"Identity", {"input_boxes_labels"}, {labels}});
  }
  g.drop_input(masks);
  if (with_masks) {
    g.add_input("box_mask", OnnxType::kBool, {1, slots}).before({"Identity", {"box_mask"}, {masks}});
  } else {
    // Every slot is used: no label is below 0.
    g.integers("zero", {0}, {}).before({"Less", {labels, "zero"}, {masks}});
  }
}

TEST_F(Foreign, OwnGraphsWithoutManifestGiveTheSame) {
  const Folder folder = open();
  EXPECT_EQ(folder.info.layout, "sam3-onnx v0.5.0");
  EXPECT_EQ(folder.info.max_boxes, std::nullopt);
  EXPECT_EQ(folder.info.min_threshold, 0);
  EXPECT_EQ(fact(folder, kFactBoxLayout), "prompt_first (the order of the text's dimensions)");
  expect_as_the_stub();
}

TEST_F(Foreign, NamesOfTheTableAreKnown) {
  edit(kImageEncoderFile, [](OnnxEdit& g) {
    g.rename_input("image", "pixel_values").rename_output("backbone_fpn_2", "fpn_feat_2");
    g.rename_output("point_fpn_0", "high_res_feats_0").rename_output("point_fpn_1", "high_res_feats_1");
    g.rename_output("point_embed", "image_embed");
  });
  edit(kLanguageEncoderFile, [](OnnxEdit& g) {
    g.rename_input("tokens", "input_ids").rename_output("language_features", "text_features");
    g.rename_output("language_mask", "text_mask");
  });
  edit(kDecoderFile, [](OnnxEdit& g) {
    g.rename_input("backbone_fpn_2", "fpn_2").rename_input("language_features", "prompt_features");
    g.rename_input("language_mask", "prompt_mask").rename_input("box_coords", "input_boxes");
    g.rename_input("box_labels", "input_boxes_labels").rename_input("box_masks", "box_padding_mask");
    g.rename_input("score_threshold", "threshold").rename_output("scores", "pred_scores");
    g.rename_output("boxes", "pred_boxes").rename_output("mask_logits", "pred_masks");
  });
  edit(kPointDecoderFile, [](OnnxEdit& g) {
    g.rename_input("point_fpn_0", "high_res_features1").rename_input("point_fpn_1", "high_res_features2");
    g.rename_input("point_embed", "image_embeddings").rename_input("point_coords", "input_points");
    g.rename_input("point_labels", "input_labels").rename_input("has_mask", "has_mask_input");
    g.rename_output("mask_logits", "low_res_masks").rename_output("iou", "iou_predictions");
  });
  for (const auto& [from, to] :
       {std::pair{kImageEncoderFile, "vision_encoder.onnx"},
        std::pair{kLanguageEncoderFile, "text_encoder.onnx"}, std::pair{kDecoderFile, "decoder.onnx"},
        std::pair{kPointDecoderFile, "prompt_encoder_mask_decoder.onnx"}})
    fs::rename(scratch_.path() / from, scratch_.path() / to);
  EXPECT_TRUE(recognises(scratch_.path()));
  const Folder folder = open();
  ASSERT_TRUE(folder.foreign->points) << folder.foreign->no_points;
  EXPECT_EQ(how(folder.foreign->decoder.input(v030::kBoxCoords)), How::kTable);
  EXPECT_EQ(how(folder.foreign->image.output(v1::kPointEmbed)), How::kTable);
  expect_as_the_stub();
}

TEST_F(Foreign, WhatOnlyOneTensorCanBeNeedsNoName) {
  edit(kImageEncoderFile, [](OnnxEdit& g) { g.rename_input("image", "t_a0"); });
  edit(kLanguageEncoderFile, [](OnnxEdit& g) {
    g.rename_input("tokens", "t_b0")
        .rename_output("language_features", "t_b1")
        .rename_output("language_mask", "t_b2");
  });
  edit(kDecoderFile, [](OnnxEdit& g) {
    g.rename_input("language_features", "t_c0")
        .rename_input("language_mask", "t_c1")
        .rename_input("box_coords", "t_c2");
    g.rename_input("box_labels", "t_c3")
        .rename_input("box_masks", "t_c4")
        .rename_input("score_threshold", "t_c5");
    g.rename_output("boxes", "t_c6").rename_output("scores", "t_c7").rename_output("mask_logits", "t_c8");
    g.drop_output("presence").drop_output("prompt_index");
  });
  edit(kPointDecoderFile, [](OnnxEdit& g) {
    g.rename_input("point_coords", "t_d0")
        .rename_input("point_labels", "t_d1")
        .rename_input("mask_input", "t_d2");
    g.rename_input("has_mask", "t_d3").rename_output("mask_logits", "t_d4").rename_output("iou", "t_d5");
  });
  const Folder folder = open();
  ASSERT_TRUE(folder.foreign->points) << folder.foreign->no_points;
  EXPECT_EQ(how(folder.foreign->decoder.input(v030::kBoxMasks)), How::kShape);
  EXPECT_EQ(how(folder.foreign->language.output(v030::kTextMask)), How::kShape);
  EXPECT_EQ(how(folder.foreign->points->output(v1::kIou)), How::kShape);
  expect_as_the_stub();
}

TEST_F(Foreign, AnAliasFileNamesTheRest) {
  edit(kDecoderFile,
       [](OnnxEdit& g) { g.rename_input("mask_fpn_0", "m").rename_input("box_coords", "boxes_in"); });
  const Error error = error_of([&] { (void)open(); });
  EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(error.what(), "sam3_decoder.onnx' cannot be run as the decoder of SAM 3"));
  EXPECT_TRUE(contains(error.what(),
                       "nothing was found for its input 'm' f32 [1, 8, 16, 16]: backbone_fpn_0, by its type "
                       "and shape; sam3_image_encoder.onnx gives 'backbone_fpn_2'"));
  EXPECT_TRUE(contains(error.what(), "'boxes_in' f32 [-1, -1, 4]: box_coords, by its type and shape"));
  EXPECT_TRUE(contains(error.what(), "'box_labels' i64 [-1, -1]: box_labels, by its name"));
  EXPECT_TRUE(contains(error.what(), "'prompt_index' i64 [-1]: nothing known"));
  EXPECT_TRUE(contains(error.what(), "--aliases FILE"));
  aliases(R"({"decoder": {"inputs": {"mask_fpn_0": "m"}}})");
  EXPECT_EQ(how(open().foreign->decoder.input(v1::kMaskFeatures0)), How::kFile);
  expect_as_the_stub();
}

TEST_F(Foreign, AnAliasFileThatDoesNotFitIsRefused) {
  aliases(R"({"decoder": {"inputs": {"box_coords": "nobody"}}})");
  EXPECT_TRUE(contains(error_of([&] { (void)open(); }).what(),
                       "the alias file says that 'nobody' is box_coords, but there is no such input"));
  aliases(R"({"decoder": {"inputs": {"box_coords": "box_labels"}}})");
  EXPECT_TRUE(
      contains(error_of([&] { (void)open(); }).what(), "'box_labels' i64 [-1, -1] is box_coords, which has"));
  aliases_ = scratch_.path() / "none.json";
  EXPECT_EQ(error_of([&] { (void)open(); }).code(), ErrorCode::kNotFound);
  aliases("{}");
  const Error error = error_of([&] { (void)open_folder(stub("stub-v1"), {}, aliases_); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_TRUE(contains(error.what(), "model.json"));
}

TEST_F(Foreign, TwoTensorsForOneRoleAreRefused) {
  edit(kDecoderFile, [](OnnxEdit& g) {
    g.rename_output("scores", "pred_scores").after({"Identity", {"scores"}, {"logits"}});
    g.add_output("logits", OnnxType::kFloat, {-1});
  });
  EXPECT_TRUE(contains(error_of([&] { (void)open(); }).what(),
                       "'pred_scores' and 'logits' both have a name for scores"));
  aliases(R"({"decoder": {"outputs": {"scores": "pred_scores"}}})");
  expect_as_the_stub();
}

TEST_F(Foreign, BoxSlotsAreFixedOrNot) {
  for (const bool boxes_first : {false, true}) {
    for (const std::int64_t slots : {1, 4, -1}) {
      SCOPED_TRACE(testing::Message() << slots << (boxes_first ? " boxes first" : " prompt first"));
      scratch_.copy(stub("stub-v1"));
      fs::remove(scratch_.path() / kManifestFile);
      edit(kDecoderFile, [&](OnnxEdit& g) { wrap_boxes(g, slots, boxes_first); });
      const Folder folder = open();
      EXPECT_EQ(folder.info.max_boxes, slots < 0 ? std::nullopt : std::optional<std::size_t>(slots));
      expect_as_the_stub(slots == 1 ? std::vector<ConceptPrompt>{kPrompts[0], kPrompts[1]} : kPrompts);
    }
  }
}

TEST_F(Foreign, WithoutMasksEverySlotIsFilled) {
  const auto without_masks = [&](std::int64_t slots) {
    scratch_.copy(stub("stub-v1"));
    fs::remove(scratch_.path() / kManifestFile);
    edit(kDecoderFile, [&](OnnxEdit& g) { wrap_boxes(g, slots, false, false); });
  };
  without_masks(2);
  const Error error = error_of([&] { (void)segment_with(open(), {kPrompts[0]}, 0.3); });
  EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(error.what(), "has 2 box slots and no input that says which are unused"));
  expect_as_the_stub({kPrompts[2]});
  without_masks(-1);
  expect_as_the_stub();  // no box is no slot
}

TEST_F(Foreign, TextMayStandEitherWay) {
  const auto turned = [](OnnxEdit& g, bool is_output) {
    const std::string name(v1::kLanguageFeatures);
    if (is_output) {
      g.drop_output(name).add_output("text_memory", OnnxType::kFloat, {32, 1, 8});
      g.after({"Transpose", {name}, {"text_memory"}, {{"perm", {1, 0, 2}}}});
    } else {
      g.drop_input(name).add_input("text_memory", OnnxType::kFloat, {32, 1, 8});
      g.before({"Transpose", {"text_memory"}, {name}, {{"perm", {1, 0, 2}}}});
    }
  };
  edit(kLanguageEncoderFile, [&](OnnxEdit& g) { turned(g, true); });
  expect_as_the_stub();
  edit(kDecoderFile, [&](OnnxEdit& g) { turned(g, false); });
  EXPECT_EQ(fact(open(), kFactBoxLayout), "boxes_first (the order of the text's dimensions)");
  // The stub's boxes stand the other way, which only the user can know.
  aliases(R"({"facts": {"box_layout": "prompt_first"}})");
  EXPECT_EQ(fact(open(), kFactBoxLayout), "prompt_first (the alias file)");
  expect_as_the_stub();
}

TEST_F(Foreign, WhereNoDimensionIsFixedOneBoxIsGiven) {
  edit(kDecoderFile, [](OnnxEdit& g) {
    g.drop_input("language_features").add_input("text_memory", OnnxType::kFloat, {-1, -1, 8});
    g.before({"Identity", {"text_memory"}, {"language_features"}});
  });
  EXPECT_EQ(open().info.max_boxes, 1U);
  EXPECT_TRUE(contains(fact(open(), kFactBoxLayout), "unknown, so only one box is given"));
  expect_as_the_stub({kPrompts[0], kPrompts[1]});
  EXPECT_TRUE(
      contains(error_of([&] { (void)segment_with(open(), {kPrompts[2]}, 0.3); }).what(), "takes 1 at most"));
  aliases(R"({"facts": {"box_layout": "prompt_first"}})");
  EXPECT_EQ(open().info.max_boxes, std::nullopt);
  expect_as_the_stub();
}

TEST_F(Foreign, MoreSlotsThanAnyoneHasAreRefused) {
  edit(kDecoderFile, [](OnnxEdit& g) { wrap_boxes(g, std::int64_t{1} << 40, false); });
  EXPECT_TRUE(contains(error_of([&] { (void)open(); }).what(), "has too many slots"));
}

TEST_F(Foreign, NegativeBoxesNeedLabels) {
  edit(kDecoderFile, [](OnnxEdit& g) {
    g.drop_input("box_labels")
        .integers("one", {1}, {})
        .before({"Cast", {"box_masks"}, {"zeros"}, {}, {{"to", 7}}});
    g.before({"Mul", {"zeros", "nothing"}, {"none"}}).integers("nothing", {0}, {});
    g.before({"Add", {"none", "one"}, {"box_labels"}});
  });
  expect_as_the_stub({kPrompts[0], kPrompts[1]});
  EXPECT_TRUE(contains(error_of([&] { (void)segment_with(open(), {kPrompts[2]}, 0.3); }).what(),
                       "takes no box_labels, so it knows no negative boxes"));
}

class ForeignV030 : public Foreign {
 protected:
  ForeignV030() : Foreign("stub-v030") {}
};

TEST_F(ForeignV030, APointDecoderThatNothingFeedsLeavesTextAsItWas) {
  EXPECT_EQ(open().layout, Layout::kSam3OnnxV030);
  const std::vector<ConceptPrompt> prompts{kPrompts[0], kPrompts[1]};
  const Result before = segment_with(open(), prompts, 0.5);
  fs::copy_file(stub("stub-v1") / kPointDecoderFile, scratch_.path() / kPointDecoderFile);
  const Folder folder = open();
  EXPECT_EQ(folder.layout, Layout::kSam3OnnxV050);
  EXPECT_EQ(folder.info.min_threshold, 0.5);
  EXPECT_EQ(folder.info.max_boxes, 1U);
  EXPECT_TRUE(folder.foreign->has_bad_points);
  EXPECT_TRUE(contains(folder.foreign->no_points, "nothing was found for its input 'point_fpn_0'"));
  expect_same(segment_with(folder, prompts, 0.5), before);
}

TEST_F(Foreign, MasksMayBeProbabilitiesWithOneMoreDimension) {
  edit(kDecoderFile, [](OnnxEdit& g) {
    g.drop_output("mask_logits").integers("one", {1}, {1});
    g.after({"Sigmoid", {"mask_logits"}, {"flat"}}).after({"Unsqueeze", {"flat", "one"}, {"masks"}});
    g.add_output("masks", OnnxType::kFloat, {-1, 1, 16, 16});
  });
  expect_as_the_stub();
}

TEST_F(Foreign, ScoresMayBeLogitsBesideThePresence) {
  const auto logit = [](OnnxEdit& g, const std::string& of, const std::string& to) {
    g.after({"Sub", {"unit", of}, {to + "_rest"}}).after({"Div", {of, to + "_rest"}, {to + "_odds"}});
    g.after({"Log", {to + "_odds"}, {to}});
  };
  edit(kDecoderFile, [&](OnnxEdit& g) {
    g.floats("unit", {1}, {}).drop_output("scores").drop_output("presence");
    g.after({"Div", {"scores", "presence"}, {"classes"}});
    logit(g, "classes", "pred_logits");
    logit(g, "presence", "presence_logits");
    g.add_output("pred_logits", OnnxType::kFloat, {-1}).add_output("presence_logits", OnnxType::kFloat, {-1});
  });
  expect_as_the_stub();
}

TEST_F(Foreign, AThresholdInTheGraphIsAHalfUnlessItIsSaid) {
  edit(kDecoderFile,
       [](OnnxEdit& g) { g.drop_input("score_threshold").floats("score_threshold", {0.5F}, {}); });
  EXPECT_EQ(open().info.min_threshold, 0.5);
  const Error error = error_of([&] { (void)segment_with(open(), kPrompts, 0.4); });
  EXPECT_TRUE(contains(error.what(), "drops every score of 0.5 or less"));
  expect_as_the_stub(kPrompts, 0.5);
  aliases(R"({"facts": {"threshold_in_graph": 0.625}})");
  EXPECT_EQ(open().info.min_threshold, 0.625);
  expect_as_the_stub(kPrompts, 0.625);
}

TEST_F(Foreign, BoxesMayBeCentresAndCorners) {
  edit(kDecoderFile, [](OnnxEdit& g) {
    // Corners in: (x1 + x2) / 2, x2 - x1 as a product; centres out by its inverse.
    g.floats("to_centre", {0.5F, 0, -1, 0, 0, 0.5F, 0, -1, 0.5F, 0, 1, 0, 0, 0.5F, 0, 1}, {4, 4});
    g.drop_input("box_coords").add_input("box_coords_in", OnnxType::kFloat, {-1, -1, 4});
    g.before({"MatMul", {"box_coords_in", "to_centre"}, {"box_coords"}});
    g.drop_output("boxes").add_output("pred_boxes", OnnxType::kFloat, {-1, 4});
    g.after({"MatMul", {"boxes", "to_centre"}, {"pred_boxes"}});
  });
  aliases(R"({"facts": {"box_coords": "xyxy", "boxes": "cxcywh"}})");
  expect_as_the_stub();
}

TEST_F(Foreign, PicturesMayBeNumbersAroundZero) {
  edit(kImageEncoderFile, [](OnnxEdit& g) {
    g.drop_input("image").add_input("pixel_values", OnnxType::kFloat, {1, 3, 56, 56});
    g.floats("half", {127.5F}, {}).integers("first", {0}, {1});
    g.before({"Mul", {"pixel_values", "half"}, {"wide"}}).before({"Add", {"wide", "half"}, {"shifted"}});
    g.before({"Round", {"shifted"}, {"whole"}}).before({"Squeeze", {"whole", "first"}, {"one"}});
    g.before({"Cast", {"one"}, {"image"}, {}, {{"to", 2}}});
  });
  expect_as_the_stub();
}

class ForeignStatic : public Foreign {
 protected:
  ForeignStatic() : Foreign("stub-v1-static") {}
};

TEST_F(ForeignStatic, AllQueriesServeAnyThreshold) {
  EXPECT_EQ(open().info.min_threshold, 0);
  EXPECT_TRUE(contains(fact(open(), kFactThreshold), "a fixed number of rows"));
  for (const double threshold : {0.0, 0.3, 0.6}) expect_as_the_stub(kPrompts, threshold);
}

class ForeignHalf : public Foreign {
 protected:
  ForeignHalf() : Foreign("stub-v1-fp16") {}
};

TEST_F(ForeignHalf, HalfPrecisionFeaturesArePassedOn) {
  EXPECT_EQ(open().info.precision, "fp16");
  expect_same(segment_with(open(), kPrompts, 0.3),
              segment_with(open_folder(stub("stub-v1-fp16")), kPrompts, 0.3));
}

TEST_F(Foreign, TheSelfTestRunsAndFindsFactsOut) {
  const SelfTestReport report = run_self_test(scratch_.path(), {test_options(), {}, {}});
  std::string said;
  for (const SelfTestFault& fault : report.faults) said += fault.graph + ": " + fault.what + "\n";
  EXPECT_EQ(said, "");
  EXPECT_EQ(report.test.figures.size(), 4U);
  for (const Fact& fact : report.facts) said += fact.name + " " + fact.value + ", " + fact.whence + "; ";
  EXPECT_EQ(said,
            "scores probabilities, its values; masks logits, its name; closing_point ignored, a further "
            "point with the "
            "label -1 changed nothing; ");
}

}  // namespace
}  // namespace samlet::sam3
