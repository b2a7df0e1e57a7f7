#include "models/sam3/graphs_v1.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "models/sam3/contract.h"
#include "models/sam3/graph_runner.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

constexpr std::array kConceptFeatures{v1::kFeatures2, v1::kFusionEmbed, v1::kMaskFeatures0,
                                      v1::kMaskFeatures1};
constexpr std::array kPointFeatures{v1::kPointFeatures0, v1::kPointFeatures1, v1::kPointEmbed};

std::vector<std::string> names_of(std::initializer_list<std::string_view> names) {
  return {names.begin(), names.end()};
}

/// The three tensors that carry the exemplar boxes of B prompts, N slots each. Unused slots stand to the
/// right, masked; a masked slot changes nothing, so prompts with fewer boxes do not notice the others.
struct BoxTensors {
  Tensor coords;  // f32 [B, N, 4]
  Tensor labels;  // i64 [B, N]
  Tensor masks;   // bool [B, N]
};

BoxTensors box_tensors(std::span<const DecoderPrompt> prompts, std::optional<std::size_t> fixed_slots) {
  std::size_t slots = 1;
  for (const DecoderPrompt& prompt : prompts) slots = std::max(slots, prompt.boxes.size());
  slots = fixed_slots.value_or(slots);
  const auto b = static_cast<std::int64_t>(prompts.size());
  const auto n = static_cast<std::int64_t>(slots);
  BoxTensors tensors{Tensor(DType::kFloat32, {b, n, 4}), Tensor(DType::kInt64, {b, n}),
                     Tensor(DType::kBool, {b, n})};
  const auto coords = tensors.coords.as<float>();
  const auto labels = tensors.labels.as<std::int64_t>();
  const auto masks = tensors.masks.as<bool>();
  std::fill(labels.begin(), labels.end(), 1);
  std::fill(masks.begin(), masks.end(), true);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    for (std::size_t k = 0; k < prompts[i].boxes.size(); ++k) {
      const NormalizedBox& box = prompts[i].boxes[k];
      const std::size_t slot = i * slots + k;
      const std::array<float, 4> row{box.cx, box.cy, box.w, box.h};
      std::copy(row.begin(), row.end(), coords.subspan(slot * 4).begin());
      labels[slot] = box.positive ? 1 : 0;
      masks[slot] = false;
    }
  }
  return tensors;
}

/// The points of B objects, P each: with label -1 where an object has fewer, which the graph ignores.
struct PointTensors {
  Tensor coords;    // f32 [B, P, 2]
  Tensor labels;    // i64 [B, P]
  Tensor masks;     // f32 [B, 1, side, side]
  Tensor has_mask;  // f32 [B]
};

PointTensors point_tensors(std::span<const PointPrompt> prompts, std::int64_t side) {
  std::size_t most = 1;
  for (const PointPrompt& prompt : prompts) most = std::max(most, prompt.points.size());
  const auto b = static_cast<std::int64_t>(prompts.size());
  const auto p = static_cast<std::int64_t>(most);
  PointTensors tensors{Tensor(DType::kFloat32, {b, p, 2}), Tensor(DType::kInt64, {b, p}),
                       Tensor(DType::kFloat32, {b, 1, side, side}), Tensor(DType::kFloat32, {b})};
  const auto coords = tensors.coords.as<float>();
  const auto labels = tensors.labels.as<std::int64_t>();
  std::fill(labels.begin(), labels.end(), -1);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    for (std::size_t k = 0; k < prompts[i].points.size(); ++k) {
      const ModelPoint& point = prompts[i].points[k];
      const std::size_t at = i * most + k;
      coords[at * 2] = point.x;
      coords[at * 2 + 1] = point.y;
      labels[at] = point.label;
    }
    const std::vector<float>& previous = prompts[i].previous;
    if (previous.empty()) continue;
    const auto cells = static_cast<std::size_t>(side * side);
    if (previous.size() != cells)
      throw Error(ErrorCode::kInternal, "an earlier answer is not of this model; please report this");
    std::copy(previous.begin(), previous.end(), tensors.masks.as<float>().subspan(i * cells).begin());
    tensors.has_mask.as<float>()[i] = 1;
  }
  return tensors;
}

