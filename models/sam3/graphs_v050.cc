#include "models/sam3/graphs_v050.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "libs/mask/upsample.h"
#include "models/sam3/contract.h"
#include "models/sam3/foreign.h"
#include "models/sam3/foreign_tensors.h"
#include "models/sam3/graph_runner.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

/// Shapes as they come out: rows of all instances that the decoder gives.
struct Rows {
  std::size_t count = 0;
  std::span<const float> boxes;  // [n, 4]
  std::span<const float> masks;  // [n, rows, columns]
  int mask_rows = 0;
  int mask_columns = 0;
};

bool ends_with(const Shape& shape, std::int64_t last) {
  return !shape.empty() && shape.back() == last;
}

/// Boxes and masks may have further dimensions of one prompt or one mask; how many rows there are is said by
/// the scores.
Rows rows_of(const TensorView& boxes, const TensorView& scores, const TensorView& masks) {
  constexpr std::int64_t kMaxCells = 8192;  // a side; the released model has 288
  const std::size_t n = scores.count();
  const Shape& grid = masks.shape();
  const bool has_grid = grid.size() >= 3 && grid.back() >= 1 && grid[grid.size() - 2] >= 1 &&
                        grid.back() <= kMaxCells && grid[grid.size() - 2] <= kMaxCells;
  const std::size_t cells = has_grid ? static_cast<std::size_t>(grid.back() * grid[grid.size() - 2]) : 0;
  // Where nothing was kept, the sides of its masks may be anything.
  const bool right = n == 0 ? boxes.count() == 0 && masks.count() == 0
                            : boxes.count() == n * 4 && ends_with(boxes.shape(), 4) && has_grid &&
                                  masks.count() == n * cells;
  if (!right) {
    throw Error(
        ErrorCode::kModelDamaged,
        fmt::format("the decoder gave boxes {}, scores {} and masks {}, which do not fit together; download "
                    "or export the model again",
                    to_string(boxes.shape()), to_string(scores.shape()), to_string(grid)));
  }
  if (n == 0) return {};
  return {n, boxes.as<float>(), masks.as<float>(), static_cast<int>(grid[grid.size() - 2]),
          static_cast<int>(grid.back())};
}

float sigmoid(float x) {
  return static_cast<float>(1 / (1 + std::exp(-double{x})));
}

class GraphsV050 final : public Graphs {
 public:
  GraphsV050(const Folder& folder, const ModelOptions& options)
      : model_(folder.foreign), runner_(options, {}) {}

  ort::Device device() override { return runner_.device(); }
  std::size_t prompts_per_call() const override { return 1; }

  Features encode_image(const Tensor& planes, FeaturesFor wanted, const CancelToken& cancel) override {
    if (wanted != FeaturesFor::kConcepts) require_points();
    Features features;
    const auto want = [&](const std::vector<FeatureLink>& links) {
      for (const FeatureLink& link : links) {
        if (std::find(features.names.begin(), features.names.end(), link.made) == features.names.end())
          features.names.push_back(link.made);
      }
    };
    if (wanted != FeaturesFor::kPoints) want(model_->decoder_features);
    if (wanted != FeaturesFor::kConcepts) want(model_->point_features);
    const MappedTensor& image = *model_->image.input(v030::kImage);
    const Tensor pixels = pixels_for(image.value, planes, model_->aliases.fact(kFactPixels));
    features.values = runner_.run(model_->image.file.path, true, {{image.value.name, nullptr, &pixels}},
                                  features.names, cancel);
    return features;
  }

  Phrases encode_text(std::span<const DecoderPrompt> prompts, const CancelToken& cancel) override {
    Phrases phrases;
    for (const DecoderPrompt& prompt : prompts)
      phrases.features.push_back(encode_phrase(prompt.tokens, cancel));
    phrases.count = prompts.size();
    return phrases;
  }

