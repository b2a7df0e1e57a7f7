#include "models/sam3/arch/weights.h"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>

#include "libs/checkpoint/test_support.h"

namespace samlet::sam3 {
namespace {

using checkpoint::contains;
using checkpoint::error_of;
using checkpoint::Listed;
using checkpoint::TemporaryFolder;

const std::string kBlock = "detector.backbone.vision_backbone.trunk.blocks.0.";
const std::string kPositions = "detector.backbone.vision_backbone.trunk.pos_embed";
const std::string kFourier = "tracker.sam_prompt_encoder.pe_layer.positional_encoding_gaussian_matrix";
const std::string kTheirBlock = "vision_encoder.backbone.layers.0.";
const std::string kTheirFourier = "shared_image_embedding.positional_embedding";
const std::string kTheirOtherFourier = "prompt_encoder.shared_embedding.positional_embedding";

/// A file of tensors, each filled with its place in the list.
class WeightsTest : public testing::Test {
 protected:
  std::unique_ptr<Weights> open(const std::vector<Listed>& tensors) {
    return Weights::open(folder_.write("model.safetensors", checkpoint::safetensors_of(tensors)));
  }
  /// One that a file of Meta's layout must have to be one.
  static Listed meta() { return {kBlock + "norm1.weight", {4}}; }
  static Listed theirs() { return {"detector_model." + kTheirBlock + "layer_norm1.weight", {4}}; }

  static std::string complaint(const Weights& weights) {
    const Error error = error_of([&] { weights.require_all_accounted(); });
    EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
    return error.what();
  }

