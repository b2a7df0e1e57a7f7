#include "models/sam3/arch/dimensions.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/file.h"
#include "models/sam3/arch/config.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

// The released model's numbers where nothing in a checkpoint tells them.
constexpr std::int64_t kReleasedImage = 1008;
constexpr std::int64_t kReleasedHeadSize = 64;
constexpr std::int64_t kReleasedPointHeads = 8;
constexpr std::int64_t kReleasedGlobalBlocks = 4;

// Far beyond any model; what a checkpoint claims beyond them is refused before something is made of it.
constexpr std::int64_t kMaxLayers = 256;
constexpr std::int64_t kMaxGrid = 512;
constexpr std::int64_t kMaxWidth = 65536;
constexpr std::int64_t kMaxVocabulary = 1 << 20;

const std::string kTrunk = "detector.backbone.vision_backbone.trunk.";
const std::string kText = "detector.backbone.language_backbone.encoder.";
const std::string kMaskDecoder = "tracker.sam_mask_decoder.";

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kModelDamaged, what);
}

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(ErrorCode::kModelUnsupported, what);
}

/// The side of a square of that many cells; nothing when there is none.
std::optional<std::int64_t> side_of(std::int64_t cells) {
  if (cells < 1 || cells > kMaxGrid * kMaxGrid) return std::nullopt;
  const auto side = static_cast<std::int64_t>(std::lround(std::sqrt(static_cast<double>(cells))));
  return side * side == cells ? std::optional(side) : std::nullopt;
}

void require_divides(std::int64_t divisor, std::int64_t number, std::string_view what) {
  if (divisor < 1 || number % divisor != 0) {
    unsupported(fmt::format("{}: {} is no multiple of {}; a checkpoint of other proportions is not exported",
                            what, number, divisor));
  }
}

/// A number and where it was read, so that two that contradict each other can both be named.
struct Told {
  std::int64_t value = 0;
  std::string by;
};

class Reader {
 public:
  Reader(const Weights& weights, Config config) : weights_(weights), config_(std::move(config)) {
    if (config_.has("detector_config")) detector_keys_ = "detector_config.";
  }

  Dimensions read() {
    Dimensions dimensions;
    dimensions.vision = vision();
    if (weights_.shape_of(kText + "token_embedding.weight")) dimensions.text = text();
    dimensions.detector = detector();
    if (weights_.shape_of(kMaskDecoder + "iou_token.weight"))
      dimensions.point = point(dimensions.detector.width);
    return dimensions;
  }

 private:
  /// Without the size nothing else can be looked for.
  [[noreturn]] void missing(const std::string& name) const {
    damaged(fmt::format(
        "'{}' has no tensor '{}' (Meta's name), from which the model's size is read, so its other tensors "
        "were not looked at; it is no whole SAM 3 checkpoint, download it again",
        path_to_utf8(weights_.path()), name));
  }

  [[nodiscard]] Shape shape(const std::string& name, std::size_t rank) const {
    auto found = weights_.shape_of(name);
    if (!found) missing(name);
    if (found->size() != rank) {
      damaged(fmt::format("the tensor '{}' has the shape {}; {} dimensions are needed", name,
                          to_string(*found), rank));
    }
    return *std::move(found);
  }

  /// A dimension of a tensor, from 1 to `most`.
  [[nodiscard]] Told told(const std::string& name, std::size_t rank, std::size_t axis,
                          std::int64_t most = kMaxWidth) const {
    const Shape found = shape(name, rank);
    if (found[axis] < 1 || found[axis] > most) {
      unsupported(
          fmt::format("the tensor '{}' has the shape {}; {} of its dimension {} are more than {} or none",
                      name, to_string(found), found[axis], axis, most));
    }
    return {found[axis], fmt::format("the tensor '{}' of shape {}", name, to_string(found))};
  }

  /// How many layers have a tensor "<before>0<after>", "<before>1<after>", ...
  [[nodiscard]] Told layers(const std::string& before, const std::string& after) const {
    std::int64_t count = 0;
    while (weights_.shape_of(fmt::format("{}{}{}", before, count, after))) {
      if (++count > kMaxLayers)
        unsupported(fmt::format("the checkpoint has more than {} layers '{}'", kMaxLayers, before));
    }
    if (count == 0) missing(fmt::format("{}0{}", before, after));
    return {count, fmt::format("{} tensors '{}<number>{}'", count, before, after)};
  }

