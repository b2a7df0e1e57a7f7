// Point decoders in the ways in which others may have made them, on samlet's stub, which passes over points
// with the label -1.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "models/sam3/contract.h"
#include "models/sam3/folder.h"
#include "models/sam3/foreign.h"
#include "models/sam3/graphs_v030.h"
#include "models/sam3/graphs_v050.h"
#include "models/sam3/graphs_v1.h"
#include "models/sam3/self_test.h"
#include "models/sam3/self_test_cases.h"
#include "models/sam3/test_support.h"
#include "tests/support/onnx_edit.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;
using test::OnnxEdit;
using test::OnnxType;

constexpr std::int64_t kSide = 56;
constexpr std::int64_t kMask = 16;

/// One to three points, and the second time with an earlier answer.
std::vector<PointPrompt> objects() {
  const Tensor noise = noise_logits({kMask, kMask}, 7);
  const TensorView view = noise.view();
  const auto values = view.as<float>();
  return {{{{3, 4, 1}}, {}},
          {{{3, 4, 1}, {20, 9, 0}}, {values.begin(), values.end()}},
          {{{2, 2, 2}, {25, 20, 3}, {9, 9, 0}}, {}}};
}

DecodedPoints decode(Graphs& graphs, const std::vector<PointPrompt>& prompts, FeaturesFor wanted) {
  const Features features = graphs.encode_image(noise_image(kSide, 1), wanted, {});
  return graphs.decode_points(features, prompts, true, {});
}

void expect_same(const DecodedPoints& found, const DecodedPoints& wanted) {
  EXPECT_EQ(found.objects, wanted.objects);
  EXPECT_EQ(found.masks, wanted.masks);
  EXPECT_EQ(found.mask_rows, wanted.mask_rows);
  EXPECT_EQ(found.mask_columns, wanted.mask_columns);
  const auto compare = [](const std::vector<float>& a, const std::vector<float>& b, const char* what) {
    ASSERT_EQ(a.size(), b.size()) << what;
    for (std::size_t i = 0; i < b.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-4) << what << " " << i;
  };
  compare(found.mask_logits, wanted.mask_logits, "mask");
  compare(found.iou, wanted.iou, "IoU");
  compare(found.object_scores, wanted.object_scores, "object score");
}

/// What a "not a point" is to these graphs: a point of its own kind at (7, 7). Gives the stub's inputs out of
/// "all_coords" and "all_labels".
void count_no_points(OnnxEdit& g) {
  g.integers("none", {0}, {}).integers("kind", {3}, {}).floats("place", {7}, {}).integers("last", {2}, {1});
  g.before({"Less", {"all_labels", "none"}, {"is_none"}});
  g.before({"Where", {"is_none", "kind", "all_labels"}, {"point_labels"}});
  g.before({"Unsqueeze", {"is_none", "last"}, {"is_none_column"}});
  g.before({"Where", {"is_none_column", "place", "all_coords"}, {"point_coords"}});
}

/// "given" with one more, on the axis of points.
void append_no_point(OnnxEdit& g) {
  g.integers("minus_one", {-1}, {1, 1}).floats("nowhere", {0, 0}, {1, 1, 2});
  g.before({"Concat", {"points", "nowhere"}, {"all_coords"}, {}, {{"axis", 1}}});
  g.before({"Concat", {"labels", "minus_one"}, {"all_labels"}, {}, {{"axis", 1}}});
}

/// Inputs "points" and "labels" of so many points instead of the stub's.
void take_points(OnnxEdit& g, std::int64_t points = -1) {
  g.drop_input("point_coords").drop_input("point_labels");
  g.add_input("points", OnnxType::kFloat, {1, points, 2}).add_input("labels", OnnxType::kInt64, {1, points});
}

void make_outside(OnnxEdit& g) {
  take_points(g);
  g.before({"Identity", {"points"}, {"all_coords"}}).before({"Identity", {"labels"}, {"all_labels"}});
  count_no_points(g);
}

void make_inside(OnnxEdit& g) {
  take_points(g);
  append_no_point(g);
  count_no_points(g);
}