  std::vector<Decoded> decode(const Features& image, const Phrases& phrases,
                              std::span<const DecoderPrompt> prompts, double threshold,
                              const CancelToken& cancel) override {
    std::vector<Decoded> decoded;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      decoded.push_back(decode_one(image, phrases.features.at(i), prompts[i].boxes, threshold, cancel));
    }
    return decoded;
  }

  void require_points() const override {
    if (!model_->points) refuse_points(model_->no_points);
  }

  DecodedPoints decode_points(const Features& image, std::span<const PointPrompt> prompts, bool several,
                              const CancelToken& cancel) override {
    require_points();
    const MappedGraph& graph = *model_->points;
    const MappedTensor* score = graph.output(v1::kObjectScore);
    std::vector<std::string> names{graph.output(v1::kMaskLogits)->value.name,
                                   graph.output(v1::kIou)->value.name};
    if (score != nullptr) names.push_back(score->value.name);
    DecodedPoints decoded;
    for (const PointPrompt& prompt : prompts) {
      const NamedTensors made = point_tensors(*model_, prompt, several);
      std::vector<ort::Feed> feeds = linked(image, model_->point_features);
      for (const auto& [name, tensor] : made) feeds.push_back({name, nullptr, &tensor});
      const auto outputs = runner_.run(graph.file.path, false, feeds, names, cancel);
      std::optional<TensorView> object;
      if (score != nullptr) object = outputs[2].view();
      append_points(decoded, 1, outputs[0].view(), outputs[1].view(), object);
    }
    return decoded;
  }

 private:
  Features encode_phrase(std::span<const std::int64_t> tokens, const CancelToken& cancel) {
    const MappedGraph& graph = model_->language;
    const NamedTensors made = token_tensors(graph, tokens);
    std::vector<ort::Feed> feeds;
    for (const auto& [name, tensor] : made) feeds.push_back({name, nullptr, &tensor});
    Features features;
    features.names.push_back(graph.output(v030::kTextMemory)->value.name);
    if (model_->decoder.input(v030::kLanguageMask) != nullptr)
      features.names.push_back(graph.output(v030::kTextMask)->value.name);
    features.values = runner_.run(graph.file.path, false, feeds, features.names, cancel);
    return features;
  }

  static std::vector<ort::Feed> linked(const Features& image, const std::vector<FeatureLink>& links) {
    std::vector<ort::Feed> feeds;
    for (const FeatureLink& link : links) {
      const std::array<std::string_view, 1> name{link.made};
      feeds.push_back(feeds_of(image, name).front());
      feeds.back().name = link.taken;
    }
    return feeds;
  }

  Decoded decode_one(const Features& image, const Features& text, std::span<const NormalizedBox> boxes,
                     double threshold, const CancelToken& cancel) {
    const MappedGraph& graph = model_->decoder;
    std::vector<ort::Feed> feeds = linked(image, model_->decoder_features);
    const MappedTensor& memory = *graph.input(v030::kLanguageFeatures);
    const auto turned = text_for(memory.value, text.values.front().view());
    feeds.push_back(
        {memory.value.name, turned ? nullptr : &text.values.front(), turned ? &*turned : nullptr});
    if (const MappedTensor* mask = graph.input(v030::kLanguageMask))
      feeds.push_back({mask->value.name, &text.values.at(1), nullptr});
    const NamedTensors made = box_tensors(*model_, boxes, threshold);
    for (const auto& [name, tensor] : made) feeds.push_back({name, nullptr, &tensor});
    std::vector<std::string> names;
    for (const auto role : {v030::kBoxes, v030::kScores, v030::kMasks})
      names.push_back(graph.output(role)->value.name);
    const MappedTensor* presence = graph.output(v1::kPresence);
    if (presence != nullptr) names.push_back(presence->value.name);
    auto outputs = runner_.run(graph.file.path, false, feeds, names, cancel);
    std::optional<float> present;
    if (presence != nullptr) present = presence_of(outputs[3].view(), presence->value.name);
    return read_outputs(outputs, present, threshold);
  }

  float presence_of(const TensorView& view, std::string_view name) {
    if (view.count() != 1) {
      throw Error(ErrorCode::kModelDamaged,
                  fmt::format("the decoder gave presences {} for one prompt; download or "
                              "export the model again",
                              to_string(view.shape())));
    }
    const auto values = view.as<float>();
    require_finite(values, "presences");
    return is_logit(kFactPresence, name, values, presence_is_logit_) ? sigmoid(values[0]) : values[0];
  }

  /// As are_logits, but what was once seen stays true.
  bool is_logit(std::string_view fact, std::string_view name, std::span<const float> values,
                std::atomic<bool>& seen) const {
    if (are_logits(model_->aliases.fact(fact), name, values)) seen = true;
    return seen;
  }

  Decoded read_outputs(std::span<const ort::Value> outputs, std::optional<float> presence, double threshold) {
    const TensorView scores_view = outputs[1].view();
    const Rows rows = rows_of(outputs[0].view(), scores_view, outputs[2].view());
    Decoded decoded;
    decoded.presence = presence;
    const auto given = scores_view.as<float>();
    require_finite(given, "scores");
    std::vector<float> scores(given.begin(), given.end());
    if (is_logit(kFactScores, graph_output(v030::kScores), given, scores_are_logits_)) {
      for (float& score : scores) score = sigmoid(score) * presence.value_or(1.0F);
    }
    const auto cells = static_cast<std::size_t>(rows.mask_rows) * static_cast<std::size_t>(rows.mask_columns);
    auto logits = std::make_shared<std::vector<float>>();
    // Only what will be looked at is copied: all queries of the released model have 66 MB of masks.
    for (std::size_t i = 0; i < rows.count; ++i) {
      if (!(double{scores[i]} > threshold)) continue;
      decoded.scores.push_back(scores[i]);
      for (const float corner : corners_of(rows.boxes.subspan(i * 4, 4))) decoded.boxes.push_back(corner);
      const auto mask = rows.masks.subspan(i * cells, cells);
      logits->insert(logits->end(), mask.begin(), mask.end());
    }
    if (decoded.scores.empty()) return decoded;
    require_finite(*logits, "masks");  // before the clamp of the logits hides it
    if (!is_logit(kFactMasks, graph_output(v030::kMasks), *logits, masks_are_logits_))
      probabilities_to_logits(*logits);
    decoded.mask_logits = *logits;
    decoded.owner = std::move(logits);
    decoded.mask_rows = rows.mask_rows;
    decoded.mask_columns = rows.mask_columns;
    return decoded;
  }

  [[nodiscard]] std::string_view graph_output(std::string_view role) const {
    return model_->decoder.output(role)->value.name;
  }

  /// x1, y1, x2, y2
  [[nodiscard]] std::array<float, 4> corners_of(std::span<const float> row) const {
    if (model_->aliases.fact(kFactBoxes) == "cxcywh") {
      return {row[0] - row[2] / 2, row[1] - row[3] / 2, row[0] + row[2] / 2, row[1] + row[3] / 2};
    }
    if (row[0] > row[2] || row[1] > row[3]) {
      throw Error(
          ErrorCode::kModelUnsupported,
          fmt::format("the decoder gave the box {:g}, {:g}, {:g}, {:g}, which is no x1,y1,x2,y2; if it is a "
                      "centre with its size, say {{\"facts\": {{\"boxes\": \"cxcywh\"}}}} in an alias file",
                      row[0], row[1], row[2], row[3]));
    }
    return {row[0], row[1], row[2], row[3]};
  }

  std::shared_ptr<const ForeignModel> model_;
  GraphRunner runner_;
  std::atomic<bool> scores_are_logits_ = false;
  std::atomic<bool> masks_are_logits_ = false;
  std::atomic<bool> presence_is_logit_ = false;
};

}  // namespace

std::unique_ptr<Graphs> make_graphs_v050(const Folder& folder, const ModelOptions& options) {
  return std::make_unique<GraphsV050>(folder, options);
}

}  // namespace samlet::sam3
