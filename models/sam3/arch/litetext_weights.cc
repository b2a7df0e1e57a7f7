#include "models/sam3/arch/litetext_weights.h"

#include <algorithm>
#include <array>
#include <system_error>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "models/sam3/arch/config.h"
#include "models/sam3/arch/ledger.h"
#include "models/sam3/arch/names_litetext.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

constexpr std::string_view kMetaPrefix = "detector.backbone.language_backbone.";
constexpr std::string_view kTransformersPrefix = "detector_model.";
constexpr std::string_view kTokens = "encoder.embedding_layer.weight";
constexpr std::string_view kPositions = "encoder.positional_embedding.pos_embed.pos_embed";

constexpr std::int64_t kHeadSize = 64;
constexpr std::int64_t kWidthOfL = 768;
// Far beyond any student; what a checkpoint claims beyond them is refused before something is made of it.
constexpr std::int64_t kMaxLayers = 256;
constexpr std::int64_t kMaxRows = 1024;
constexpr std::int64_t kMaxWidth = 65536;

/// How the file names the student's tensors.
struct Naming {
  std::string prefix;
  bool transformers = false;
};

Naming find_naming(const checkpoint::Checkpoint& file) {
  static constexpr std::array<std::string_view, 2> kMeta{kMetaPrefix, ""};
  static constexpr std::array<std::string_view, 2> kTransformers{"", kTransformersPrefix};
  for (const std::string_view prefix : kMeta) {
    if (file.find(std::string(prefix) + std::string(kTokens)) != nullptr) return {std::string(prefix), false};
  }
  // CLIP's text encoder has "text_encoder.text_model." there.
  const std::string theirs = transformers_litetext_recipe(kTokens).stored.at(0);
  for (const std::string_view prefix : kTransformers) {
    if (file.find(std::string(prefix) + theirs) != nullptr) return {std::string(prefix), true};
  }
  throw Error(ErrorCode::kModelUnsupported,
              fmt::format("'{}' has no LiteText text encoder: the tensor '{}{}' is missing",
                          path_to_utf8(file.path()), kMetaPrefix, kTokens));
}

/// The config.json beside the file, where there is one.
Config config_beside(const std::filesystem::path& file) {
  const std::filesystem::path path = file.parent_path() / "config.json";
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) ? Config(path) : Config();
}

bool is_student(const Naming& naming, std::string_view name) {
  if (!name.starts_with(naming.prefix)) return false;
  name.remove_prefix(naming.prefix.size());
  if (naming.transformers) return name.starts_with("text_encoder.") || name.starts_with("text_projection.");
  return !naming.prefix.empty() || name.starts_with("encoder.") || name.starts_with("projector.");
}

class StudentWeights final : public LiteTextWeights {
 public:
  explicit StudentWeights(const std::filesystem::path& path)
      : ledger_(path, "LiteText text encoder"), naming_(find_naming(ledger_.checkpoint())) {
    allow_unused();
    read_dimensions();
  }