  /// What the tensors tell; the config, where it says anything, must say the same.
  [[nodiscard]] std::int64_t agreed(const Told& tensor, const std::string& keys) const {
    const auto said = config_.integer(keys);
    if (said && *said != tensor.value) {
      damaged(fmt::format("'{}' says {} = {}, but {} tells {}; is it another checkpoint's?", config_.name(),
                          keys, *said, tensor.by, tensor.value));
    }
    return tensor.value;
  }

  [[nodiscard]] std::int64_t agreed_in_detector(const Told& tensor, std::string_view keys) const {
    return agreed(tensor, detector_keys_ + std::string(keys));
  }

  /// Equal numbers of tensors that belong together.
  static void require_equal(const Told& one, const Told& other) {
    if (one.value != other.value) damaged(fmt::format("{} contradicts {}", one.by, other.by));
  }

  /// What only the config can tell, from 1 to `most`.
  [[nodiscard]] std::optional<std::int64_t> configured(const std::string& keys, std::int64_t most) const {
    const auto said = config_.integer(keys);
    if (said && (*said < 1 || *said > most)) {
      unsupported(
          fmt::format("'{}' says {} = {}, which is more than {} or none", config_.name(), keys, *said, most));
    }
    return said;
  }

  /// Attention heads: as configured, else 64 wide as in the released model.
  [[nodiscard]] std::int64_t heads_of(std::int64_t width, const std::string& keys,
                                      std::string_view what) const {
    const auto said = configured(keys, kMaxWidth);
    if (!said && width % kReleasedHeadSize != 0) {
      unsupported(
          fmt::format("how many attention heads {} has cannot be told from the tensors (width {}); give the "
                      "model's config.json",
                      what, width));
    }
    const std::int64_t heads = said.value_or(width / kReleasedHeadSize);
    require_divides(heads, width, fmt::format("attention heads of {}", what));
    return heads;
  }

  // The image encoder.

  struct Rotary {
    std::int64_t window = 0;
    std::int64_t grid = 0;
    std::int64_t head_size = 0;
    std::vector<std::int64_t> global_blocks;
  };

  /// From the tables that sam3.pt stores, one a block: a row a position, a column a pair of channels.
  [[nodiscard]] std::optional<Rotary> rotary(std::int64_t depth) const {
    std::vector<std::int64_t> sides;
    std::set<std::int64_t> columns;
    for (std::int64_t block = 0; block < depth; ++block) {
      const std::string name = fmt::format("{}blocks.{}.attn.freqs_cis", kTrunk, block);
      if (block == 0 && !weights_.shape_of(name)) return std::nullopt;
      const Shape found = shape(name, 2);
      const auto side = side_of(found[0]);
      if (!side)
        damaged(fmt::format("the tensor '{}' of shape {} is no table of a square", name, to_string(found)));
      sides.push_back(*side);
      columns.insert(found[1]);
    }
    const std::set<std::int64_t> distinct(sides.begin(), sides.end());
    if (columns.size() != 1 || *columns.begin() < 1 || *columns.begin() > kMaxWidth || distinct.size() > 2) {
      damaged(fmt::format("the tensors '{}blocks.<number>.attn.freqs_cis' contradict each other", kTrunk));
    }
    Rotary found{*distinct.begin(), *distinct.rbegin(), 2 * *columns.begin(), {}};
    for (std::int64_t block = 0; block < depth; ++block) {
      if (distinct.size() == 2 && sides[static_cast<std::size_t>(block)] == found.grid)
        found.global_blocks.push_back(block);
    }
    return found;
  }

