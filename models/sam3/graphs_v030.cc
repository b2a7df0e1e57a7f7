#include "models/sam3/graphs_v030.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "libs/mask/upsample.h"
#include "models/sam3/contract.h"
#include "models/sam3/graph_runner.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

/// The three tensors that carry exemplar boxes. N slots; unused ones stand to the right, masked.
struct BoxTensors {
  Tensor coords;  // f32 [N, 1, 4]
  Tensor labels;  // i64 [N, 1]
  Tensor masks;   // bool [1, N]
};

BoxTensors box_tensors(std::span<const NormalizedBox> boxes, std::optional<std::size_t> fixed_slots) {
  // A slot that is masked changes nothing, so with no box one masked slot stands for "none".
  const auto slots = static_cast<std::int64_t>(fixed_slots.value_or(std::max<std::size_t>(1, boxes.size())));
  BoxTensors tensors{Tensor(DType::kFloat32, {slots, 1, 4}), Tensor(DType::kInt64, {slots, 1}),
                     Tensor(DType::kBool, {1, slots})};
  const auto coords = tensors.coords.as<float>();
  const auto labels = tensors.labels.as<std::int64_t>();
  const auto masks = tensors.masks.as<bool>();
  std::fill(labels.begin(), labels.end(), 1);
  std::fill(masks.begin(), masks.end(), true);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    const NormalizedBox& box = boxes[i];
    const std::array<float, 4> row{box.cx, box.cy, box.w, box.h};
    std::copy(row.begin(), row.end(), coords.subspan(i * 4).begin());
    labels[i] = box.positive ? 1 : 0;
    masks[i] = false;
  }
  return tensors;
}

std::vector<float> copy_floats(const TensorView& view) {
  const auto values = view.as<float>();
  return {values.begin(), values.end()};
}

/// The decoder's outputs: boxes [n, 4], scores [n], masks [n, 1, rows, columns]. What a graph declares is not
/// what it gives: ONNX Runtime does not hold it to its word, so the shapes are checked here.
Decoded read_outputs(const TensorView& boxes, const TensorView& scores, const TensorView& masks) {
  const std::int64_t n = scores.shape().size() == 1 ? scores.shape()[0] : -1;
  const Shape& grid = masks.shape();
  constexpr std::int64_t kMaxCells = 8192;  // a side; the released model has 288
  const bool right = n >= 0 && boxes.shape() == Shape{n, 4} && grid.size() == 4 && grid[0] == n &&
                     grid[1] == 1 && grid[2] >= 1 && grid[3] >= 1 && grid[2] <= kMaxCells &&
                     grid[3] <= kMaxCells;
  if (!right) {
    throw Error(
        ErrorCode::kModelDamaged,
        fmt::format(
            "{} gave boxes {}, scores {} and masks {}, where [n, 4], [n] and [n, 1, rows, columns] belong; "
            "download or export the model again",
            kDecoderFile, to_string(boxes.shape()), to_string(scores.shape()), to_string(grid)));
  }
  Decoded decoded;
  decoded.boxes = copy_floats(boxes);
  decoded.scores = copy_floats(scores);
  auto logits = std::make_shared<std::vector<float>>(copy_floats(masks));
  require_finite(*logits, "masks");  // before the clamp of the logits hides it
  probabilities_to_logits(*logits);
  decoded.mask_logits = *logits;
  decoded.owner = std::move(logits);
  decoded.mask_rows = static_cast<int>(grid[2]);
  decoded.mask_columns = static_cast<int>(grid[3]);
  return decoded;
}

class GraphsV030 final : public Graphs {
 public:
  GraphsV030(const Folder& folder, const ModelOptions& options)
      : image_(folder.path / kImageEncoderFile),
        language_(folder.text_encoder.graph),
        decoder_(folder.path / kDecoderFile),
        max_boxes_(folder.info.max_boxes),
        runner_(options, {}) {}

  ort::Device device() override { return runner_.device(); }
  std::size_t prompts_per_call() const override { return 1; }

  Features encode_image(const Tensor& planes, FeaturesFor wanted, const CancelToken& cancel) override {
    if (wanted != FeaturesFor::kConcepts) refuse_points("folders of sam3-onnx v0.3.0 have no point decoder");
    Features features;
    for (const auto name : {v030::kPosition2, v030::kFeatures0, v030::kFeatures1, v030::kFeatures2}) {
      features.names.emplace_back(name);
    }
    features.values = runner_.run(image_, true, {{v030::kImage, nullptr, &planes}}, features.names, cancel);
    return features;
  }

  Phrases encode_text(std::span<const DecoderPrompt> prompts, const CancelToken& cancel) override {
    Phrases phrases;
    for (const DecoderPrompt& prompt : prompts) {
      const Tensor tokens =
          Tensor::from<std::int64_t>({1, static_cast<std::int64_t>(prompt.tokens.size())}, prompt.tokens);
      Features features;
      features.names = {std::string(v030::kLanguageMask), std::string(v030::kLanguageFeatures)};
      features.values = runner_.run(language_, false, {{v030::kTokens, nullptr, &tokens}},
                                    {std::string(v030::kTextMask), std::string(v030::kTextMemory)}, cancel);
      phrases.features.push_back(std::move(features));
    }
    phrases.count = prompts.size();
    return phrases;
  }

  std::vector<Decoded> decode(const Features& image, const Phrases& phrases,
                              std::span<const DecoderPrompt> prompts, double /*threshold*/,
                              const CancelToken& cancel) override {
    std::vector<Decoded> decoded;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      decoded.push_back(decode_one(image, phrases.features.at(i), prompts[i].boxes, cancel));
    }
    return decoded;
  }

 private:
  Decoded decode_one(const Features& image, const Features& text, std::span<const NormalizedBox> boxes,
                     const CancelToken& cancel) {
    const BoxTensors box = box_tensors(boxes, max_boxes_);
    std::vector<ort::Feed> feeds = feeds_of(image);
    for (const ort::Feed& feed : feeds_of(text)) feeds.push_back(feed);
    feeds.push_back({v030::kBoxCoords, nullptr, &box.coords});
    feeds.push_back({v030::kBoxLabels, nullptr, &box.labels});
    feeds.push_back({v030::kBoxMasks, nullptr, &box.masks});
    const auto outputs = runner_.run(
        decoder_, false, feeds,
        {std::string(v030::kBoxes), std::string(v030::kScores), std::string(v030::kMasks)}, cancel);
    return read_outputs(outputs[0].view(), outputs[1].view(), outputs[2].view());
  }

  std::filesystem::path image_;
  std::filesystem::path language_;
  std::filesystem::path decoder_;
  std::optional<std::size_t> max_boxes_;
  GraphRunner runner_;
};

}  // namespace

std::unique_ptr<Graphs> make_graphs_v030(const Folder& folder, const ModelOptions& options) {
  return std::make_unique<GraphsV030>(folder, options);
}

}  // namespace samlet::sam3
