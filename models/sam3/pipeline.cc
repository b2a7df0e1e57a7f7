#include "models/sam3/pipeline.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "libs/base/clock.h"
#include "libs/base/utf8.h"
#include "libs/image/resize.h"
#include "libs/mask/upsample.h"
#include "libs/text/tokenizer.h"
#include "models/sam3/contract.h"
#include "models/sam3/graphs_v030.h"
#include "models/sam3/graphs_v050.h"
#include "models/sam3/graphs_v1.h"
#include "models/sam3/objects.h"
#include "samlet/error.h"
#include "samlet/geometry.h"

namespace samlet::sam3 {
namespace {

class Sam3EncodedImage final : public EncodedImage {
 public:
  Sam3EncodedImage(int width, int height, double encode_ms, EncodeFor encoded_for, Features features)
      : EncodedImage(width, height, encode_ms), encoded_for_(encoded_for), features_(std::move(features)) {}
  [[nodiscard]] bool is_for(EncodeFor wanted) const noexcept {
    return encoded_for_ == EncodeFor::kBoth || encoded_for_ == wanted;
  }
  [[nodiscard]] const Features& features() const noexcept { return features_; }

 private:
  EncodeFor encoded_for_;
  Features features_;
};

/// Errors: kUsage when the picture was encoded by another family, or for something else.
const Sam3EncodedImage& encoded_for(const EncodedImage& image, EncodeFor wanted) {
  const auto* encoded = dynamic_cast<const Sam3EncodedImage*>(&image);
  if (encoded == nullptr)
    throw Error(ErrorCode::kUsage,
                "the picture was encoded by a model of another family; encode it with this one");
  if (encoded->is_for(wanted)) return *encoded;
  throw Error(ErrorCode::kUsage,
              fmt::format("the picture was not encoded for {}; encode it for {} or for both",
                          wanted == EncodeFor::kObjects ? "objects" : "concepts",
                          wanted == EncodeFor::kObjects ? "objects" : "concepts"));
}

/// The sizes the pipeline indexes by, checked once: a graph may declare anything.
void require_consistent(const Decoded& decoded) {
  const std::size_t n = decoded.scores.size();
  const auto cells =
      static_cast<std::size_t>(decoded.mask_rows) * static_cast<std::size_t>(decoded.mask_columns);
  if (decoded.boxes.size() != n * 4 || decoded.mask_logits.size() != n * cells || (n > 0 && cells == 0)) {
    throw Error(
        ErrorCode::kModelDamaged,
        fmt::format(
            "the decoder gave {} scores, {} box numbers and {} mask cells, which do not fit together; "
            "download or export the model again",
            n, decoded.boxes.size(), decoded.mask_logits.size()));
  }
  require_finite(decoded.scores, "scores");
  require_finite(decoded.boxes, "boxes");
  const bool probabilities =
      std::all_of(decoded.scores.begin(), decoded.scores.end(), [](float s) { return s >= 0 && s <= 1; });
  bool boxes_have_corners = true;
  for (std::size_t i = 0; i < n; ++i) {
    const float* box = &decoded.boxes[i * 4];
    boxes_have_corners = boxes_have_corners && box[0] <= box[2] && box[1] <= box[3];
  }
  if (!probabilities || !boxes_have_corners) {
    throw Error(
        ErrorCode::kModelDamaged,
        fmt::format("the decoder gave {}; download or export the model again",
                    probabilities ? "boxes whose corners are reversed" : "scores that are no probabilities"));
  }
}

NormalizedBox normalize(const ExemplarBox& exemplar, const PictureGeometry& geometry) {
  const auto [cx, cy, w, h] = geometry.to_exemplar(exemplar.box);
  return {cx, cy, w, h, exemplar.positive};
}

/// Rows with a score strictly above the threshold, best first, ties by query order.
std::vector<std::size_t> ranked(std::span<const float> scores, double threshold) {
  std::vector<std::size_t> rows(scores.size());
  std::iota(rows.begin(), rows.end(), std::size_t{0});
  std::erase_if(rows, [&](std::size_t row) { return !(double{scores[row]} > threshold); });
  std::stable_sort(rows.begin(), rows.end(),
                   [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  return rows;
}

FeaturesFor features_for(EncodeFor wanted) {
  switch (wanted) {
    case EncodeFor::kConcepts:
      return FeaturesFor::kConcepts;
    case EncodeFor::kObjects:
      return FeaturesFor::kPoints;
    case EncodeFor::kBoth:
      break;
  }
  return FeaturesFor::kBoth;
}

class Sam3Segmenter final : public Segmenter {
 public:
  Sam3Segmenter(ModelInfo info, std::unique_ptr<Graphs> graphs)
      : info_(std::move(info)), graphs_(std::move(graphs)) {}

  const ModelInfo& info() const noexcept override { return info_; }
  std::string provider() override { return std::string(ort::provider_name(graphs_->device())); }
  std::string device() override { return std::string(ort::name_of(graphs_->device())); }

  void check(std::span<const ConceptPrompt> prompts, double threshold) const override {
    if (!(threshold >= 0 && threshold <= 1)) {
      throw Error(ErrorCode::kUsage, fmt::format("the threshold {} is not between 0 and 1", threshold));
    }
    if (threshold < info_.min_threshold) {
      throw Error(ErrorCode::kModelUnsupported,
                  fmt::format("the model '{}' ({}) drops every score of {:g} or less inside its graph, so a "
                              "threshold of {:g} "
                              "cannot be served; use {:g} or more",
                              info_.name, info_.layout, info_.min_threshold, threshold, info_.min_threshold));
    }
    for (const ConceptPrompt& prompt : prompts) {
      if (info_.max_boxes && prompt.boxes.size() > *info_.max_boxes) {
        throw Error(
            ErrorCode::kModelUnsupported,
            fmt::format("{} boxes were given, but the model '{}' ({}) takes {} at most; give fewer boxes",
                        prompt.boxes.size(), info_.name, info_.layout, *info_.max_boxes));
      }
    }
  }

  void check_objects() const override { graphs_->require_points(); }

  std::unique_ptr<EncodedImage> encode(const Image& image, const CancelToken& cancel) override {
    return encode(image, EncodeFor::kConcepts, cancel);
  }

  std::unique_ptr<EncodedImage> encode(const Image& image, EncodeFor wanted,
                                       const CancelToken& cancel) override {
    cancel.check();
    if (wanted != EncodeFor::kConcepts) check_objects();
    const auto start = now();
    const int side = info_.image_side;
    const Tensor planes =
        Tensor::from<std::uint8_t>({3, side, side}, to_planes(resize_bilinear(image, side, side)));
    Features features = graphs_->encode_image(planes, features_for(wanted), cancel);
    return std::make_unique<Sam3EncodedImage>(image.width, image.height, milliseconds_since(start), wanted,
                                              std::move(features));
  }

  Result segment(const EncodedImage& image, std::span<const ConceptPrompt> prompts,
                 const ConceptOptions& options) override {
    const Sam3EncodedImage& encoded = encoded_for(image, EncodeFor::kConcepts);
    check(prompts, options.threshold);
    Result result;
    result.timings.encode = image.encode_ms();
    const auto checked = check_prompts(prompts, image.width(), image.height(), result.warnings);
    const std::size_t together = std::max<std::size_t>(1, graphs_->prompts_per_call());
    for (std::size_t first = 0; first < checked.size(); first += together) {
      options.cancel.check();
      const std::size_t count = std::min(together, checked.size() - first);
      segment_together(encoded, std::span(checked).subspan(first, count), first, options, result);
    }
    return result;
  }

  Result segment_objects(const EncodedImage& image, std::span<const ObjectPrompt> prompts,
                         const ObjectOptions& options) override {
    check_objects();
    const Sam3EncodedImage& encoded = encoded_for(image, EncodeFor::kObjects);
    Result result;
    result.timings.encode = image.encode_ms();
    const auto checked = check_object_prompts(prompts, image.width(), image.height(), result.warnings);
    const auto start = now();
    result.instances =
        find_objects(*graphs_, encoded.features(), checked,
                     PictureGeometry(image.width(), image.height(), info_.image_side), options);
    result.timings.decode_masks = milliseconds_since(start);
    return result;
  }

 private:
  /// Prompts of one run of the decoder; `first` is the number of the first of them.
  void segment_together(const Sam3EncodedImage& image, std::span<const ConceptPrompt> prompts,
                        std::size_t first, const ConceptOptions& options, Result& result) {
    auto start = now();
    const PictureGeometry geometry(image.width(), image.height(), info_.image_side);
    std::vector<DecoderPrompt> asked;
    for (const ConceptPrompt& prompt : prompts) {
      DecoderPrompt& row = asked.emplace_back();
      row.tokens = tokens_of(prompt.text.value_or(std::string(kVisualPhrase)), result.warnings);
      for (const ExemplarBox& box : prompt.boxes) row.boxes.push_back(normalize(box, geometry));
    }
    const Phrases phrases = graphs_->encode_text(asked, options.cancel);
    result.timings.language += milliseconds_since(start);

    start = now();
    const std::vector<Decoded> decoded =
        graphs_->decode(image.features(), phrases, asked, options.threshold, options.cancel);
    for (std::size_t i = 0; i < decoded.size(); ++i) {
      require_consistent(decoded[i]);
      append_instances(decoded[i], geometry, first + i, options, result.instances);
    }
    result.timings.decode_masks += milliseconds_since(start);
  }

  std::vector<std::int64_t> tokens_of(const std::string& phrase, std::vector<std::string>& warnings) const {
    text::Tokens tokens = text::tokenize(phrase, info_.context);
    if (tokens.truncated) {
      warnings.push_back(fmt::format("the text prompt is longer than {} tokens and was cut: '{}'",
                                     info_.context - 2, first_characters(phrase, 60)));
    }
    return std::move(tokens.ids);
  }

  static void append_instances(const Decoded& decoded, const PictureGeometry& geometry,
                               std::size_t prompt_index, const ConceptOptions& options,
                               std::vector<Instance>& instances) {
    const auto cells =
        static_cast<std::size_t>(decoded.mask_rows) * static_cast<std::size_t>(decoded.mask_columns);
    for (const std::size_t row : ranked(decoded.scores, options.threshold)) {
      options.cancel.check();
      Instance instance;
      instance.prompt_index = prompt_index;
      instance.score = double{decoded.scores[row]};
      if (decoded.presence) instance.presence = double{*decoded.presence};
      const float* corners = &decoded.boxes[row * 4];
      instance.box = geometry.from_decoder({corners[0], corners[1], corners[2], corners[3]});
      instance.mask = upsample_logits(decoded.mask_logits.subspan(row * cells, cells), decoded.mask_rows,
                                      decoded.mask_columns, geometry.width(), geometry.height());
      instances.push_back(std::move(instance));
    }
  }

  ModelInfo info_;
  std::unique_ptr<Graphs> graphs_;
};

}  // namespace

std::unique_ptr<Segmenter> make_segmenter(ModelInfo info, std::unique_ptr<Graphs> graphs) {
  return std::make_unique<Sam3Segmenter>(std::move(info), std::move(graphs));
}

std::unique_ptr<Segmenter> make_segmenter(const Folder& folder, const ModelOptions& options) {
  switch (folder.layout) {
    case Layout::kSam3OnnxV030:
      return make_segmenter(folder.info, make_graphs_v030(folder, options));
    case Layout::kSam3OnnxV050:
      return make_segmenter(folder.info, make_graphs_v050(folder, options));
    case Layout::kSamletV1:
      return make_segmenter(folder.info, make_graphs_v1(folder, options));
  }
  throw Error(ErrorCode::kInternal, "a folder layout without graphs; please report this");
}

}  // namespace samlet::sam3
