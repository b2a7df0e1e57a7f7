// Every graph against the answers of Meta's own classes for the same weights (tests/data/golden).
//
// Bounds: an output's error is max |a - b| / max |b| <= 1e-4 (two PyTorch implementations in f32 differ by up
// to 1e-5, see the table in tests/data/golden/README.md); scores 1e-4 and boxes 5e-5 absolute, which is half
// a pixel in ten thousand; masks of the point decoder, which amplifies rounding with random weights, by mean
// |a - b| / std <= 1e-3.
#include <algorithm>

#include "models/sam3/arch/golden_support.h"
#include "models/sam3/contract.h"

namespace samlet::sam3 {
namespace {

constexpr double kBound = 1e-4;
constexpr double kScoreBound = 1e-4;
constexpr double kBoxBound = 5e-5;
constexpr double kPointMaskBound = 1e-3;

ExportOptions options(const std::string& target = "portable", const std::string& layout = "samlet") {
  ExportOptions options;
  options.checkpoint = golden("sam3") / "sam3.pt";
  options.target = target;
  options.layout = layout;
  return options;
}

const ExportedModel& dynamic_model() {
  static const ExportedModel kModel(options());
  return kModel;
}

const ExportedModel& static_model() {
  static const ExportedModel kModel(options("coreml"));
  return kModel;
}

const ExportedModel& v030_model() {
  static const ExportedModel kModel(options("portable", "sam3-onnx"));
  return kModel;
}

std::string file(std::string_view name) {
  return std::string(name);
}

/// The recorded features of the image with a case's own tensors.
Tensors with_image(const std::string& name) {
  Tensors tensors = read_tensors(golden("sam3") / (name + ".safetensors"));
  tensors.merge(read_tensors(golden("sam3") / "image.safetensors"));
  tensors.emplace(v1::kScoreThreshold, scalar(0));
  return tensors;
}

void expect_near(const Tensors& got, const Tensors& wanted, const std::string& name) {
  EXPECT_LE(relative_error(got.at(name).view(), wanted.at(name).view()), kBound) << name;
}

void expect_equal_bools(const Tensor& got, const Tensor& wanted) {
  EXPECT_EQ(got.shape(), wanted.shape());
  EXPECT_TRUE(std::ranges::equal(got.view().as<bool>(), wanted.view().as<bool>()));
}

TEST(Golden, ImageEncoder) {
  const Tensors wanted = read_tensors(golden("sam3") / "image.safetensors");
  const Tensors got = dynamic_model().run(file(kImageEncoderFile), wanted);
  ASSERT_EQ(got.size(), 7U);
  for (const auto& [name, tensor] : got) {
    EXPECT_EQ(tensor.shape(), wanted.at(name).shape()) << name;
    expect_near(got, wanted, name);
  }
}

TEST(Golden, LanguageEncoderForManyPhrasesAndForOne) {
  const Tensors wanted = read_tensors(golden("sam3") / "language.safetensors");
  const Tensors got = dynamic_model().run(file(kLanguageEncoderFile), wanted);
  expect_near(got, wanted, file(v1::kLanguageFeatures));
  expect_equal_bools(got.at(file(v1::kLanguageMask)), wanted.at(file(v1::kLanguageMask)));
  const std::string features(v1::kLanguageFeatures);
  for (std::int64_t i = 0; i < wanted.at(features).shape()[0]; ++i) {
    const Tensors one =
        dynamic_model().run(file(kLanguageEncoderFile), {{"tokens", row(wanted.at("tokens"), i)}});
    EXPECT_LE(relative_error(one.at(features).view(), row(wanted.at(features), i).view()), kBound) << i;
  }
}

void expect_detections(const Tensors& got, const Tensors& wanted) {
  EXPECT_LE(absolute_error(got.at("scores").view(), wanted.at("scores").view()), kScoreBound);
  EXPECT_LE(absolute_error(got.at("boxes").view(), wanted.at("boxes").view()), kBoxBound);
  EXPECT_LE(absolute_error(got.at("presence").view(), wanted.at("presence").view()), kScoreBound);
  if (wanted.contains("mask_logits")) expect_near(got, wanted, "mask_logits");
}

class GoldenConcept : public ::testing::TestWithParam<std::string> {};

// Threshold 0 keeps every query, so that the dynamic form gives what the static one does.
TEST_P(GoldenConcept, DynamicDecoderGivesEveryQueryAtThresholdZero) {
  const Tensors wanted = with_image(GetParam());
  expect_detections(dynamic_model().run(file(kDecoderFile), wanted), wanted);
}

TEST_P(GoldenConcept, StaticDecoder) {
  const Tensors wanted = with_image(GetParam());
  const Tensors got = static_model().run(file(kDecoderFile), wanted);
  EXPECT_EQ(got.at("scores").shape(), wanted.at("scores").shape());
  expect_detections(got, wanted);
}

TEST_P(GoldenConcept, ThresholdKeepsExactlyTheQueriesAboveIt) {
  Tensors wanted = with_image(GetParam());
  const Tensors all = dynamic_model().run(file(kDecoderFile), wanted);
  for (const float threshold : {0.25F, 0.5F, 1.0F}) {
    wanted.insert_or_assign(std::string(v1::kScoreThreshold), scalar(threshold));
    const Tensors kept = dynamic_model().run(file(kDecoderFile), wanted);
    std::vector<std::int64_t> rows;
    const auto scores = all.at("scores").view().as<float>();
    for (std::size_t i = 0; i < scores.size(); ++i) {
      if (scores[i] > threshold) rows.push_back(static_cast<std::int64_t>(i));
    }
    const auto n = static_cast<std::int64_t>(rows.size());
    const Shape masks{n, all.at("mask_logits").shape()[1], all.at("mask_logits").shape()[2]};
    ASSERT_EQ(kept.at("scores").shape(), Shape{n}) << threshold;
    ASSERT_EQ(kept.at("mask_logits").shape(), masks) << threshold;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto query = rows[static_cast<std::size_t>(i)];
      for (const char* name : {"scores", "boxes", "mask_logits"}) {
        EXPECT_LE(relative_error(row(kept.at(name), i).view(), row(all.at(name), query).view()), kBound)
            << name;
      }
    }
  }
}

std::vector<std::string> concept_cases() {
  auto names = cases("concept_");
  std::erase(names, "concept_batch");
  std::erase(names, "concept_text_nocls");
  return names;
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenConcept, ::testing::ValuesIn(concept_cases()),
                         [](const auto& test) { return test.param; });

TEST(Golden, CasesAreThere) {
  EXPECT_GE(concept_cases().size(), 14U);
  EXPECT_GE(cases("point_").size(), 8U);
}

TEST(Golden, BatchOfPromptsEqualsSinglePrompts) {
  const Tensors wanted = with_image("concept_batch");
  const Tensors got = dynamic_model().run(file(kDecoderFile), wanted);
  expect_detections(got, wanted);
  const auto index = got.at("prompt_index").view().as<std::int64_t>();
  ASSERT_EQ(index.size(), 60U);
  for (std::size_t i = 0; i < index.size(); ++i) EXPECT_EQ(index[i], static_cast<std::int64_t>(i / 20));
  // Masks are those of the single cases, in the order of the rows.
  std::int64_t first = 0;
  for (const char* name : {"concept_text", "concept_text_2box", "concept_box"}) {
    const Tensor masks =
        read_tensors(golden("sam3") / (std::string(name) + ".safetensors")).at("mask_logits");
    const Shape& shape = masks.shape();  // [1, 20, 4g, 4g]
    const auto all = got.at("mask_logits").view().as<float>();
    const auto size = static_cast<std::size_t>(shape[1] * shape[2] * shape[3]);
    const auto mine = all.subspan(static_cast<std::size_t>(first) * size, size);
    EXPECT_LE(relative_error(Tensor::from<float>(shape, mine).view(), masks.view()), kBound) << name;
    ++first;
  }
}

// A prompt that keeps nothing stands between two that do: the loop must skip it and no mask may move.
TEST(Golden, PromptWithoutInstancesAmongOthersShiftsNothing) {
  Tensors wanted = with_image("concept_batch");
  const Tensors all = dynamic_model().run(file(kDecoderFile), wanted);
  const auto scores = all.at("scores").view().as<float>();
  const auto best_of = [&](std::size_t prompt) {
    return *std::ranges::max_element(scores.subspan(prompt * 20, 20));
  };
  std::vector<float> best{best_of(0), best_of(1), best_of(2)};
  const float worst = *std::ranges::min_element(best);
  wanted.insert_or_assign(std::string(v1::kScoreThreshold),
                          scalar(worst));  // strictly above: one prompt has none
  const Tensors kept = dynamic_model().run(file(kDecoderFile), wanted);
  std::int64_t at = 0;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (!(scores[i] > worst)) continue;
    ASSERT_LT(at, kept.at("scores").shape()[0]);
    EXPECT_EQ(kept.at("prompt_index").view().as<std::int64_t>()[static_cast<std::size_t>(at)],
              static_cast<std::int64_t>(i / 20));
    EXPECT_LE(relative_error(row(kept.at("mask_logits"), at).view(),
                             row(all.at("mask_logits"), static_cast<std::int64_t>(i)).view()),
              kBound);
    ++at;
  }
  EXPECT_EQ(at, kept.at("scores").shape()[0]);
  EXPECT_GT(at, 0);
}