/// The closing point is the graph's own, and what the caller marks -1 stays what the stub passes over.
void make_ignoring(OnnxEdit& g, std::int64_t points = -1) {
  take_points(g, points);
  g.integers("kind", {3}, {1, 1}).floats("place", {7, 7}, {1, 1, 2});
  g.before({"Concat", {"points", "place"}, {"point_coords"}, {}, {{"axis", 1}}});
  g.before({"Concat", {"labels", "kind"}, {"point_labels"}, {}, {{"axis", 1}}});
}

class ForeignPoints : public testing::Test {
 protected:
  ForeignPoints() {
    scratch_.copy(stub("stub-v1"));
    fs::remove(scratch_.path() / kManifestFile);
    fs::remove(scratch_.path() / "sam3_litetext_s0_language_encoder.onnx");
  }

  void edit(const std::function<void(OnnxEdit&)>& change) const {
    OnnxEdit graph(stub("stub-v1") / kPointDecoderFile);
    change(graph);
    graph.save(scratch_.path() / kPointDecoderFile);
  }

  void aliases(std::string_view text) {
    scratch_.write("aliases.json", text);
    aliases_ = scratch_.path() / "aliases.json";
  }

  [[nodiscard]] DecodedPoints found(const std::vector<PointPrompt>& prompts = objects()) const {
    return decode(*make_graphs_v050(open_folder(scratch_.path(), {}, aliases_), test_options()), prompts,
                  FeaturesFor::kPoints);
  }

  /// What the stub gives.
  [[nodiscard]] static DecodedPoints given(const std::vector<PointPrompt>& prompts = objects()) {
    return decode(*make_graphs_v1(open_folder(stub("stub-v1")), test_options()), prompts,
                  FeaturesFor::kPoints);
  }

  /// What graphs give that count one closing point.
  [[nodiscard]] static DecodedPoints given_closed(std::vector<PointPrompt> prompts = objects()) {
    for (PointPrompt& prompt : prompts) prompt.points.push_back({7, 7, 3});
    return given(prompts);
  }

  [[nodiscard]] std::string refusal(const std::vector<PointPrompt>& prompts = objects()) const {
    const Error error = error_of([&] { (void)found(prompts); });
    EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported) << error.what();
    return error.what();
  }

  /// What the self-test says of the closing point; "" when it says nothing.
  [[nodiscard]] std::string probed() const {
    ModelOptions options = test_options();
    options.aliases = aliases_;
    const SelfTestReport report = run_self_test(scratch_.path(), {options, {}, {}});
    for (const SelfTestFault& fault : report.faults) ADD_FAILURE() << fault.graph << ": " << fault.what;
    for (const Fact& fact : report.facts) {
      if (fact.name == kFactClosingPoint) return fact.value;
    }
    return "";
  }

  [[nodiscard]] ClosingPoint closing() const {
    return open_folder(scratch_.path(), {}, aliases_).foreign->closing;
  }

  ScratchFolder scratch_;
  fs::path aliases_;
};

TEST_F(ForeignPoints, OwnGraphsWithoutManifestGiveTheSame) {
  expect_same(found(), given());
}

TEST_F(ForeignPoints, BothKindsOfFeaturesComeFromOneRun) {
  auto graphs = make_graphs_v1(open_folder(stub("stub-v1")), test_options());
  expect_same(decode(*graphs, objects(), FeaturesFor::kBoth), given());
  const Features both = graphs->encode_image(noise_image(kSide, 1), FeaturesFor::kBoth, {});
  EXPECT_EQ(both.names.size(), 7U);
  EXPECT_EQ(graphs->encode_image(noise_image(kSide, 1), FeaturesFor::kPoints, {}).names.size(), 3U);
  EXPECT_EQ(graphs->encode_image(noise_image(kSide, 1), FeaturesFor::kConcepts, {}).names.size(), 4U);
  const Features other = graphs->encode_image(noise_image(kSide, 1), FeaturesFor::kConcepts, {});
  EXPECT_EQ(error_of([&] { (void)graphs->decode_points(other, objects(), true, {}); }).code(),
            ErrorCode::kInternal);
  EXPECT_EQ(graphs->decode_points(both, {}, true, {}).objects, 0U);
}

