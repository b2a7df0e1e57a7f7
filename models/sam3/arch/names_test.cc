// The names of the layouts: against lists that were recorded from the models themselves.
#include <fstream>
#include <functional>
#include <numeric>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/checkpoint/json.h"
#include "libs/checkpoint/test_support.h"
#include "models/sam3/arch/dimensions.h"
#include "models/sam3/arch/litetext_weights.h"
#include "models/sam3/arch/name_pattern.h"
#include "models/sam3/arch/names_litetext.h"
#include "models/sam3/arch/names_sam31.h"
#include "models/sam3/arch/names_transformers.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;
using checkpoint::Json;
using checkpoint::TemporaryFolder;

TEST(NamePattern, MatchesNumbersAndTails) {
  using Parts = std::vector<std::string_view>;
  EXPECT_EQ(match_name("a.#.b", "a.12.b"), Parts{"12"});
  EXPECT_EQ(match_name("a.#.norm#.*", "a.0.norm3.weight"), (Parts{"0", "3", "weight"}));
  EXPECT_EQ(match_name("a_*", "a_b.c"), Parts{"b.c"});
  EXPECT_EQ(match_name("a", "a"), Parts{});
  for (const auto& [pattern, name] : std::vector<std::pair<std::string, std::string>>{{"a.#.b", "a..b"},
                                                                                      {"a.#.b", "a.x.b"},
                                                                                      {"a.#", "a.1.b"},
                                                                                      {"a.*", "a."},
                                                                                      {"a", "ab"},
                                                                                      {"ab", "a"},
                                                                                      {"", "a"}}) {
    EXPECT_EQ(match_name(pattern, name), std::nullopt) << pattern << " " << name;
  }
  EXPECT_EQ(fill_name("x.#.y#.*", {"1", "2", "bias"}), "x.1.y2.bias");
  EXPECT_THROW((void)fill_name("#.#", {"1"}), Error);
}

// ---- What tools/checkpoint/make_names.py recorded.

std::string how(const Recipe& recipe) {
  switch (recipe.op) {
    case Recipe::Op::kCopy:
      return "copy";
    case Recipe::Op::kStack:
      return "qkv3";
    case Recipe::Op::kRow:
      return fmt::format("row {}", recipe.row);
    case Recipe::Op::kEither:
      return "either";
    default:
      return "?";
  }
}

