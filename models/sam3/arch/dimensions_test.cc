#include "models/sam3/arch/dimensions.h"

#include <fmt/format.h>

#include "libs/checkpoint/test_support.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;
using checkpoint::contains;
using checkpoint::error_of;
using checkpoint::Listed;
using checkpoint::TemporaryFolder;

const fs::path& golden() {
  static const fs::path kPath = fs::path(SAMLET_SOURCE_DIR) / "tests/data/golden/sam3";
  return kPath;
}

/// The smallest model that has all the numbers, all different.
std::vector<Listed> small_model() {
  const std::string trunk = "detector.backbone.vision_backbone.trunk.";
  const std::string text = "detector.backbone.language_backbone.encoder.";
  std::vector<Listed> model{{trunk + "patch_embed.proj.weight", {128, 3, 14, 14}},
                            {trunk + "blocks.0.mlp.fc1.weight", {300, 128}},
                            {trunk + "pos_embed", {1, 10, 128}},
                            {text + "token_embedding.weight", {500, 192}},
                            {text + "positional_embedding", {32, 192}},
                            {text + "transformer.resblocks.0.ln_1.weight", {192}},
                            {text + "transformer.resblocks.0.mlp.c_fc.weight", {700, 192}},
                            {"detector.geometry_encoder.cls_embed.weight", {1, 64}},
                            {"detector.geometry_encoder.boxes_pool_project.weight", {64, 64, 7, 7}},
                            {"detector.geometry_encoder.encode.0.norm1.weight", {64}},
                            {"detector.geometry_encoder.encode.0.linear1.weight", {900, 64}},
                            {"detector.transformer.encoder.layers.0.norm1.weight", {64}},
                            {"detector.transformer.encoder.layers.1.norm1.weight", {64}},
                            {"detector.transformer.encoder.layers.0.linear1.weight", {900, 64}},
                            {"detector.transformer.decoder.norm.weight", {64}},
                            {"detector.transformer.decoder.layers.0.norm1.weight", {64}},
                            {"detector.transformer.decoder.layers.0.linear1.weight", {900, 64}},
                            {"detector.transformer.decoder.boxRPB_embed_x.layers.1.weight", {4, 64}},
                            {"detector.transformer.decoder.query_embed.weight", {25, 64}},
                            {"tracker.sam_mask_decoder.iou_token.weight", {1, 64}},
                            {"tracker.sam_mask_decoder.transformer.layers.0.mlp.lin1.weight", {1100, 64}},
                            {"tracker.sam_mask_decoder.iou_prediction_head.layers.0.weight", {130, 64}}};
  for (int block = 0; block < 4; ++block) {
    model.push_back({fmt::format("{}blocks.{}.norm1.weight", trunk, block), {128}});
    // Windows of 3 x 3, a picture of 6 x 6, heads of 32.
    model.push_back(
        {fmt::format("{}blocks.{}.attn.freqs_cis", trunk, block), {block == 2 ? 36 : 9, 16}, "C64"});
  }
  return model;
}

class DimensionsTest : public testing::Test {
 protected:
  Dimensions read(const std::vector<Listed>& tensors, std::string_view config = "") {
    const auto weights = Weights::open(folder_.write("sam3.pt", checkpoint::safetensors_of(tensors)));
    return read_dimensions(*weights, config.empty() ? fs::path() : folder_.write("config.json", config));
  }
  Error refusal(const std::vector<Listed>& tensors, std::string_view config = "") {
    return error_of([&] { (void)read(tensors, config); });
  }
  /// The small model with another shape for one tensor; an empty one takes it away.
  static std::vector<Listed> with(std::string_view name, const Shape& shape) {
    std::vector<Listed> model;
    for (Listed& tensor : small_model()) {
      const bool meant = tensor.name.ends_with(name);
      if (meant && !shape.empty()) tensor.shape = shape;
      if (!meant || !shape.empty()) model.push_back(std::move(tensor));
    }
    return model;
  }
  static std::vector<Listed> without_tables() { return with("freqs_cis", {}); }

  TemporaryFolder folder_;
};

TEST_F(DimensionsTest, TensorsTellThem) {
  const Dimensions d = read(small_model());
  EXPECT_EQ(d.vision.width, 128);
  EXPECT_EQ(d.vision.patch, 14);
  EXPECT_EQ(d.vision.mlp, 300);
  EXPECT_EQ(d.vision.pretrain_grid, 3);
  EXPECT_EQ(d.vision.depth, 4);
  EXPECT_EQ(d.vision.window, 3);
  EXPECT_EQ(d.vision.image, 84);
  EXPECT_EQ(d.vision.grid(), 6);
  EXPECT_EQ(d.vision.heads, 4);
  EXPECT_EQ(d.vision.global_blocks, std::vector<std::int64_t>{2});
  EXPECT_EQ(d.text.vocabulary, 500);
  EXPECT_EQ(d.text.width, 192);
  EXPECT_EQ(d.text.context, 32);
  EXPECT_EQ(d.text.layers, 1);
  EXPECT_EQ(d.text.mlp, 700);
  EXPECT_EQ(d.text.heads, 3);
  EXPECT_EQ(d.detector.width, 64);
  EXPECT_EQ(d.detector.heads, 4);
  EXPECT_EQ(d.detector.ffn, 900);
  EXPECT_EQ(d.detector.geometry_layers, 1);
  EXPECT_EQ(d.detector.fusion_layers, 2);
  EXPECT_EQ(d.detector.decoder_layers, 1);
  EXPECT_EQ(d.detector.queries, 25);
  EXPECT_EQ(d.detector.roi, 7);
  ASSERT_TRUE(d.point.has_value());
  EXPECT_EQ(d.point->mlp, 1100);
  EXPECT_EQ(d.point->iou_hidden, 130);
  EXPECT_EQ(d.point->heads, 8);
  EXPECT_TRUE(d.point->iou_sigmoid);
}