  [[nodiscard]] std::vector<std::int64_t> released_global_blocks(std::int64_t depth) const {
    if (depth % kReleasedGlobalBlocks != 0) {
      unsupported(
          fmt::format("which of the image encoder's {} blocks see the whole picture cannot be told from the "
                      "tensors; give the model's config.json",
                      depth));
    }
    const std::int64_t step = depth / kReleasedGlobalBlocks;
    std::vector<std::int64_t> blocks;
    for (std::int64_t block = step - 1; block < depth; block += step) blocks.push_back(block);
    return blocks;
  }

  [[nodiscard]] std::vector<std::int64_t> global_blocks(const std::optional<Rotary>& tables,
                                                        const std::string& keys, std::int64_t depth) const {
    auto said = config_.integers(keys + "global_attn_indexes");
    if (said) {
      std::sort(said->begin(), said->end());
      const bool twice = std::adjacent_find(said->begin(), said->end()) != said->end();
      if (twice || (!said->empty() && (said->front() < 0 || said->back() >= depth))) {
        damaged(fmt::format("'{}' says {}global_attn_indexes = [{}], but the image encoder has {} blocks",
                            config_.name(), keys, fmt::join(*said, ", "), depth));
      }
    }
    // Tables of one size tell nothing: a window is the whole picture.
    if (!tables || tables->window == tables->grid) return said ? *said : released_global_blocks(depth);
    if (said && *said != tables->global_blocks) {
      damaged(fmt::format(
          "'{}' says {}global_attn_indexes = [{}], but the shapes of the tensors '{}blocks.<number>.attn."
          "freqs_cis' tell [{}]; is it another checkpoint's?",
          config_.name(), keys, fmt::join(*said, ", "), kTrunk, fmt::join(tables->global_blocks, ", ")));
    }
    return tables->global_blocks;
  }

  [[nodiscard]] VisionDimensions vision() const {
    const std::string keys = detector_keys_ + "vision_config.backbone_config.";
    VisionDimensions v;
    v.width = agreed(told(kTrunk + "patch_embed.proj.weight", 4, 0), keys + "hidden_size");
    v.patch = agreed(told(kTrunk + "patch_embed.proj.weight", 4, 3, kMaxGrid), keys + "patch_size");
    v.mlp = agreed(told(kTrunk + "blocks.0.mlp.fc1.weight", 2, 0), keys + "intermediate_size");
    v.depth = agreed(layers(kTrunk + "blocks.", ".norm1.weight"), keys + "num_hidden_layers");
    const Told positions = told(kTrunk + "pos_embed", 3, 1, kMaxGrid * kMaxGrid);
    const auto pretrain = side_of(positions.value);
    if (!pretrain) damaged(fmt::format("{} is no table of a square of patches", positions.by));
    v.pretrain_grid = *pretrain;
    (void)agreed({v.pretrain_grid * v.patch, positions.by}, keys + "pretrain_image_size");
    const auto tables = rotary(v.depth);
    if (tables) {
      const std::string by =
          fmt::format("the shapes of the tensors '{}blocks.<number>.attn.freqs_cis'", kTrunk);
      v.window = agreed({tables->window, by}, keys + "window_size");
      v.image = agreed({tables->grid * v.patch, by}, keys + "image_size");
      require_divides(tables->head_size, v.width, "width of the image encoder");
      v.heads = agreed({v.width / tables->head_size, by}, keys + "num_attention_heads");
    } else {
      v.window = configured(keys + "window_size", kMaxGrid).value_or(v.pretrain_grid);
      v.image = configured(keys + "image_size", kMaxGrid * v.patch).value_or(kReleasedImage);
      v.heads = heads_of(v.width, keys + "num_attention_heads", "the image encoder");
    }
    v.global_blocks = global_blocks(tables, keys, v.depth);
    require_proportions(v);
    return v;
  }

  static void require_proportions(const VisionDimensions& v) {
    require_divides(v.patch, v.image, "side of the picture");
    require_divides(v.window, v.grid(), "patches along the picture");
    require_divides(v.pretrain_grid, v.grid(), "patches along the picture");
    require_divides(v.heads, v.width, "width of the image encoder");
    require_divides(4, v.width / v.heads, "width of an attention head of the image encoder");
  }

  // The others.

