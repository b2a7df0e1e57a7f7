// Folders of contract version 1, run: batches, boxes, thresholds, both forms of the decoder, text encoders.
#include "models/sam3/graphs_v1.h"

#include <algorithm>
#include <cmath>
#include <ostream>

#include "models/sam3/contract.h"
#include "models/sam3/pipeline.h"
#include "models/sam3/test_support.h"

namespace samlet {

/// For messages; the default prints bytes. The mask stands for all that follows from it.
// NOLINTNEXTLINE(readability-identifier-naming): the name is GoogleTest's.
static void PrintTo(const Instance& instance, std::ostream* out) {
  *out << "prompt " << instance.prompt_index << " score " << instance.score << " area "
       << instance.mask.area();
}

static bool operator==(const Instance& a, const Instance& b) {
  return a.score == b.score && a.presence == b.presence && a.box.x1 == b.box.x1 && a.box.y1 == b.box.y1 &&
         a.box.x2 == b.box.x2 && a.box.y2 == b.box.y2 && a.mask.counts == b.mask.counts;
}

}  // namespace samlet

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<ConceptSegmenter> open(const fs::path& folder, const std::string& text_encoder = {}) {
  const ModelOptions options = test_options(text_encoder);
  return make_segmenter(open_folder(folder, text_encoder), options);
}

Result ask(ConceptSegmenter& model, const std::vector<ConceptPrompt>& prompts, double threshold) {
  const auto encoded = model.encode(test_image(40, 30));
  return model.segment(*encoded, prompts, {threshold, {}});
}

const ExemplarBox kBox{{5, 5, 20, 20}, true};
const ExemplarBox kOther{{10, 8, 30, 25}, true};
const ExemplarBox kNegative{{1, 2, 9, 12}, false};

/// Ten prompts, more than one call takes, with 0 to 3 boxes.
std::vector<ConceptPrompt> many_prompts() {
  std::vector<ConceptPrompt> prompts{{"dog", {}},
                                     {"red ball", {kBox}},
                                     {std::nullopt, {kBox, kOther}},
                                     {"a", {kNegative}},
                                     {"dog", {kBox, kNegative, kOther}}};
  for (const char* text : {"cat", "yellow school bus", "x", "person", "tree"}) prompts.push_back({text, {}});
  return prompts;
}

class GraphsV1 : public testing::TestWithParam<const char*> {};

TEST_P(GraphsV1, PromptsTogetherGiveWhatEachGivesAlone) {
  const auto model = open(stub(GetParam()));
  const auto prompts = many_prompts();
  const auto encoded = model->encode(test_image(40, 30));
  const Result together = model->segment(*encoded, prompts, {0.2, {}});
  std::vector<Instance> alone;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    Result one = model->segment(*encoded, std::span(&prompts[i], 1), {0.2, {}});
    EXPECT_FALSE(one.instances.empty()) << i;
    for (Instance& instance : one.instances) {
      instance.prompt_index = i;
      alone.push_back(std::move(instance));
    }
  }
  EXPECT_EQ(together.instances, alone);
  for (std::size_t i = 0; i < std::min(alone.size(), together.instances.size()); ++i)
    EXPECT_EQ(together.instances[i].prompt_index, alone[i].prompt_index);
}

TEST_P(GraphsV1, AnyThresholdIsServed) {
  const auto model = open(stub(GetParam()));
  EXPECT_EQ(model->info().min_threshold, 0);
  const std::vector<ConceptPrompt> prompts{{"dog", {}}, {"cat", {}}};
  const Result all = ask(*model, prompts, 0);
  ASSERT_EQ(all.instances.size(), 20U);
  for (const Instance& instance : all.instances) {
    ASSERT_TRUE(instance.presence.has_value());
    EXPECT_LT(instance.score, *instance.presence);
  }
  EXPECT_NE(all.instances[0].presence, all.instances[10].presence);
  EXPECT_TRUE(ask(*model, prompts, 1).instances.empty());
  // Strictly above, to the last bit, although the graph compares in f32 and the pipeline in double.
  const double third = all.instances[2].score;
  EXPECT_EQ(ask(*model, {{"dog", {}}}, third).instances.size(), 2U);
  EXPECT_EQ(ask(*model, {{"dog", {}}}, std::nextafter(third, 0.0)).instances.size(), 3U);
}

TEST_P(GraphsV1, BoxesOfEitherSignAndAnyNumberCount) {
  const auto model = open(stub(GetParam()));
  EXPECT_FALSE(model->info().max_boxes.has_value());
  const auto best = [&](std::vector<ExemplarBox> boxes) {
    return ask(*model, {{"dog", std::move(boxes)}}, 0).instances.at(0).score;
  };
  const double none = best({});
  EXPECT_NE(best({kBox}), none);
  ExemplarBox negative = kBox;
  negative.positive = false;
  EXPECT_NE(best({kBox}), best({negative}));
  EXPECT_NE(best({kBox, kOther}), best({kBox}));
  EXPECT_EQ(best(std::vector<ExemplarBox>(9, kBox)), best(std::vector<ExemplarBox>(9, kBox)));
}