// A phrase always carries the geometry encoder's class token. The recorded answer without it must be told
// apart.
TEST(Golden, AnswerWithoutTheClassTokenIsAnother) {
  const Tensors wanted = with_image("concept_text");
  const Tensors without = read_tensors(golden("sam3") / "concept_text_nocls.safetensors");
  const Tensors got = dynamic_model().run(file(kDecoderFile), wanted);
  EXPECT_GT(absolute_error(got.at("scores").view(), without.at("scores").view()), 0.1);
  EXPECT_LE(absolute_error(got.at("scores").view(), wanted.at("scores").view()), kScoreBound);
}

// What stands in an unused slot must not matter.
TEST(Golden, UnusedBoxSlotsChangeNothing) {
  Tensors wanted = with_image("concept_text_2box");
  const Tensors before = dynamic_model().run(file(kDecoderFile), wanted);
  const auto old_coords = wanted.at("box_coords").view().as<float>();
  std::vector<float> coords(old_coords.begin(), old_coords.end());
  coords.insert(coords.end(), {0.1F, 0.9F, 0.3F, 0.2F, 0, 0, 0, 0});
  const std::vector<std::int64_t> labels{1, 0, 0, 1};
  Tensor masks(DType::kBool, {1, 4});
  masks.as<bool>()[2] = masks.as<bool>()[3] = true;
  wanted.insert_or_assign("box_coords", Tensor::from<float>({1, 4, 4}, coords));
  wanted.insert_or_assign("box_labels", Tensor::from<std::int64_t>({1, 4}, labels));
  wanted.insert_or_assign("box_masks", masks);
  const Tensors after = dynamic_model().run(file(kDecoderFile), wanted);
  for (const char* name : {"scores", "boxes", "mask_logits"}) expect_near(after, before, name);
}