  [[nodiscard]] TextDimensions text() const {
    const std::string keys = detector_keys_ + "text_config.";
    TextDimensions t;
    t.vocabulary = agreed(told(kText + "token_embedding.weight", 2, 0, kMaxVocabulary), keys + "vocab_size");
    t.width = agreed(told(kText + "token_embedding.weight", 2, 1), keys + "hidden_size");
    t.context = agreed(told(kText + "positional_embedding", 2, 0), keys + "max_position_embeddings");
    t.layers = agreed(layers(kText + "transformer.resblocks.", ".ln_1.weight"), keys + "num_hidden_layers");
    t.mlp = agreed(told(kText + "transformer.resblocks.0.mlp.c_fc.weight", 2, 0), keys + "intermediate_size");
    t.heads = heads_of(t.width, keys + "num_attention_heads", "the text encoder");
    return t;
  }

  [[nodiscard]] DetectorDimensions detector() const {
    const std::string geometry = "detector.geometry_encoder.";
    const std::string fusion = "detector.transformer.encoder.layers.";
    const std::string decoder = "detector.transformer.decoder.";
    DetectorDimensions d;
    const Told width = told(decoder + "norm.weight", 1, 0);
    d.width = agreed_in_detector(width, "detr_decoder_config.hidden_size");
    require_equal(width, told(geometry + "cls_embed.weight", 2, 1));
    const Told heads = told(decoder + "boxRPB_embed_x.layers.1.weight", 2, 0);
    d.heads = agreed_in_detector(heads, "detr_decoder_config.num_attention_heads");
    (void)agreed_in_detector(heads, "detr_encoder_config.num_attention_heads");
    (void)agreed_in_detector(heads, "geometry_encoder_config.num_attention_heads");
    const Told ffn = told(fusion + "0.linear1.weight", 2, 0);
    d.ffn = agreed_in_detector(ffn, "detr_encoder_config.intermediate_size");
    require_equal(ffn, told(geometry + "encode.0.linear1.weight", 2, 0));
    require_equal(ffn, told(decoder + "layers.0.linear1.weight", 2, 0));
    d.geometry_layers = agreed_in_detector(layers(geometry + "encode.", ".norm1.weight"),
                                           "geometry_encoder_config.num_layers");
    d.fusion_layers = agreed_in_detector(layers(fusion, ".norm1.weight"), "detr_encoder_config.num_layers");
    d.decoder_layers =
        agreed_in_detector(layers(decoder + "layers.", ".norm1.weight"), "detr_decoder_config.num_layers");
    d.queries =
        agreed_in_detector(told(decoder + "query_embed.weight", 2, 0), "detr_decoder_config.num_queries");
    d.roi = agreed_in_detector(told(geometry + "boxes_pool_project.weight", 4, 3, kMaxGrid),
                               "geometry_encoder_config.roi_size");
    require_divides(d.heads, d.width, "width of the detector");
    // Eight groups of normalized channels, sine tables of half the width, masks of an eighth.
    require_divides(16, d.width, "width of the detector");
    return d;
  }

  [[nodiscard]] PointDimensions point(std::int64_t width) const {
    const std::string keys = "tracker_config.mask_decoder_config.";
    PointDimensions p;
    p.mlp = agreed(told(kMaskDecoder + "transformer.layers.0.mlp.lin1.weight", 2, 0), keys + "mlp_dim");
    p.iou_hidden = agreed(told(kMaskDecoder + "iou_prediction_head.layers.0.weight", 2, 0),
                          keys + "iou_head_hidden_dim");
    p.heads = configured(keys + "num_attention_heads", kMaxWidth).value_or(kReleasedPointHeads);
    // Attention between points and picture runs at half the width.
    require_divides(2 * p.heads, width, "width of the point decoder");
    p.iou_sigmoid = weights_.layout() != CheckpointLayout::kMeta31;
    return p;
  }

  const Weights& weights_;
  Config config_;
  std::string detector_keys_;  // "detector_config." in a Sam3VideoModel's config
};

}  // namespace

Dimensions read_dimensions(const Weights& weights, const std::filesystem::path& config) {
  return Reader(weights, config.empty() ? Config() : Config(config)).read();
}

}  // namespace samlet::sam3