/// The largest f32 that is not above the threshold: the graph, which compares in f32, must not drop what the
/// pipeline, which compares in double, would keep.
float graph_threshold(double threshold) {
  const auto rounded = static_cast<float>(threshold);
  return double{rounded} > threshold ? std::nextafter(rounded, -std::numeric_limits<float>::infinity())
                                     : rounded;
}

[[noreturn]] void refuse_outputs(std::span<const ort::Value> outputs, std::span<const std::string> names) {
  std::string given;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    given += fmt::format("{}{} {}", i == 0 ? "" : ", ", names[i], to_string(outputs[i].view().shape()));
  throw Error(ErrorCode::kModelDamaged,
              fmt::format("{} gave {}, which do not fit together; download or export the model again",
                          kDecoderFile, given));
}

/// The decoder's outputs in either form, brought to one: rows of all prompts, and where each prompt's begin.
struct Rows {
  std::span<const float> boxes;   // [n, 4]
  std::span<const float> scores;  // [n]
  std::span<const float> masks;   // [n, rows, columns]
  std::int64_t mask_rows = 0;
  std::int64_t mask_columns = 0;
  std::vector<std::size_t> begins;  // [B + 1]
};

/// Where the rows of each prompt begin, out of the sorted numbers of their prompts; nothing when they are not
/// sorted or name a prompt that was not asked.
std::optional<std::vector<std::size_t>> begins_of(std::span<const std::int64_t> prompt_index,
                                                  std::size_t prompts) {
  std::vector<std::size_t> begins(prompts + 1, prompt_index.size());
  std::int64_t before = 0;
  for (const std::int64_t index : prompt_index) {
    if (index < before || index >= static_cast<std::int64_t>(prompts)) return std::nullopt;
    before = index;
  }
  for (std::size_t p = 0; p < prompts; ++p) {
    begins[p] = static_cast<std::size_t>(
        std::lower_bound(prompt_index.begin(), prompt_index.end(), static_cast<std::int64_t>(p)) -
        prompt_index.begin());
  }
  return begins;
}

/// Dimensions of a mask that can be asked for; ONNX Runtime does not hold a graph to what it declares.
bool is_mask_grid(std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kMaxCells = 8192;  // a side; the released model has 288
  return rows >= 1 && columns >= 1 && rows <= kMaxCells && columns <= kMaxCells;
}

/// boxes [n, 4], scores [n], mask_logits [n, rows, columns], presence [B], prompt_index [n]
std::optional<Rows> rows_of_dynamic(std::span<const ort::Value> outputs, std::size_t prompts) {
  const TensorView boxes = outputs[0].view();
  const TensorView scores = outputs[1].view();
  const TensorView masks = outputs[2].view();
  const TensorView index = outputs[4].view();
  const std::int64_t n = scores.shape().size() == 1 ? scores.shape()[0] : -1;
  const Shape& grid = masks.shape();
  if (n < 0 || boxes.shape() != Shape{n, 4} || index.shape() != Shape{n} || grid.size() != 3 || grid[0] != n)
    return std::nullopt;
  // Where nothing was kept the mask head did not run, and its sides may be anything.
  if (n > 0 && !is_mask_grid(grid[1], grid[2])) return std::nullopt;
  auto begins = begins_of(index.as<std::int64_t>(), prompts);
  if (!begins) return std::nullopt;
  return Rows{boxes.as<float>(), scores.as<float>(), masks.as<float>(), grid[1], grid[2], std::move(*begins)};
}

/// boxes [B, Q, 4], scores [B, Q], mask_logits [B, Q, rows, columns], presence [B]
std::optional<Rows> rows_of_static(std::span<const ort::Value> outputs, std::size_t prompts) {
  const TensorView boxes = outputs[0].view();
  const TensorView scores = outputs[1].view();
  const TensorView masks = outputs[2].view();
  const auto b = static_cast<std::int64_t>(prompts);
  const std::int64_t q = scores.shape().size() == 2 ? scores.shape()[1] : -1;
  const Shape& grid = masks.shape();
  if (q < 1 || scores.shape()[0] != b || boxes.shape() != Shape{b, q, 4} || grid.size() != 4 ||
      grid[0] != b || grid[1] != q || !is_mask_grid(grid[2], grid[3]))
    return std::nullopt;
  std::vector<std::size_t> begins;
  for (std::size_t p = 0; p <= prompts; ++p) begins.push_back(p * static_cast<std::size_t>(q));
  return Rows{boxes.as<float>(), scores.as<float>(), masks.as<float>(), grid[2], grid[3], std::move(begins)};
}