TEST_F(DimensionsTest, ConfigsOfBothKindsTellTheRest) {
  const std::string detector =
      R"("vision_config":{"backbone_config":{"num_attention_heads":8,"image_size":126,
      "window_size":9,"global_attn_indexes":[3,1],"hidden_size":128}},"text_config":{"num_attention_heads":6})";
  for (
      const std::string& config :
      {fmt::format("{{{}}}", detector),
       fmt::format(
           R"({{"detector_config":{{{}}},"tracker_config":{{"mask_decoder_config":{{"num_attention_heads":4}}}}}})",
           detector)}) {
    const Dimensions d = read(without_tables(), config);
    EXPECT_EQ(d.vision.heads, 8);
    EXPECT_EQ(d.vision.image, 126);
    EXPECT_EQ(d.vision.window, 9);
    EXPECT_EQ(d.vision.global_blocks, (std::vector<std::int64_t>{1, 3}));
    EXPECT_EQ(d.text.heads, 6);
    EXPECT_EQ(d.point->heads, config.starts_with("{\"detector_config") ? 4 : 8);
  }
}

TEST_F(DimensionsTest, WithoutTablesAndConfigTheyAreThoseOfTheReleasedModel) {
  const Dimensions d = read(without_tables());
  EXPECT_EQ(d.vision.image, 1008);
  EXPECT_EQ(d.vision.window, 3);
  EXPECT_EQ(d.vision.heads, 2);
  EXPECT_EQ(d.vision.global_blocks, (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST_F(DimensionsTest, ReadsTheGoldenModel) {
  const Dimensions d = read_dimensions(*Weights::open(golden() / "sam3.pt"), golden() / "config.json");
  EXPECT_EQ(d.vision.image, 112);
  EXPECT_EQ(d.vision.width, 48);
  EXPECT_EQ(d.detector.width, 32);
  EXPECT_EQ(d.detector.queries, 20);
  EXPECT_EQ(d.text.vocabulary, 512);
  EXPECT_TRUE(d.point.has_value());
}

TEST_F(DimensionsTest, ContradictionsNameBothSides) {
  struct Case {
    std::string config;
    std::string words;
  };
  const auto vision = [](std::string_view entry) {
    return fmt::format(R"({{"vision_config":{{"backbone_config":{{{}}}}}}})", entry);
  };
  const std::vector<Case> cases{
      {vision(R"("hidden_size":1024)"), "patch_embed.proj.weight' of shape [128, 3, 14, 14] tells 128"},
      {vision(R"("num_hidden_layers":5)"),
       "4 tensors 'detector.backbone.vision_backbone.trunk.blocks.<number>.norm1.weight'"},
      {vision(R"("window_size":6)"), "freqs_cis' tells 3"},
      {vision(R"("image_size":1008)"), "freqs_cis' tells 84"},
      {vision(R"("num_attention_heads":2)"), "freqs_cis' tells 4"},
      {vision(R"("pretrain_image_size":336)"), "pos_embed' of shape [1, 9, 128] tells 42"},
      {vision(R"("global_attn_indexes":[1])"), "global_attn_indexes = [1], but the shapes"},
      {vision(R"("global_attn_indexes":[4])"),
       "global_attn_indexes = [4], but the image encoder has 4 blocks"},
      {vision(R"("global_attn_indexes":[-1])"), "but the image encoder has 4 blocks"},
      {vision(R"("global_attn_indexes":[2,2])"), "but the image encoder has 4 blocks"},
      {vision(R"("global_attn_indexes":"all")"), "has no list of whole numbers at"},
      {vision(R"("hidden_size":128.0)"),
       "has no whole number at 'vision_config.backbone_config.hidden_size'"},
      {R"({"text_config":{"vocab_size":49408}})", "token_embedding.weight' of shape [500, 192] tells 500"},
      {R"({"detr_encoder_config":{"num_attention_heads":8}})",
       "boxRPB_embed_x.layers.1.weight' of shape [4, 64] tells 4"},
      {R"({"detr_decoder_config":{"num_queries":200}})", "query_embed.weight' of shape [25, 64] tells 25"},
      {R"({"tracker_config":{"mask_decoder_config":{"mlp_dim":2048}}})",
       "lin1.weight' of shape [1100, 64] tells 1100"},
      {"[]", "a JSON object is needed"},
      {"{", "is no JSON from byte"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.config);
    const Error error = refusal(small_model(), c.config);
    EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
    EXPECT_TRUE(contains(error.what(), c.words));
    EXPECT_TRUE(contains(error.what(), "config.json"));
  }
  EXPECT_NO_THROW((void)read(small_model(), vision(R"("hidden_size":null)")));
}

TEST_F(DimensionsTest, RefusesWhatTheGraphsCannotHave) {
  struct Case {
    std::vector<Listed> model;
    std::string words;
    ErrorCode code = ErrorCode::kModelUnsupported;
  };
  const std::vector<Case> cases{
      {with("query_embed.weight", {}), "has no tensor 'detector.transformer.decoder.query_embed.weight'",
       ErrorCode::kModelDamaged},
      {with("query_embed.weight", {25}), "has the shape [25]; 2 dimensions are needed",
       ErrorCode::kModelDamaged},
      {with("query_embed.weight", {0, 64}), "are more than 65536 or none"},
      {with("trunk.pos_embed", {1, 11, 128}), "is no table of a square", ErrorCode::kModelDamaged},
      {with("trunk.pos_embed", {1, 17, 128}), "6 is no multiple of 4"},
      {with("blocks.2.attn.freqs_cis", {35, 16}), "is no table of a square", ErrorCode::kModelDamaged},
      {with("blocks.2.attn.freqs_cis", {36, 8}), "contradict each other", ErrorCode::kModelDamaged},
      {with("blocks.2.attn.freqs_cis", {}), "has no tensor", ErrorCode::kModelDamaged},
      {with("blocks.1.attn.freqs_cis", {16, 16}), "contradict each other", ErrorCode::kModelDamaged},
      {with("attn.freqs_cis", {9, 15}), "128 is no multiple of 30"},
      {with("encode.0.linear1.weight", {901, 64}), "contradicts", ErrorCode::kModelDamaged},
      {with("cls_embed.weight", {1, 65}), "contradicts", ErrorCode::kModelDamaged},
      {with("boxRPB_embed_x.layers.1.weight", {3, 64}), "width of the detector: 64 is no multiple of 3"},
      {with("resblocks.0.ln_1.weight", {}), "has no tensor", ErrorCode::kModelDamaged},
      {with("token_embedding.weight", {500, 100}),
       "how many attention heads the text encoder has cannot be told"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.words);
    const Error error = refusal(c.model);
    EXPECT_EQ(error.code(), c.code);
    EXPECT_TRUE(contains(error.what(), c.words));
  }
}

TEST_F(DimensionsTest, RefusesAbsurdConfigs) {
  const auto words = [&](std::string_view entry) {
    const std::string config = fmt::format(R"({{"vision_config":{{"backbone_config":{{{}}}}}}})", entry);
    const Error error = refusal(without_tables(), config);
    EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported);
    return std::string(error.what());
  };
  EXPECT_TRUE(contains(words(R"("image_size":1000000007)"), "is more than"));
  EXPECT_TRUE(contains(words(R"("image_size":0)"), "or none"));
  EXPECT_TRUE(contains(words(R"("image_size":1000)"), "side of the picture: 1000 is no multiple of 14"));
  EXPECT_TRUE(contains(words(R"("num_attention_heads":-1)"), "or none"));
  EXPECT_TRUE(contains(words(R"("num_attention_heads":3)"), "128 is no multiple of 3"));
  EXPECT_TRUE(contains(words(R"("num_attention_heads":64)"), "2 is no multiple of 4"));
  EXPECT_TRUE(contains(words(R"("window_size":5)"), "72 is no multiple of 5"));
}

TEST_F(DimensionsTest, ManyLayersAreRefused) {
  std::vector<Listed> model = small_model();
  for (int i = 1; i < 300; ++i) {
    model.push_back({fmt::format("detector.geometry_encoder.encode.{}.norm1.weight", i), {1}});
  }
  EXPECT_TRUE(contains(refusal(model).what(), "more than 256 layers"));
}

TEST_F(DimensionsTest, AMissingConfigIsNamed) {
  const auto weights = Weights::open(folder_.write("sam3.pt", checkpoint::safetensors_of(small_model())));
  EXPECT_EQ(error_of([&] { (void)read_dimensions(*weights, folder_.path() / "config.json"); }).code(),
            ErrorCode::kNotFound);
}

TEST_F(DimensionsTest, WithoutATrackerThereAreNoPoints) {
  EXPECT_FALSE(read(with("iou_token.weight", {})).point.has_value());
}

TEST_F(DimensionsTest, AStudentLeavesNoTextEncoder) {
  EXPECT_EQ(read(with("token_embedding.weight", {})).text.layers, 0);
}

}  // namespace
}  // namespace samlet::sam3
