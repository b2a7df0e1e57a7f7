#include "models/sam3/arch/litetext_weights.h"

#include <fmt/format.h>

#include "libs/checkpoint/test_support.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;
using checkpoint::contains;
using checkpoint::error_of;
using checkpoint::Listed;
using checkpoint::TemporaryFolder;

fs::path golden(const std::string& name) {
  return fs::path(SAMLET_SOURCE_DIR) / "tests/data/golden" / name / (name + ".pt");
}

/// A student of one transformer block, under a prefix.
std::vector<Listed> student(const std::string& prefix, std::int64_t width) {
  const std::string block = prefix + "encoder.transformer.0.";
  return {{prefix + "encoder.embedding_layer.weight", {50, width}},
          {prefix + "encoder.positional_embedding.pos_embed.pos_embed", {1, 1, 32, width}},
          {block + "pre_norm_mha.0.weight", {width}},
          {block + "pre_norm_ffn.1.weight", {4 * width, width}},
          {prefix + "projector.weight", {32, width}},
          {prefix + "encoder.projection_layer", {width, width}}};
}

class LiteTextWeightsTest : public testing::Test {
 protected:
  std::unique_ptr<LiteTextWeights> open(const std::vector<Listed>& tensors) {
    return LiteTextWeights::open(folder_.write("student.pt", checkpoint::safetensors_of(tensors)));
  }
  Error refusal(const std::vector<Listed>& tensors) {
    return error_of([&] { (void)open(tensors); });
  }

  TemporaryFolder folder_;
};

TEST_F(LiteTextWeightsTest, ReadsTheGoldenStudents) {
  const auto s0 = LiteTextWeights::open(golden("litetext_s0"));
  EXPECT_EQ(s0->dimensions().variant, LiteTextVariant::kS0);
  EXPECT_EQ(s0->dimensions().repmixer_blocks, (std::vector<std::int64_t>{0, 5}));
  EXPECT_EQ(s0->dimensions().layers, 6);
  EXPECT_EQ(s0->dimensions().kernel, 11);
  EXPECT_EQ(s0->dimensions().rows, 16);
  EXPECT_EQ(s0->dimensions().output, 32);
  EXPECT_EQ(s0->dimensions().vocabulary, 512);
  EXPECT_EQ(s0->dimensions().mlp, 4 * s0->dimensions().width);
  EXPECT_EQ(s0->shape_of("encoder.transformer.0.layer_scale"), (Shape{s0->dimensions().width, 1, 1}));
  EXPECT_EQ(s0->files(), std::vector{golden("litetext_s0")});

  const auto s1 = LiteTextWeights::open(golden("litetext_s1"));  // nested under "model"
  EXPECT_EQ(s1->dimensions().variant, LiteTextVariant::kS1);
  EXPECT_EQ(s1->dimensions().layers, 4);
  EXPECT_EQ(s1->dimensions().rows, 32);
  EXPECT_TRUE(s1->dimensions().repmixer_blocks.empty());
  EXPECT_EQ(LiteTextWeights::open(golden("litetext_l"))->dimensions().rows, 77);
}

TEST_F(LiteTextWeightsTest, TakesAnyPrefixAndIgnoresTheRest) {
  for (const std::string prefix : {"", "detector.backbone.language_backbone."}) {
    std::vector<Listed> tensors{{"detector.backbone.vision_backbone.trunk.pos_embed", {1, 2, 2}}};
    for (const Listed& tensor : student(prefix, 64)) tensors.push_back(tensor);
    const auto weights = open(tensors);
    EXPECT_EQ(weights->dimensions().heads, 1);
    EXPECT_EQ(weights->get("projector.weight", {32, 64}).values(), std::vector<float>(2048, 5));
    (void)weights->get("encoder.embedding_layer.weight", {50, 64});
    (void)weights->get("encoder.positional_embedding.pos_embed.pos_embed", {1, 1, 32, 64});
    (void)weights->get("encoder.transformer.0.pre_norm_mha.0.weight", {64});
    const Error error = error_of([&] { weights->require_all_accounted(); });
    EXPECT_TRUE(contains(error.what(), "is not the LiteText text encoder that samlet knows"));
    EXPECT_TRUE(contains(error.what(), "0 tensors are missing, 0 wrong, 1 unexpected"));
    (void)weights->get("encoder.transformer.0.pre_norm_ffn.1.weight", {256, 64});
    EXPECT_NO_THROW(weights->require_all_accounted());
    ASSERT_EQ(weights->unused().size(), 2U);
    EXPECT_EQ(weights->unused()[0], "not of the text encoder: read from elsewhere (1)");
    EXPECT_TRUE(contains(weights->unused()[1], "encoder.projection_layer: for a pooled text feature"));
  }
}