/// One prompt's part of the rows. Masks of rows that are not kept may be anything: a static decoder gives
/// those of queries that nobody will look at.
Decoded prompt_rows(const Rows& rows, std::size_t prompt, double threshold) {
  const std::size_t begin = rows.begins[prompt];
  const std::size_t count = rows.begins[prompt + 1] - begin;
  const auto cells = static_cast<std::size_t>(rows.mask_rows * rows.mask_columns);
  const auto boxes = rows.boxes.subspan(begin * 4, count * 4);
  const auto scores = rows.scores.subspan(begin, count);
  Decoded decoded;
  decoded.boxes.assign(boxes.begin(), boxes.end());
  decoded.scores.assign(scores.begin(), scores.end());
  if (count == 0) return decoded;
  decoded.mask_logits = rows.masks.subspan(begin * cells, count * cells);
  decoded.mask_rows = static_cast<int>(rows.mask_rows);
  decoded.mask_columns = static_cast<int>(rows.mask_columns);
  for (std::size_t i = 0; i < count; ++i) {
    if (double{scores[i]} > threshold) require_finite(decoded.mask_logits.subspan(i * cells, cells), "masks");
  }
  return decoded;
}

/// Probabilities of the prompts' concepts, [B].
std::span<const float> presences_of(const TensorView& presence, std::size_t prompts) {
  const auto values = presence.as<float>();
  require_finite(values, "presences");
  const bool right = presence.shape() == Shape{static_cast<std::int64_t>(prompts)} &&
                     std::all_of(values.begin(), values.end(), [](float p) { return p >= 0 && p <= 1; });
  if (!right) {
    throw Error(
        ErrorCode::kModelDamaged,
        fmt::format("{} gave presences {} that are no probabilities of {} prompts; download or export "
                    "the model again",
                    kDecoderFile, to_string(presence.shape()), prompts));
  }
  return values;
}

class GraphsV1 final : public Graphs {
 public:
  GraphsV1(const Folder& folder, const ModelOptions& options)
      : image_(folder.path / kImageEncoderFile),
        language_(folder.text_encoder.graph),
        decoder_(folder.path / kDecoderFile),
        points_(folder.path / kPointDecoderFile),
        has_points_(folder.manifest.value().graphs.contains(std::string(kPointDecoderFile))),
        mask_side_(folder.manifest.value().sizes.mask),
        form_(folder.manifest.value().decoder),
        max_boxes_(folder.info.max_boxes),
        prompts_per_call_(folder.prompts_per_call),
        runner_(options, folder.manifest.value().minimum_runtime) {}

  ort::Device device() override { return runner_.device(); }
  std::size_t prompts_per_call() const override { return prompts_per_call_; }

  Features encode_image(const Tensor& planes, FeaturesFor wanted, const CancelToken& cancel) override {
    if (wanted != FeaturesFor::kConcepts) require_points();
    Features features;
    if (wanted != FeaturesFor::kPoints)
      features.names.assign(kConceptFeatures.begin(), kConceptFeatures.end());
    if (wanted != FeaturesFor::kConcepts)
      features.names.insert(features.names.end(), kPointFeatures.begin(), kPointFeatures.end());
    features.values = runner_.run(image_, true, {{v1::kImage, nullptr, &planes}}, features.names, cancel);
    return features;
  }