TEST_F(ForeignPoints, AClosingPointFromOutsideIsAdded) {
  edit(make_outside);
  EXPECT_EQ(closing(), ClosingPoint::kOutside);
  EXPECT_EQ(probed(), "outside");
  expect_same(found(), given_closed());
}

TEST_F(ForeignPoints, AClosingPointInsideIsLeftToTheGraph) {
  edit(make_inside);
  EXPECT_EQ(closing(), ClosingPoint::kInside);
  EXPECT_EQ(probed(), "inside");
  expect_same(found(), given_closed());
}

TEST_F(ForeignPoints, IgnoredPointsAreFoundOut) {
  edit([](OnnxEdit& g) { make_ignoring(g); });
  EXPECT_EQ(probed(), "ignored");
  expect_same(found(), given_closed());
}

TEST_F(ForeignPoints, AFactOverrides) {
  edit(make_outside);
  aliases(R"({"facts": {"closing_point": "inside"}})");
  EXPECT_EQ(closing(), ClosingPoint::kInside);
  EXPECT_EQ(probed(), "");
  expect_same(found(), given());
}

TEST_F(ForeignPoints, AFixedNumberIsFilledUpWhereThatIsPossible) {
  edit([](OnnxEdit& g) { make_ignoring(g, 2); });
  expect_same(found({objects()[1]}), given_closed({objects()[1]}));
  EXPECT_TRUE(contains(refusal({objects()[0]}), "takes exactly 2 points, but 1 were given"));
  aliases(R"({"facts": {"closing_point": "ignored"}})");
  expect_same(found({objects()[0]}), given_closed({objects()[0]}));
  EXPECT_TRUE(contains(refusal({objects()[2]}), "takes at most 2 points, but 3 were given"));
  EXPECT_EQ(probed(), "");
}

TEST_F(ForeignPoints, AnInputMaySayWhichPointsAreValid) {
  edit([](OnnxEdit& g) {
    take_points(g, 4);
    g.add_input("point_valid", OnnxType::kBool, {1, 4}).integers("unused", {-1}, {});
    g.before({"Where", {"point_valid", "labels", "unused"}, {"all_labels"}});
    // Its closing point, after which nothing counts.
    g.integers("kind", {3}, {1, 1}).floats("place", {7, 7}, {1, 1, 2});
    g.before({"Concat", {"points", "place"}, {"point_coords"}, {}, {{"axis", 1}}});
    g.before({"Concat", {"all_labels", "kind"}, {"point_labels"}, {}, {{"axis", 1}}});
  });
  expect_same(found(), given_closed());
}

TEST_F(ForeignPoints, TypesAndDimensionsMayDiffer) {
  edit([](OnnxEdit& g) {
    g.drop_input("point_coords").drop_input("point_labels").drop_input("has_mask");
    g.add_input("input_points", OnnxType::kFloat, {1, 1, -1, 2})
        .add_input("input_labels", OnnxType::kInt32, {1, 1, -1});
    g.add_input("has_mask_input", OnnxType::kBool, {1}).integers("first", {1}, {1});
    g.before({"Squeeze", {"input_points", "first"}, {"point_coords"}});
    g.before({"Squeeze", {"input_labels", "first"}, {"flat"}});
    g.before({"Cast", {"flat"}, {"point_labels"}, {}, {{"to", 7}}});
    g.before({"Cast", {"has_mask_input"}, {"has_mask"}, {}, {{"to", 1}}});
    g.drop_output("mask_logits").add_output("pred_masks", OnnxType::kFloat, {1, 1, 4, kMask, kMask});
    g.after({"Unsqueeze", {"mask_logits", "first"}, {"pred_masks"}});
    g.drop_output("iou").add_output("iou_scores", OnnxType::kFloat, {1, 1, 4});
    g.after({"Unsqueeze", {"iou", "first"}, {"iou_scores"}});
  });
  aliases(R"({"facts": {"closing_point": "ignored"}})");
  expect_same(found(), given());
}