TEST_F(LiteTextWeightsTest, ReadsTransformersNames) {
  const std::string block = "text_encoder.layers.0.";
  const auto weights =
      open({{"text_encoder.embeddings.token_embedding.weight", {50, 768}},
            {"text_encoder.embeddings.position_embedding.position_embedding", {1, 1, 77, 768}},
            {block + "layer_norm1.weight", {768}},
            {block + "self_attn.q_proj.bias", {2}},
            {block + "self_attn.k_proj.bias", {2}},
            {block + "self_attn.v_proj.bias", {2}},
            {block + "mlp.fc1.weight", {3072, 768}},
            {"text_projection.weight", {256, 768}},
            {"text_encoder.projection.weight", {768, 768}},
            {"vision_encoder.backbone.layer_norm.weight", {4}}});
  EXPECT_EQ(weights->dimensions().variant, LiteTextVariant::kL);
  EXPECT_EQ(weights->dimensions().heads, 12);
  EXPECT_EQ(weights->dimensions().mlp, 3072);
  EXPECT_EQ(weights->get("encoder.transformer.0.pre_norm_mha.1.qkv_proj.bias", {6}).values(),
            (std::vector<float>{3, 3, 4, 4, 5, 5}));
  EXPECT_EQ(weights->unused().size(), 2U);
}

TEST_F(LiteTextWeightsTest, AConfigBesideTellsTheHeads) {
  folder_.write("config.json", R"({"text_config":{"num_attention_heads":4}})");
  EXPECT_EQ(open(student("", 48))->dimensions().heads, 4);
  folder_.write("config.json", R"({"text_config":{"num_attention_heads":5}})");
  EXPECT_TRUE(contains(refusal(student("", 48)).what(),
                       "5 attention heads do not divide the text encoder's width of 48"));
  folder_.write("config.json", "{}");
  EXPECT_EQ(refusal(student("", 48)).code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(refusal(student("", 48)).what(), "does not tell how many attention heads"));
  EXPECT_EQ(open(student("", 128))->dimensions().heads, 2);
  folder_.write("config.json", R"({"text_config":{"hidden_size":1024,"num_attention_heads":16}})");
  EXPECT_EQ(open(student("", 512))->dimensions().heads, 8);
}

TEST_F(LiteTextWeightsTest, OtherTextEncodersAreRefused) {
  for (const std::string name :
       {"detector.backbone.language_backbone.encoder.token_embedding.weight",
        "text_encoder.text_model.embeddings.token_embedding.weight", "projector.weight"}) {
    const Error error = refusal({{name, {4, 4}}});
    EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported);
    EXPECT_TRUE(contains(error.what(), "has no LiteText text encoder"));
  }
}

TEST_F(LiteTextWeightsTest, RefusesShapesThatCannotBe) {
  struct Case {
    std::size_t tensor;
    Shape shape;
    std::string words;
  };
  const std::vector<Case> cases{
      {0, {50}, "'encoder.embedding_layer.weight' has the shape [50]"},
      {1, {1, 1, 0, 64}, "pos_embed' has the shape [1, 1, 0, 64]"},
      {1, {1, 1, 2000, 64}, "2000 positions"},
      {4, {70000, 1}, "wider than any"},
  };
  for (const Case& c : cases) {
    std::vector<Listed> tensors = student("", 64);
    tensors[c.tensor].shape = c.shape;
    EXPECT_TRUE(contains(refusal(tensors).what(), c.words));
  }
  std::vector<Listed> no_projector = student("", 64);
  no_projector.erase(no_projector.begin() + 4);
  EXPECT_TRUE(contains(refusal(no_projector).what(), "'projector.weight' is missing"));
  std::vector<Listed> no_blocks = student("", 64);
  no_blocks.erase(no_blocks.begin() + 2);
  EXPECT_TRUE(contains(refusal(no_blocks).what(), "has 0 blocks"));
}

}  // namespace
}  // namespace samlet::sam3