  Phrases encode_text(std::span<const DecoderPrompt> prompts, const CancelToken& cancel) override {
    std::vector<std::int64_t> ids;
    for (const DecoderPrompt& prompt : prompts)
      ids.insert(ids.end(), prompt.tokens.begin(), prompt.tokens.end());
    const auto b = static_cast<std::int64_t>(prompts.size());
    const Tensor tokens = Tensor::from<std::int64_t>({b, static_cast<std::int64_t>(ids.size()) / b}, ids);
    Features features;
    features.names = names_of({v1::kLanguageFeatures, v1::kLanguageMask});
    features.values =
        runner_.run(language_, false, {{v1::kTokens, nullptr, &tokens}}, features.names, cancel);
    Phrases phrases;
    phrases.features.push_back(std::move(features));
    phrases.count = prompts.size();
    return phrases;
  }

  std::vector<Decoded> decode(const Features& image, const Phrases& phrases,
                              std::span<const DecoderPrompt> prompts, double threshold,
                              const CancelToken& cancel) override {
    const bool dynamic = form_ == DecoderForm::kDynamic;
    const BoxTensors box = box_tensors(prompts, max_boxes_);
    const float limit = graph_threshold(threshold);
    const Tensor limit_tensor = Tensor::from<float>({}, {&limit, 1});
    std::vector<ort::Feed> feeds = feeds_of(image, kConceptFeatures);
    for (const ort::Feed& feed : feeds_of(phrases.features.front())) feeds.push_back(feed);
    feeds.push_back({v1::kBoxCoords, nullptr, &box.coords});
    feeds.push_back({v1::kBoxLabels, nullptr, &box.labels});
    feeds.push_back({v1::kBoxMasks, nullptr, &box.masks});
    if (dynamic) feeds.push_back({v1::kScoreThreshold, nullptr, &limit_tensor});
    auto names = names_of({v1::kBoxes, v1::kScores, v1::kMaskLogits, v1::kPresence});
    if (dynamic) names.emplace_back(v1::kPromptIndex);
    // Shared, because each prompt's masks stay where the graph put them.
    const auto outputs =
        std::make_shared<const std::vector<ort::Value>>(runner_.run(decoder_, false, feeds, names, cancel));
    const auto rows =
        dynamic ? rows_of_dynamic(*outputs, prompts.size()) : rows_of_static(*outputs, prompts.size());
    if (!rows) refuse_outputs(*outputs, names);
    const auto presences = presences_of((*outputs)[3].view(), prompts.size());
    std::vector<Decoded> decoded;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      decoded.push_back(prompt_rows(*rows, i, threshold));
      decoded.back().owner = outputs;
      decoded.back().presence = presences[i];
    }
    return decoded;
  }

  void require_points() const override {
    if (!has_points_) refuse_points(fmt::format("it was exported without {}", kPointDecoderFile));
  }

  DecodedPoints decode_points(const Features& image, std::span<const PointPrompt> prompts, bool /*several*/,
                              const CancelToken& cancel) override {
    require_points();
    DecodedPoints decoded;
    if (prompts.empty()) return decoded;
    const PointTensors points = point_tensors(prompts, mask_side_);
    std::vector<ort::Feed> feeds = feeds_of(image, kPointFeatures);
    feeds.push_back({v1::kPointCoords, nullptr, &points.coords});
    feeds.push_back({v1::kPointLabels, nullptr, &points.labels});
    feeds.push_back({v1::kMaskInput, nullptr, &points.masks});
    feeds.push_back({v1::kHasMask, nullptr, &points.has_mask});
    const auto outputs =
        runner_.run(points_, false, feeds, names_of({v1::kMaskLogits, v1::kIou, v1::kObjectScore}), cancel);
    append_points(decoded, prompts.size(), outputs[0].view(), outputs[1].view(), outputs[2].view());
    return decoded;
  }

 private:
  std::filesystem::path image_;
  std::filesystem::path language_;
  std::filesystem::path decoder_;
  std::filesystem::path points_;
  bool has_points_;
  std::int64_t mask_side_;
  DecoderForm form_;
  std::optional<std::size_t> max_boxes_;
  std::size_t prompts_per_call_;
  GraphRunner runner_;
};

}  // namespace

std::unique_ptr<Graphs> make_graphs_v1(const Folder& folder, const ModelOptions& options) {
  return std::make_unique<GraphsV1>(folder, options);
}

}  // namespace samlet::sam3