TEST_F(ForeignPoints, OneOrThreeMasksAreTakenAsTheyCome) {
  for (const std::int64_t masks : {1, 3}) {
    edit([&](OnnxEdit& g) {
      g.integers("from", {4 - masks}, {1}).integers("to", {4}, {1}).integers("axis_1", {1}, {1});
      for (const auto name : {"mask_logits", "iou"}) {
        g.drop_output(name).after({"Slice", {name, "from", "to", "axis_1"}, {std::string("cut_") + name}});
      }
      g.add_output("cut_mask_logits", OnnxType::kFloat, {-1, masks, kMask, kMask});
      g.add_output("cut_iou", OnnxType::kFloat, {-1, masks}).drop_output("object_score");
    });
    const DecodedPoints all = given();
    const DecodedPoints cut = found();
    EXPECT_EQ(cut.masks, static_cast<std::size_t>(masks));
    EXPECT_TRUE(cut.object_scores.empty());
    ASSERT_EQ(cut.iou.size(), 3U * static_cast<std::size_t>(masks));
    for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(cut.iou[(i + 1) * cut.masks - 1], all.iou[(i + 1) * 4 - 1]);
  }
}

TEST_F(ForeignPoints, TheNumberOfMasksMayBeAsked) {
  edit([](OnnxEdit& g) {
    g.add_input("multimask_output", OnnxType::kBool, {}).drop_output("iou");
    g.before({"Cast", {"multimask_output"}, {"several"}, {}, {{"to", 1}}});
    g.after({"Mul", {"iou", "several"}, {"iou_scores"}}).add_output("iou_scores", OnnxType::kFloat, {-1, 4});
  });
  expect_same(found(), given());
  auto graphs = make_graphs_v050(open_folder(scratch_.path()), test_options());
  const Features features = graphs->encode_image(noise_image(kSide, 1), FeaturesFor::kPoints, {});
  EXPECT_EQ(graphs->decode_points(features, objects(), false, {}).iou, std::vector<float>(12, 0.0F));
}

TEST_F(ForeignPoints, WhatCannotBeMappedIsSaidWhenAClickComes) {
  edit([](OnnxEdit& g) {
    g.add_input("orig_im_size", OnnxType::kInt64, {2}).after({"Identity", {"orig_im_size"}, {"unused"}});
    g.add_output("unused", OnnxType::kInt64, {2});
  });
  EXPECT_TRUE(contains(refusal(), "the input 'orig_im_size' i64 [2] fits no role"));
  edit([](OnnxEdit& g) { g.drop_input("has_mask").floats("has_mask", {1}, {1}); });
  EXPECT_TRUE(contains(refusal(), "nothing was found for has_mask, without which its mask_input"));
  edit([](OnnxEdit& g) {
    g.drop_input("has_mask").floats("has_mask", {0}, {1}).drop_input("mask_input");
    g.floats("mask_input", std::vector<float>(kMask * kMask, 0), {1, 1, kMask, kMask});
  });
  EXPECT_TRUE(contains(refusal(), "takes no earlier answer"));
  expect_same(found({objects()[0]}), given({objects()[0]}));
  fs::remove(scratch_.path() / kPointDecoderFile);
  EXPECT_TRUE(contains(refusal(), "there is no sam3_point_decoder.onnx"));
}

TEST_F(ForeignPoints, LayoutsWithoutAPointDecoderSaySo) {
  auto graphs = make_graphs_v030(open_folder(stub("stub-v030")), test_options());
  const Error error =
      error_of([&] { (void)graphs->encode_image(noise_image(kSide, 1), FeaturesFor::kPoints, {}); });
  EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(error.what(), "v0.3.0"));
  EXPECT_EQ(error_of([&] { (void)graphs->decode_points({}, objects(), true, {}); }).code(),
            ErrorCode::kModelUnsupported);
}

}  // namespace
}  // namespace samlet::sam3