INSTANTIATE_TEST_SUITE_P(Stubs, GraphsV1, testing::Values("stub-v1", "stub-v1-static", "stub-v1-fp16"),
                         [](const auto& row) {
                           std::string name = row.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(GraphsV1Forms, TheStaticDecoderGivesTheSameInstances) {
  const auto dynamic = open(stub("stub-v1"));
  const auto fixed = open(stub("stub-v1-static"));
  for (const double threshold : {0.0, 0.3, 0.5, 1.0}) {
    EXPECT_EQ(ask(*dynamic, many_prompts(), threshold).instances,
              ask(*fixed, many_prompts(), threshold).instances)
        << threshold;
  }
}

TEST(GraphsV1Forms, HalfPrecisionFeaturesPassFromGraphToGraph) {
  const auto model = open(stub("stub-v1-fp16"));
  EXPECT_EQ(model->info().precision, "fp16");
  const Result half = ask(*model, many_prompts(), 0);
  const Result whole = ask(*open(stub("stub-v1")), many_prompts(), 0);
  ASSERT_EQ(half.instances.size(), whole.instances.size());
  double most = 0;
  for (std::size_t i = 0; i < half.instances.size(); ++i)
    most = std::max(most, std::abs(half.instances[i].score - whole.instances[i].score));
  EXPECT_LT(most, 0.01);
  EXPECT_GT(most, 0);
}

TEST(TextEncoders, AreChosenByNameOrPath) {
  const fs::path folder = stub("stub-v1");
  const auto full = open(folder);
  EXPECT_EQ(full->info().text_encoder, "full");
  EXPECT_EQ(full->info().context, 32U);
  const auto expected = ask(*open(folder, "litetext-s0"), {{"dog", {}}}, 0).instances;
  EXPECT_NE(expected, ask(*full, {{"dog", {}}}, 0).instances);
  for (const std::string& wanted :
       {std::string("s0"), (folder / "sam3_litetext_s0_language_encoder.onnx").native(),
        stub("stub-v1-static").native()}) {
    const auto model = open(folder, wanted);
    EXPECT_EQ(model->info().text_encoder, "litetext-s0");
    EXPECT_EQ(model->info().context, 16U);
    EXPECT_EQ(ask(*model, {{"dog", {}}}, 0).instances, expected) << wanted;
  }
}

TEST(TextEncoders, ALongPhraseIsCutToTheirContext) {
  const std::string phrase =
      "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";
  EXPECT_TRUE(ask(*open(stub("stub-v1")), {{phrase, {}}}, 0.5).warnings.empty());
  const auto warnings = ask(*open(stub("stub-v1"), "s0"), {{phrase, {}}}, 0.5).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(contains(warnings[0], "14 tokens"));
}

TEST(TextEncoders, UnknownOnesAreRefusedWithThoseThereAre) {
  const Error unknown = error_of([] { (void)open(stub("stub-v1"), "s1"); });
  EXPECT_EQ(unknown.code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(unknown.what(), "full, litetext-s0"));
  const Error absent = error_of([] { (void)open(stub("stub-v1"), "./none"); });
  EXPECT_EQ(absent.code(), ErrorCode::kModelMissing);
  EXPECT_TRUE(contains(absent.what(), "./none"));
  const Error no_encoder =
      error_of([] { (void)open(stub("stub-v1"), (stub("stub-v1") / "sam3_decoder.onnx").native()); });
  EXPECT_EQ(no_encoder.code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(no_encoder.what(), "'tokens'"));
  // Its features are f16, which the f32 decoder does not take.
  const Error half = error_of([] { (void)open(stub("stub-v1"), stub("stub-v1-fp16").native()); });
  EXPECT_EQ(half.code(), ErrorCode::kModelDamaged);
  EXPECT_TRUE(contains(half.what(), "f16"));
}

TEST(GraphsV1Faults, DecodersThatBreakTheirWordAreFoundOut) {
  ScratchFolder folder;
  std::size_t tried = 0;
  for (const auto& liar : fs::directory_iterator(stub("liars-v1"))) {
    SCOPED_TRACE(liar.path().filename());
    folder.copy(stub("stub-v1"));
    const auto size_before = fs::file_size(folder.path() / kDecoderFile);
    fs::copy_file(liar.path(), folder.path() / kDecoderFile, fs::copy_options::overwrite_existing);
    folder.edit_manifest("\"bytes\": " + std::to_string(size_before),
                         "\"bytes\": " + std::to_string(fs::file_size(liar.path())));
    const Error error = error_of([&] { (void)ask(*open(folder.path()), {{"dog", {}}}, 0.5); });
    const bool not_finite = liar.path().stem() == "nan_mask";
    EXPECT_EQ(error.code(), not_finite ? ErrorCode::kInternal : ErrorCode::kModelDamaged) << error.what();
    EXPECT_TRUE(contains(error.what(), "decoder"));
    ++tried;
  }
  EXPECT_EQ(tried, 7U);
}

TEST(GraphsV1Faults, ARuntimeThatIsTooOldIsRefused) {
  ScratchFolder folder;
  folder.copy(stub("stub-v1"));
  folder.edit_manifest("\"1.21\"", "\"99.1\"");
  const auto model = open(folder.path());
  const Error error = error_of([&] { (void)model->encode(test_image(8, 8)); });
  EXPECT_EQ(error.code(), ErrorCode::kDeviceUnavailable);
  EXPECT_TRUE(contains(error.what(), "99.1 or newer"));
}

}  // namespace
}  // namespace samlet::sam3
