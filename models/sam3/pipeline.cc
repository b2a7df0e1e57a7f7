#include "models/sam3/pipeline.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/image/resize.h"
#include "libs/mask/upsample.h"
#include "libs/text/tokenizer.h"
#include "models/sam3/contract.h"
#include "models/sam3/graphs_v030.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

class Sam3EncodedImage final : public EncodedImage {
 public:
  Sam3EncodedImage(int width, int height, double encode_ms, Features features)
      : EncodedImage(width, height, encode_ms), features_(std::move(features)) {}
  [[nodiscard]] const Features& features() const noexcept { return features_; }

 private:
  Features features_;
};

/// A NaN or an infinity means that a stage broke down (fp16 overflow, a faulty provider); its results must
/// not pass as "nothing found".
void require_finite(std::span<const float> values, std::string_view what) {
  const bool finite = std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  if (!finite) {
    throw Error(
        ErrorCode::kInternal,
        fmt::format(
            "the decoder gave {} that are not finite numbers; try --device cpu, and report this if it stays",
            what));
  }
}

/// The sizes the pipeline indexes by, checked once: a graph may declare anything.
void require_consistent(const Decoded& decoded) {
  const std::size_t n = decoded.scores.size();
  const auto cells =
      static_cast<std::size_t>(decoded.mask_rows) * static_cast<std::size_t>(decoded.mask_columns);
  if (decoded.boxes.size() != n * 4 || decoded.mask_logits.size() != n * cells || (n > 0 && cells == 0)) {
    throw Error(
        ErrorCode::kModelDamaged,
        fmt::format("the decoder gave {} scores, {} box numbers and {} mask cells, which do not fit together",
                    n, decoded.boxes.size(), decoded.mask_logits.size()));
  }
  require_finite(decoded.scores, "scores");
  require_finite(decoded.boxes, "boxes");
  require_finite(decoded.mask_logits, "masks");
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

/// The first characters of a phrase, for a message.
std::string beginning_of(const std::string& phrase) {
  constexpr std::size_t kShown = 60;
  const std::u32string characters = decode_utf8(phrase).value_or(std::u32string());
  return printable(encode_utf8(characters.substr(0, kShown)));
}

NormalizedBox normalize(const ExemplarBox& exemplar, int width, int height) {
  const Box& b = exemplar.box;
  // Computed in double and rounded once, so that a box is the same whatever the picture's size.
  return {static_cast<float>((b.x1 + b.x2) / 2 / width), static_cast<float>((b.y1 + b.y2) / 2 / height),
          static_cast<float>((b.x2 - b.x1) / width), static_cast<float>((b.y2 - b.y1) / height),
          exemplar.positive};
}

/// A decoder box row (fractions) as pixels, clamped to the picture.
Box picture_box(std::span<const float> row, int width, int height) {
  const auto along = [](float fraction, int side) {
    return std::clamp(double{fraction} * side, 0.0, double(side));
  };
  return {along(row[0], width), along(row[1], height), along(row[2], width), along(row[3], height)};
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

class Sam3Segmenter final : public ConceptSegmenter {
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

  std::unique_ptr<EncodedImage> encode(const Image& image, const CancelToken& cancel) override {
    cancel.check();
    const auto start = Clock::now();
    const int side = info_.image_side;
    const Tensor planes =
        Tensor::from<std::uint8_t>({3, side, side}, to_planes(resize_bilinear(image, side, side)));
    Features features = graphs_->encode_image(planes, cancel);
    return std::make_unique<Sam3EncodedImage>(image.width, image.height, milliseconds_since(start),
                                              std::move(features));
  }

  Result segment(const EncodedImage& image, std::span<const ConceptPrompt> prompts,
                 const ConceptOptions& options) override {
    const auto* encoded = dynamic_cast<const Sam3EncodedImage*>(&image);
    if (encoded == nullptr)
      throw Error(ErrorCode::kUsage, "the picture was encoded by a model of another family");
    check(prompts, options.threshold);
    Result result;
    result.timings.encode = image.encode_ms();
    const auto checked = check_prompts(prompts, image.width(), image.height(), result.warnings);
    for (std::size_t i = 0; i < checked.size(); ++i) {
      options.cancel.check();
      segment_prompt(*encoded, checked[i], i, options, result);
    }
    return result;
  }

 private:
  void segment_prompt(const Sam3EncodedImage& image, const ConceptPrompt& prompt, std::size_t index,
                      const ConceptOptions& options, Result& result) {
    auto start = Clock::now();
    const Features text =
        encode_text(prompt.text.value_or(std::string(kVisualPhrase)), options.cancel, result.warnings);
    result.timings.language += milliseconds_since(start);

    start = Clock::now();
    std::vector<NormalizedBox> boxes;
    for (const ExemplarBox& box : prompt.boxes)
      boxes.push_back(normalize(box, image.width(), image.height()));
    const Decoded decoded = graphs_->decode(image.features(), text, boxes, options.threshold, options.cancel);
    require_consistent(decoded);
    append_instances(decoded, image, index, options, result.instances);
    result.timings.decode_masks += milliseconds_since(start);
  }

  Features encode_text(const std::string& phrase, const CancelToken& cancel,
                       std::vector<std::string>& warnings) {
    const text::Tokens tokens = text::tokenize(phrase, info_.context);
    if (tokens.truncated) {
      warnings.push_back(fmt::format("the text prompt is longer than {} tokens and was cut: '{}'",
                                     info_.context - 2, beginning_of(phrase)));
    }
    return graphs_->encode_text(tokens.ids, cancel);
  }

  static void append_instances(const Decoded& decoded, const EncodedImage& image, std::size_t prompt_index,
                               const ConceptOptions& options, std::vector<Instance>& instances) {
    const auto cells =
        static_cast<std::size_t>(decoded.mask_rows) * static_cast<std::size_t>(decoded.mask_columns);
    for (const std::size_t row : ranked(decoded.scores, options.threshold)) {
      options.cancel.check();
      Instance instance;
      instance.prompt_index = prompt_index;
      instance.score = double{decoded.scores[row]};
      if (decoded.presence) instance.presence = double{*decoded.presence};
      instance.box = picture_box(std::span(decoded.boxes).subspan(row * 4, 4), image.width(), image.height());
      instance.mask = upsample_logits(std::span(decoded.mask_logits).subspan(row * cells, cells),
                                      decoded.mask_rows, decoded.mask_columns, image.width(), image.height());
      instances.push_back(std::move(instance));
    }
  }

  ModelInfo info_;
  std::unique_ptr<Graphs> graphs_;
};

}  // namespace

std::unique_ptr<ConceptSegmenter> make_segmenter(ModelInfo info, std::unique_ptr<Graphs> graphs) {
  return std::make_unique<Sam3Segmenter>(std::move(info), std::move(graphs));
}

std::unique_ptr<ConceptSegmenter> make_segmenter(const Folder& folder, const ModelOptions& options) {
  switch (folder.layout) {
    case Layout::kSam3OnnxV030:
      return make_segmenter(folder.info, make_graphs_v030(folder, options));
  }
  throw Error(ErrorCode::kInternal, "a folder layout without graphs; please report this");
}

}  // namespace samlet::sam3