  [[nodiscard]] const LiteTextDimensions& dimensions() const noexcept override { return dimensions_; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept override {
    return ledger_.checkpoint().path();
  }
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const noexcept override {
    return ledger_.checkpoint().files();
  }
  [[nodiscard]] LazyTensor get(const std::string& name, const Shape& shape) override {
    return ledger_.take(name, recipe_for(name), shape);
  }
  [[nodiscard]] std::optional<Shape> shape_of(const std::string& name) const override {
    return ledger_.shape_of(recipe_for(name));
  }
  [[nodiscard]] std::vector<std::string> unused() const override { return ledger_.unused(); }
  void require_all_accounted() const override { ledger_.require_all_accounted(); }

 private:
  [[nodiscard]] Recipe recipe_for(std::string_view name) const {
    Recipe recipe =
        naming_.transformers ? transformers_litetext_recipe(name) : Recipe{.stored = {std::string(name)}};
    for (std::string& stored : recipe.stored) stored.insert(0, naming_.prefix);
    return recipe;
  }

  void allow_unused() {
    ledger_.allow_unused("not of the text encoder", "read from elsewhere",
                         [naming = naming_](std::string_view name) { return !is_student(naming, name); });
    ledger_.allow_unused("num_batches_tracked", "counted in training",
                         [](std::string_view name) { return name.ends_with(".num_batches_tracked"); });
    ledger_.allow_unused(naming_.prefix + (naming_.transformers ? "text_encoder.projection.weight"
                                                                : "encoder.projection_layer"),
                         "for a pooled text feature that SAM 3 does not use");
  }

  [[noreturn]] void unsupported(const std::string& what) const {
    throw Error(ErrorCode::kModelUnsupported, fmt::format("'{}': {}", path_to_utf8(path()), what));
  }

  [[nodiscard]] Shape shape(std::string_view name, std::size_t rank) const {
    const auto found = shape_of(std::string(name));
    const bool fits = found && found->size() == rank &&
                      std::all_of(found->begin(), found->end(), [](std::int64_t dim) { return dim > 0; });
    if (fits) return *found;
    throw Error(
        ErrorCode::kModelDamaged,
        fmt::format("'{}': the text encoder's tensor '{}' {}", path_to_utf8(path()), name,
                    found ? fmt::format("has the shape {}", to_string(*found)) : std::string("is missing")));
  }

  void read_blocks() {
    LiteTextDimensions& d = dimensions_;
    for (; d.layers <= kMaxLayers; ++d.layers) {
      const std::string block = fmt::format("encoder.transformer.{}.", d.layers);
      if (shape_of(block + "token_mixer.layer_scale")) {
        d.repmixer_blocks.push_back(d.layers);
        d.kernel = shape(block + "convffn.conv.conv.weight", 4)[3];
        d.mlp = shape(block + "convffn.fc1.weight", 4)[0];
      } else if (shape_of(block + "pre_norm_mha.0.weight")) {
        d.mlp = shape(block + "pre_norm_ffn.1.weight", 2)[0];
      } else {
        break;
      }
    }
    if (d.layers == 0 || d.layers > kMaxLayers)
      unsupported(fmt::format("the text encoder has {} blocks", d.layers));
  }

  void read_dimensions() {
    LiteTextDimensions& d = dimensions_;
    const Shape tokens = shape(kTokens, 2);
    d.vocabulary = tokens[0];
    d.width = tokens[1];
    d.rows = shape(kPositions, 4)[2];
    d.output = shape("projector.weight", 2)[0];
    read_blocks();
    if (std::max({d.width, d.mlp, d.output}) > kMaxWidth || d.rows > kMaxRows || d.kernel > kMaxRows) {
      unsupported(fmt::format("the text encoder is wider than any (width {}, {} in its layers, {} positions)",
                              d.width, d.mlp, d.rows));
    }
    if (d.kernel % 2 == 0 && !d.repmixer_blocks.empty()) {
      unsupported(fmt::format("the text encoder's convolutions have an even width, {}", d.kernel));
    }
    if (!d.repmixer_blocks.empty()) {
      d.variant = LiteTextVariant::kS0;
    } else {
      d.variant = d.width < kWidthOfL ? LiteTextVariant::kS1 : LiteTextVariant::kL;
    }
    const Config config = config_beside(path());
    // A folder may hold the config of another text encoder.
    const bool is_its_config = config.integer("text_config.hidden_size").value_or(d.width) == d.width;
    const auto said = is_its_config ? config.integer("text_config.num_attention_heads") : std::nullopt;
    if (!said && d.width % kHeadSize != 0) {
      unsupported(fmt::format(
          "the checkpoint does not tell how many attention heads the text encoder has (its width is {}, no "
          "multiple of {}); put a config.json beside it that does "
          "({{\"text_config\": {{\"num_attention_heads\": ...}}}})",
          d.width, kHeadSize));
    }
    d.heads = said.value_or(d.width / kHeadSize);
    if (d.heads < 1 || d.width % d.heads != 0) {
      unsupported(fmt::format(
          "{} attention heads do not divide the text encoder's width of {}; correct 'num_attention_heads' in "
          "the config.json beside it",
          d.heads, d.width));
    }
  }

  Ledger ledger_;
  Naming naming_;
  LiteTextDimensions dimensions_;
};

}  // namespace

std::string_view name_of(LiteTextVariant variant) noexcept {
  switch (variant) {
    case LiteTextVariant::kS0:
      return "s0";
    case LiteTextVariant::kS1:
      return "s1";
    case LiteTextVariant::kL:
      return "l";
  }
  return "";
}

std::unique_ptr<LiteTextWeights> LiteTextWeights::open(const std::filesystem::path& path) {
  return std::make_unique<StudentWeights>(path);
}

}  // namespace samlet::sam3