void expect_points(const Tensors& got, const Tensors& wanted) {
  EXPECT_EQ(got.at("mask_logits").shape(), wanted.at("mask_logits").shape());
  EXPECT_LE(mean_error(got.at("mask_logits").view(), wanted.at("mask_logits").view()), kPointMaskBound);
  EXPECT_LE(absolute_error(got.at("iou").view(), wanted.at("iou").view()), kScoreBound);
  // One number, and a logit: relative to itself it may be near zero.
  EXPECT_LE(absolute_error(got.at("object_score").view(), wanted.at("object_score").view()), kScoreBound);
}

class GoldenPoint : public ::testing::TestWithParam<std::string> {};

TEST_P(GoldenPoint, Matches) {
  const Tensors wanted = with_image(GetParam());
  expect_points(dynamic_model().run(file(kPointDecoderFile), wanted), wanted);
}

TEST_P(GoldenPoint, AnyNumberOfUnusedPointsChangesNothing) {
  const Tensors wanted = with_image(GetParam());
  for (const std::size_t more : {1U, 7U}) {
    Tensors given = with_image(GetParam());
    const auto old_coords = wanted.at("point_coords").view().as<float>();
    const auto old_labels = wanted.at("point_labels").view().as<std::int64_t>();
    std::vector<float> coords(old_coords.begin(), old_coords.end());
    std::vector<std::int64_t> labels(old_labels.begin(), old_labels.end());
    coords.insert(coords.end(), 2 * more, 1e4F);
    labels.insert(labels.end(), more, -1);
    const auto p = static_cast<std::int64_t>(labels.size());
    given.insert_or_assign("point_coords", Tensor::from<float>({1, p, 2}, coords));
    given.insert_or_assign("point_labels", Tensor::from<std::int64_t>({1, p}, labels));
    expect_points(dynamic_model().run(file(kPointDecoderFile), given), wanted);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, GoldenPoint, ::testing::ValuesIn(cases("point_")),
                         [](const auto& test) { return test.param; });

// has_mask chooses; what stands in a mask that is not used must not matter, be it not a number.
TEST(Golden, MaskThatIsNotGivenIsNotLookedAt) {
  Tensors wanted = with_image("point_point");
  std::ranges::fill(wanted.at("mask_input").as<float>(), std::numeric_limits<float>::quiet_NaN());
  expect_points(dynamic_model().run(file(kPointDecoderFile), wanted), wanted);
}

TEST(Golden, SeveralObjectsInOneCallEqualSingleOnes) {
  const Tensors a = with_image("point_box");
  const Tensors b = with_image("point_mask");
  Tensors both = with_image("point_box");
  const auto join = [&](const char* name, auto fill, Shape shape) {
    std::vector<std::decay_t<decltype(fill)>> values;
    for (const Tensors* one : {&a, &b}) {
      const auto mine = one->at(name).view().as<std::decay_t<decltype(fill)>>();
      values.insert(values.end(), mine.begin(), mine.end());
      values.resize(static_cast<std::size_t>(*element_count(shape)) / 2 * (one == &a ? 1 : 2), fill);
    }
    both.insert_or_assign(name, Tensor::from<std::decay_t<decltype(fill)>>(shape, values));
  };
  const Shape& grid = a.at("mask_input").shape();
  join("point_coords", 0.0F, {2, 2, 2});
  join("point_labels", std::int64_t{-1}, {2, 2});
  join("mask_input", 0.0F, {2, 1, grid[2], grid[3]});
  join("has_mask", 0.0F, {2});
  const Tensors got = dynamic_model().run(file(kPointDecoderFile), both);
  std::int64_t index = 0;
  for (const Tensors* one : {&a, &b}) {
    Tensors mine;
    for (const auto& [name, tensor] : got) mine.emplace(name, row(tensor, index));
    expect_points(mine, *one);
    ++index;
  }
}

TEST(Golden, GraphsOfSam3OnnxV030AnswerTheSame) {
  const Tensors recorded = read_tensors(golden("sam3") / "image.safetensors");
  Tensors given = v030_model().run(file(kImageEncoderFile), recorded);
  for (int level = 0; level < 2; ++level) {
    const std::string name = "fpn_" + std::to_string(level);
    EXPECT_LE(relative_error(given.at("backbone_" + name).view(), recorded.at(name).view()), kBound) << name;
  }
  const Tensors wanted = read_tensors(golden("sam3") / "concept_text_box_cell.safetensors");
  const auto features = wanted.at("language_features").view().as<float>();
  const Shape& shape = wanted.at("language_features").shape();
  given.emplace("language_features", Tensor::from<float>({shape[1], 1, shape[2]}, features));
  for (const char* name : {"language_mask", "box_coords", "box_labels", "box_masks"}) {
    given.emplace(name, wanted.at(name));
  }
  const Tensors got = v030_model().run(file(kDecoderFile), given);
  const auto scores = wanted.at("scores").view().as<float>();
  std::int64_t kept = 0;
  for (const float score : scores) {
    if (score <= 0.5F) continue;
    ASSERT_LT(kept, got.at("scores").shape()[0]);
    EXPECT_NEAR(got.at("scores").view().as<float>()[static_cast<std::size_t>(kept)], score, kScoreBound);
    ++kept;
  }
  EXPECT_EQ(got.at("scores").shape(), Shape{kept});
  EXPECT_EQ(got.at("masks").shape(), (Shape{kept, 1, 32, 32}));
  EXPECT_GT(kept, 0);
}

struct Student {
  const char* name;
  const char* recorded;
};

class GoldenLiteText : public ::testing::TestWithParam<Student> {};

TEST_P(GoldenLiteText, Matches) {
  ExportOptions with_student = options();
  const std::string name = GetParam().name;
  with_student.text_encoders = {golden(name) / (name + ".pt")};
  const ExportedModel model(with_student);
  const Tensors wanted = read_tensors(golden(name) / (std::string(GetParam().recorded) + ".safetensors"));
  // By the file's prefix: the micro L is as narrow as an S1 and is taken for one.
  const auto graph = std::ranges::find_if(model.report().graphs, [](const ExportedGraph& exported) {
    return exported.file.starts_with(kLiteTextFilePrefix);
  });
  ASSERT_NE(graph, model.report().graphs.end());
  const Tensors got = model.run(graph->file, wanted);
  EXPECT_EQ(got.at("language_features").shape(), wanted.at("language_features").shape());
  expect_near(got, wanted, "language_features");
  expect_equal_bools(got.at("language_mask"), wanted.at("language_mask"));
}

INSTANTIATE_TEST_SUITE_P(Students, GoldenLiteText,
                         ::testing::Values(Student{"litetext_s0", "language_16"},
                                           Student{"litetext_s1", "language_32"},
                                           Student{"litetext_l", "language_16"}),
                         [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace samlet::sam3