  TemporaryFolder folder_;
};

// ---- How tensors are put together.

TEST_F(WeightsTest, GivesMetasTensorsByTheirNames) {
  const auto weights = open({meta(), {"detector.transformer.decoder.norm.bias", {2, 3}}});
  EXPECT_EQ(weights->layout(), CheckpointLayout::kMeta);
  EXPECT_EQ(weights->shape_of("detector.transformer.decoder.norm.bias"), (Shape{2, 3}));
  EXPECT_EQ(weights->shape_of("detector.nothing"), std::nullopt);
  EXPECT_EQ(weights->get("detector.transformer.decoder.norm.bias", {2, 3}).values(),
            std::vector<float>(6, 1));
  EXPECT_EQ(weights->files(), std::vector{folder_.path() / "model.safetensors"});
  EXPECT_EQ(weights->path(), folder_.path() / "model.safetensors");
}

TEST_F(WeightsTest, LeavesTheClassTokensPositionOut) {
  // Rows 0, 1 and 2 of two channels.
  const std::string header =
      fmt::format(R"({{"{}norm1.weight":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}},)"
                  R"("{}":{{"dtype":"F16","shape":[1,3,2],"data_offsets":[0,12]}}}})",
                  kBlock, kPositions);
  std::string data;
  for (const std::uint64_t half : {0x3C00U, 0x4000U, 0x4200U, 0x4400U, 0x4500U, 0x4600U})
    data += checkpoint::little_endian(half, 2);
  const auto weights = Weights::open(folder_.write("a.pt", checkpoint::safetensors_of(header, data)));
  EXPECT_EQ(weights->shape_of(kPositions), (Shape{1, 2, 2}));
  EXPECT_EQ(weights->get(kPositions, {1, 2, 2}).values(), (std::vector<float>{3, 4, 5, 6}));
}

TEST_F(WeightsTest, TransformersHasNoClassTokensPosition) {
  const auto weights =
      open({theirs(), {"detector_model.vision_encoder.backbone.embeddings.position_embeddings", {1, 4, 2}}});
  EXPECT_EQ(weights->layout(), CheckpointLayout::kTransformers);
  EXPECT_EQ(weights->get(kPositions, {1, 4, 2}).values(), std::vector<float>(8, 1));
}

TEST_F(WeightsTest, StacksQueriesKeysAndValues) {
  const std::string attention = "detector_model." + kTheirBlock + "attention.";
  const auto weights = open({{attention + "v_proj.weight", {1, 2}},
                             {attention + "k_proj.weight", {1, 2}},
                             theirs(),
                             {attention + "q_proj.weight", {2, 2}}});
  EXPECT_EQ(weights->shape_of(kBlock + "attn.qkv.weight"), (Shape{4, 2}));
  EXPECT_EQ(weights->get(kBlock + "attn.qkv.weight", {4, 2}).values(),
            (std::vector<float>{3, 3, 3, 3, 1, 1, 0, 0}));
}

TEST_F(WeightsTest, TakesPointsFromTheirTable) {
  const std::string header = fmt::format(
      R"({{"detector_model.{}layer_norm1.weight":{{"dtype":"F32","shape":[0],"data_offsets":[0,0]}},)"
      R"("tracker_model.prompt_encoder.point_embed.weight":{{"dtype":"BF16","shape":[2,2],"data_offsets":[0,8]}}}})",
      kTheirBlock);
  std::string data;
  for (const std::uint64_t half : {0x3F80U, 0x4000U, 0x4040U, 0x4080U})
    data += checkpoint::little_endian(half, 2);
  const auto weights = Weights::open(folder_.write("a.pt", checkpoint::safetensors_of(header, data)));
  const std::string name = "tracker.sam_prompt_encoder.point_embeddings.";
  EXPECT_EQ(weights->get(name + "0.weight", {1, 2}).values(), (std::vector<float>{1, 2}));
  EXPECT_EQ(weights->get(name + "1.weight", {1, 2}).values(), (std::vector<float>{3, 4}));
  EXPECT_EQ(weights->shape_of(name + "2.weight"), std::nullopt);
  EXPECT_EQ(weights->get(name + "2.weight", {1, 2}).values(), (std::vector<float>{0, 0}));
  EXPECT_TRUE(contains(complaint(*weights), "point_embed.weight of shape [2, 2] gives no [1, 2]"));
}

TEST_F(WeightsTest, EitherCopyOfTheFourierMatrixWillDo) {
  for (const std::string& name : {kTheirFourier, kTheirOtherFourier}) {
    const auto weights = open({theirs(), {"tracker_model." + name, {2, 3}}});
    EXPECT_EQ(weights->get(kFourier, {2, 3}).values(), std::vector<float>(6, 1));
    (void)weights->get(kBlock + "norm1.weight", {4});
    EXPECT_NO_THROW(weights->require_all_accounted());
  }
  const auto both = open({theirs(),
                          {"tracker_model." + kTheirFourier, {2, 3}},
                          {"tracker_model." + kTheirOtherFourier, {2, 3}}});
  (void)both->get(kFourier, {2, 3});
  (void)both->get(kBlock + "norm1.weight", {4});
  EXPECT_NO_THROW(both->require_all_accounted());
  const auto unequal = open({theirs(),
                             {"tracker_model." + kTheirFourier, {2, 3}},
                             {"tracker_model." + kTheirOtherFourier, {3, 2}}});
  (void)unequal->get(kFourier, {2, 3});
  EXPECT_TRUE(contains(complaint(*unequal), kTheirOtherFourier + "' has the shape [3, 2] instead of [2, 3]"));
}

TEST_F(WeightsTest, Sam3ModelAloneHasNoPrefix) {
  const auto weights = open({{kTheirBlock + "layer_norm1.weight", {4}},
                             {"detr_decoder.output_layer_norm.weight", {2}},
                             {"text_encoder.text_projection.weight", {3, 2}}});
  EXPECT_EQ(weights->layout(), CheckpointLayout::kTransformers);
  EXPECT_EQ(weights->get("detector.transformer.decoder.norm.weight", {2}).values(), std::vector<float>(2, 1));
  (void)weights->get(kBlock + "norm1.weight", {4});
  EXPECT_NO_THROW(weights->require_all_accounted());
  ASSERT_EQ(weights->unused().size(), 1U);
  EXPECT_TRUE(
      contains(weights->unused()[0], "text_encoder.text_projection.weight: for a pooled text feature"));
}

/// The multiplex decoder has the names and shapes of the one that is wanted, and comes first.
TEST_F(WeightsTest, Sam31IsNotTakenInByItsDecoy) {
  const auto weights = open({{"tracker.model.sam_mask_decoder.iou_token.weight", {1, 2}},
                             {"detector.backbone.vision_backbone.propagation_convs.0.conv_1x1.bias", {2}},
                             {"detector.backbone.vision_backbone.interactive_convs.0.conv_1x1.bias", {2}},
                             {"tracker.model.interactive_sam_mask_decoder.iou_token.weight", {1, 2}},
                             {"tracker.model.interactivity_no_mem_embed", {1, 1, 2}},
                             meta()});
  EXPECT_EQ(weights->layout(), CheckpointLayout::kMeta31);
  EXPECT_EQ(weights->get("tracker.sam_mask_decoder.iou_token.weight", {1, 2}).values(),
            std::vector<float>(2, 3));
  EXPECT_EQ(weights->get("detector.backbone.vision_backbone.sam2_convs.0.conv_1x1.bias", {2}).values(),
            std::vector<float>(2, 2));
  EXPECT_EQ(weights->get("tracker.no_mem_embed", {1, 1, 2}).values(), std::vector<float>(2, 4));
  (void)weights->get(kBlock + "norm1.weight", {4});
  EXPECT_NO_THROW(weights->require_all_accounted());
  EXPECT_EQ(weights->unused().size(), 2U);
  EXPECT_EQ(weights->shape_of("tracker.model.sam_mask_decoder.iou_token.weight"), std::nullopt);
}

TEST_F(WeightsTest, TheDecoyAloneIsNotTakenEither) {
  const auto weights = open({{"tracker.model.sam_mask_decoder.iou_token.weight", {1, 2}}, meta()});
  EXPECT_EQ(weights->shape_of("tracker.sam_mask_decoder.iou_token.weight"), std::nullopt);
}

// ---- The account.

TEST_F(WeightsTest, OneErrorNamesEverything) {
  const auto weights = open({meta(),
                             {"detector.transformer.decoder.norm.bias", {2, 3}},
                             {"detector.transformer.decoder.query_embed.weight", {5}, "I64"},
                             {"detector.novelty", {7}},
                             {kBlock + "attn.freqs_cis", {4, 2}, "C64"}});
  (void)weights->get(kBlock + "norm1.weight", {4});
  EXPECT_EQ(weights->get("detector.transformer.decoder.norm.bias", {6}).values(), std::vector<float>(6, 0));
  EXPECT_EQ(weights->get("detector.transformer.decoder.query_embed.weight", {5}).values(),
            std::vector<float>(5, 0));
  EXPECT_EQ(weights->get("detector.transformer.decoder.norm.weight", {2}).values(), std::vector<float>(2, 0));
  (void)weights->get("detector.transformer.decoder.norm.weight", {2});
  EXPECT_EQ(
      complaint(*weights),
      fmt::format("'{}' is not the SAM 3 that samlet knows: 1 tensors are missing, 2 wrong, 1 unexpected\n"
                  "  missing: detector.transformer.decoder.norm.weight\n"
                  "  wrong: detector.transformer.decoder.norm.bias of shape [2, 3] gives no [6]\n"
                  "  wrong: 'detector.transformer.decoder.query_embed.weight' holds i64 values\n"
                  "  unexpected: detector.novelty [7]",
                  (folder_.path() / "model.safetensors").native()));
  ASSERT_EQ(weights->unused().size(), 1U);
  EXPECT_TRUE(contains(weights->unused()[0], "attn.freqs_cis: rotary tables, recomputed (1)"));
}

TEST_F(WeightsTest, NamesWhereAMissingTensorWasLookedFor) {
  const auto weights = open({theirs(), {"detector_model." + kTheirBlock + "attention.q_proj.bias", {2}}});
  (void)weights->get(kBlock + "attn.qkv.bias", {6});
  EXPECT_TRUE(
      contains(complaint(*weights),
               fmt::format("missing: {0}attn.qkv.bias (stored as detector_model.{1}attention.q_proj.bias, "
                           "detector_model.{1}attention.k_proj.bias, "
                           "detector_model.{1}attention.v_proj.bias)",
                           kBlock, kTheirBlock)));
}

TEST_F(WeightsTest, PartsOfUnequalWidthsAreWrong) {
  const std::string attention = "detector_model." + kTheirBlock + "attention.";
  const auto weights = open({theirs(),
                             {attention + "q_proj.weight", {2, 2}},
                             {attention + "k_proj.weight", {2, 3}},
                             {attention + "v_proj.weight", {2, 2}}});
  EXPECT_EQ(weights->shape_of(kBlock + "attn.qkv.weight"), std::nullopt);
  (void)weights->get(kBlock + "attn.qkv.weight", {6, 2});
  EXPECT_TRUE(contains(complaint(*weights), "of shape [2, 2], [2, 3], [2, 2] give no [6, 2]"));
}

TEST_F(WeightsTest, ListsHaveEveryTensor) {
  std::vector<Listed> tensors{meta()};
  for (int i = 0; i < 50; ++i) tensors.push_back({fmt::format("novelty.{}", i), {1}});
  const auto weights = open(tensors);
  const std::string text = complaint(*weights);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 51);
  EXPECT_TRUE(text.find("novelty.49") != std::string::npos);
}

TEST_F(WeightsTest, PartsCanBeLeftOut) {
  const std::vector<Listed> tensors{meta(),
                                    {"detector.backbone.language_backbone.encoder.anything", {1}},
                                    {"detector.backbone.vision_backbone.sam2_convs.0.conv_1x1.bias", {1}},
                                    {"tracker.sam_mask_decoder.iou_token.weight", {1}}};
  const auto weights = open(tensors);
  (void)weights->get(kBlock + "norm1.weight", {4});
  EXPECT_TRUE(contains(complaint(*weights), "0 tensors are missing, 0 wrong, 3 unexpected"));
  weights->leave_out(Part::kTextEncoder, "a student takes its place");
  EXPECT_TRUE(contains(complaint(*weights), "2 unexpected"));
  weights->leave_out(Part::kPointDecoder, "not asked for");
  EXPECT_NO_THROW(weights->require_all_accounted());
  EXPECT_TRUE(
      contains(weights->unused()[0], "detector.backbone.language_backbone.*: a student takes its place (1)"));
}

TEST_F(WeightsTest, StandInsOfAnySizeTakeNoMemory) {
  const auto weights = open({meta()});
  const LazyTensor tensor = weights->get("detector.nothing", {std::int64_t{1} << 40});
  EXPECT_EQ(tensor.count(), std::size_t{1} << 40);
}

// ---- Other models.

TEST_F(WeightsTest, OtherModelsAreNamed) {
  struct Case {
    std::string name;
    std::string words;
  };
  const std::vector<Case> cases{
      {"detector.backbone.vision_backbone.trunk.model.backbone.x", "EfficientSAM3"},
      {"detector.backbone.language_backbone.encoder.x", "a text encoder alone; give it with --text-encoder"},
      {"sam3_model.detector.x", "before its release"},
      {"shared_image_embedding.positional_embedding", "Sam3TrackerModel"},
      {"image_encoder.trunk.blocks.0.x", "SAM 2"},
      {"image_encoder.blocks.0.x", "the first SAM"},
      {"vision_encoder.backbone.layers.0.x", "a part of transformers' SAM 3"},
      {"layer1.weight", "is not SAM 3: it begins with the tensors 'layer1.weight'"},
  };
  for (const Case& c : cases) {
    const Error error = error_of([&] { (void)open({{c.name, {1}}}); });
    EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported);
    EXPECT_TRUE(contains(error.what(), c.words));
    EXPECT_TRUE(contains(error.what(), "model.safetensors'"));
  }
}

}  // namespace
}  // namespace samlet::sam3
