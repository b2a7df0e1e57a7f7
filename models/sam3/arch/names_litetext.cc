#include "models/sam3/arch/names_litetext.h"

#include <array>

#include "models/sam3/arch/name_rules.h"

namespace samlet::sam3 {
namespace {

using Op = Recipe::Op;

constexpr auto kBlock = std::to_array<NameRule>({
    {"#.layer_scale", "#.layer_scale"},
    {"#.token_mixer.layer_scale", "#.token_mixer.layer_scale"},
    {"#.token_mixer.norm.rbr_skip.*", "#.token_mixer.reference_batchnorm.*"},
    {"#.token_mixer.mixer.rbr_skip.*", "#.token_mixer.mixer.batchnorm_skip.*"},
    {"#.token_mixer.mixer.rbr_conv.0.conv.weight", "#.token_mixer.mixer.conv.weight"},
    {"#.token_mixer.mixer.rbr_conv.0.bn.*", "#.token_mixer.mixer.batchnorm_conv.*"},
    {"#.convffn.conv.conv.weight", "#.conv_feed_forward.depthwise_conv.weight"},
    {"#.convffn.conv.bn.*", "#.conv_feed_forward.depthwise_batchnorm.*"},
    {"#.convffn.fc#.*", "#.conv_feed_forward.mlp.fc#.*"},
    {"#.pre_norm_mha.0.*", "#.layer_norm1.*"},
    {"#.pre_norm_mha.1.qkv_proj.*", "#.self_attn.@_proj.*", Op::kStack},
    {"#.pre_norm_mha.1.out_proj.*", "#.self_attn.out_proj.*"},
    {"#.pre_norm_ffn.0.*", "#.layer_norm2.*"},
    {"#.pre_norm_ffn.1.*", "#.mlp.fc1.*"},
    {"#.pre_norm_ffn.4.*", "#.mlp.fc2.*"},
});
constexpr auto kEncoder = std::to_array<NameRule>({
    {"encoder.embedding_layer.weight", "text_encoder.embeddings.token_embedding.weight"},
    {"encoder.positional_embedding.pos_embed.pos_embed",
     "text_encoder.embeddings.position_embedding.position_embedding"},
    {"encoder.final_layer_norm.*", "text_encoder.final_layer_norm.*"},
    {"projector.*", "text_projection.*"},
});
constexpr auto kGroups = std::to_array<NameGroup>({
    {"encoder.transformer.", "text_encoder.layers.", kBlock},
    {"", "", kEncoder},
});

}  // namespace

Recipe transformers_litetext_recipe(std::string_view name) {
  return apply_rules(kGroups, name);
}

}  // namespace samlet::sam3