std::vector<std::string> words(const std::string& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(Names, AreThoseOfTransformersAndOfSam31) {
  std::ifstream in(fs::path(SAMLET_SOURCE_DIR) / "models/sam3/arch/testdata/names.tsv");
  int count = 0;
  for (std::string line; std::getline(in, line); ++count) {
    std::istringstream fields(line);
    std::string meta, op, theirs, sam31;
    for (std::string* field : {&meta, &op, &theirs, &sam31}) std::getline(fields, *field, '\t');
    const Recipe recipe = transformers_recipe(meta);
    EXPECT_EQ(how(recipe), op) << meta;
    EXPECT_EQ(recipe.stored, words(theirs)) << meta;
    EXPECT_EQ(sam31_name(meta), sam31);
  }
  EXPECT_GT(count, 300);
}

TEST(Names, OfNoTensorAreNone) {
  EXPECT_TRUE(
      transformers_recipe("detector.backbone.vision_backbone.trunk.blocks.0.attn.freqs_cis").stored.empty());
  EXPECT_TRUE(transformers_recipe("detector.nothing").stored.empty());
  EXPECT_EQ(
      transformers_recipe("tracker.sam_prompt_encoder.point_embeddings.99999999999999999999.weight").row, -1);
  EXPECT_EQ(sam31_name("tracker.transformer.encoder.norm.weight"), "");
  EXPECT_TRUE(transformers_litetext_recipe("encoder.projection_layer").stored.empty());
}

// ---- The whole lists of the published checkpoints, in files that hold nothing but holes.

using Keys = std::vector<std::pair<std::string, Shape>>;

/// A list of tools/reference/keys, where "blocks.{32}.norm1.weight" stands for 32 names.
Keys key_list(const std::string& name) {
  const fs::path path = fs::path(SAMLET_SOURCE_DIR) / "tools/reference/keys" / (name + ".json");
  const Json json = checkpoint::parse_json(checkpoint::content_of(path), "the list");
  Keys keys;
  for (std::size_t i = 0; i < json.keys.size(); ++i) {
    Shape shape;
    for (const Json& dim : json.items[i].items) shape.push_back(dim.integer);
    const std::string& key = json.keys[i];
    const auto open = key.find('{');
    if (open == std::string::npos) {
      keys.emplace_back(key, shape);
      continue;
    }
    const auto close = key.find('}');
    for (int n = 0; n < std::stoi(key.substr(open + 1, close - open - 1)); ++n) {
      keys.emplace_back(key.substr(0, open) + std::to_string(n) + key.substr(close + 1), shape);
    }
  }
  return keys;
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// What the graphs need of sam3.pt.
bool is_needed(std::string_view key) {
  for (const std::string_view part :
       {"freqs_cis", "convs.3.", "text_projection", "points_", "pixel_decoder.conv_layers.2.",
        "pixel_decoder.norms.2.", "semantic_seg_head"}) {
    if (has(key, part)) return false;
  }
  return !key.starts_with("tracker.") || key.starts_with("tracker.sam_") || key == "tracker.no_mem_embed";
}

fs::path write_hollow(const TemporaryFolder& folder, const Keys& keys) {
  std::string header = "{";
  std::uint64_t at = 0;
  for (const auto& [key, shape] : keys) {
    const bool complex = has(key, "freqs_cis");
    const std::uint64_t size = element_count(shape).value_or(0) * (complex ? 8U : 4U);
    header +=
        fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", at == 0 ? "" : ",", key,
                    complex ? "C64" : "F32", fmt::join(shape, ","), at, at + size);
    at += size;
  }
  const std::string begin = checkpoint::safetensors_of(header + "}", "");
  const fs::path file = folder.write("model.safetensors", begin);
  fs::resize_file(file, begin.size() + at);
  return file;
}

/// The sum of the counts at the ends of lines "...: reason (12)".
std::size_t count_in(const std::vector<std::string>& lines) {
  return std::accumulate(lines.begin(), lines.end(), std::size_t{0},
                         [](std::size_t sum, const std::string& line) {
                           return sum + std::stoul(line.substr(line.rfind('(') + 1));
                         });
}

/// Asks for all that is needed, in the shapes of sam3.pt; nothing may be missing or left over. Gives the
/// number of tensors that are unused on purpose.
std::size_t account(const fs::path& file, bool with_points = true) {
  const auto weights = Weights::open(file);
  for (auto [key, shape] : key_list("official")) {
    if (!is_needed(key) || (!with_points && (has(key, "tracker.") || has(key, "sam2_convs")))) continue;
    if (key.ends_with("pos_embed")) --shape[1];
    EXPECT_EQ(weights->get(key, shape).shape(), shape);
  }
  EXPECT_NO_THROW(weights->require_all_accounted());
  return count_in(weights->unused());
}

void expect_released(const fs::path& file) {
  const Dimensions d = read_dimensions(*Weights::open(file), {});
  EXPECT_EQ(d.vision.grid(), 72);
  EXPECT_EQ(d.vision.window, 24);
  EXPECT_EQ(d.vision.pretrain_grid, 24);
  EXPECT_EQ(d.vision.heads, 16);
  EXPECT_EQ(d.vision.depth, 32);
  EXPECT_EQ(d.vision.mlp, 4736);
  EXPECT_EQ(d.vision.global_blocks, (std::vector<std::int64_t>{7, 15, 23, 31}));
  EXPECT_EQ(d.text.layers, 24);
  EXPECT_EQ(d.text.heads, 16);
  EXPECT_EQ(d.text.context, 32);
  EXPECT_EQ(d.text.vocabulary, 49408);
  EXPECT_EQ(d.detector.width, 256);
  EXPECT_EQ(d.detector.heads, 8);
  EXPECT_EQ(d.detector.ffn, 2048);
  EXPECT_EQ(d.detector.geometry_layers, 3);
  EXPECT_EQ(d.detector.fusion_layers, 6);
  EXPECT_EQ(d.detector.decoder_layers, 6);
  EXPECT_EQ(d.detector.queries, 200);
  EXPECT_EQ(d.detector.roi, 7);
}

TEST(PublishedKeys, OfSam3AreAllAccountedFor) {
  const TemporaryFolder folder;
  const Keys keys = key_list("official");
  ASSERT_EQ(keys.size(), 1465U);
  const fs::path file = write_hollow(folder, keys);
  EXPECT_EQ(account(file), 213U);
  expect_released(file);
}

TEST(PublishedKeys, OfTransformersAreAllAccountedFor) {
  const TemporaryFolder folder;
  const Keys keys = key_list("transformers");
  ASSERT_EQ(keys.size(), 1797U);
  const fs::path file = write_hollow(folder, keys);
  EXPECT_EQ(account(file), 175U);
  expect_released(file);
}

TEST(PublishedKeys, OfSam3ModelAloneAreAllAccountedFor) {
  const TemporaryFolder folder;
  Keys keys;
  constexpr std::string_view kPrefix = "detector_model.";
  for (const auto& [key, shape] : key_list("transformers")) {
    if (key.starts_with(kPrefix)) keys.emplace_back(key.substr(kPrefix.size()), shape);
  }
  ASSERT_EQ(keys.size(), 1468U);
  const fs::path file = write_hollow(folder, keys);
  EXPECT_EQ(account(file, false), 11U);
  expect_released(file);
  EXPECT_FALSE(read_dimensions(*Weights::open(file), {}).point.has_value());
}

TEST(PublishedKeys, OfSam31AreAllAccountedFor) {
  const TemporaryFolder folder;
  Keys keys = key_list("sam31_video_only");
  for (const auto& [key, shape] : key_list("official")) {
    const std::string name = has(key, "convs.3.") ? "" : sam31_name(key);
    if (!name.empty()) keys.emplace_back(name, shape);
  }
  ASSERT_EQ(keys.size(), 1623U);
  const fs::path file = write_hollow(folder, keys);
  EXPECT_EQ(account(file), 371U);
  expect_released(file);
  EXPECT_FALSE(read_dimensions(*Weights::open(file), {}).point->iou_sigmoid);
}

/// A whole checkpoint with a student in it: as the text encoder's, and as that of all else.
TEST(PublishedKeys, OfLiteTextAreAllAccountedFor) {
  const std::string prefix = "detector.backbone.language_backbone.";
  for (const auto& [name, count, heads] :
       {std::tuple("s0", std::size_t{111}, 8), std::tuple("s1", std::size_t{151}, 8),
        std::tuple("l", std::size_t{151}, 12)}) {
    SCOPED_TRACE(name);
    const TemporaryFolder folder;
    const Keys student = key_list(std::string("litetext_") + name);
    ASSERT_EQ(student.size(), count);
    Keys keys;
    for (const auto& [key, shape] : student) keys.emplace_back(prefix + key, shape);
    for (const auto& [key, shape] : key_list("official")) {
      if (!key.starts_with(prefix)) keys.emplace_back(key, shape);
    }
    const fs::path file = write_hollow(folder, keys);

    const auto text = LiteTextWeights::open(file);
    EXPECT_EQ(name_of(text->dimensions().variant), name);
    EXPECT_EQ(text->dimensions().heads, heads);
    for (const auto& [key, shape] : student) {
      if (!key.ends_with("num_batches_tracked") && key != "encoder.projection_layer")
        (void)text->get(key, shape);
    }
    EXPECT_NO_THROW(text->require_all_accounted());

    const auto rest = Weights::open(file);
    rest->leave_out(Part::kTextEncoder, "another one is given");
    for (auto [key, shape] : key_list("official")) {
      if (key.ends_with("pos_embed")) --shape[1];
      if (is_needed(key) && !key.starts_with(prefix)) (void)rest->get(key, shape);
    }
    EXPECT_NO_THROW(rest->require_all_accounted());
    EXPECT_EQ(read_dimensions(*rest, {}).text.layers, 0);
  }
}

}  // namespace
}  // namespace samlet::sam3
