#include "models/sam3/graphs_v030.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/mask/upsample.h"
#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

/// Opens one graph on first use. Thread-safe.
class LazySession {
 public:
  explicit LazySession(std::filesystem::path model) : model_(std::move(model)) {}

  const ort::Session& get(const std::shared_ptr<const ort::Runtime>& runtime,
                          const ort::SessionOptions& options) {
    const std::lock_guard lock(mutex_);
    if (!session_) session_ = std::make_unique<ort::Session>(runtime, model_, options);
    return *session_;
  }

 private:
  std::filesystem::path model_;
  std::mutex mutex_;
  std::unique_ptr<ort::Session> session_;
};

const ort::Value& value_named(const Features& features, std::string_view name) {
  const auto at = std::find(features.names.begin(), features.names.end(), name);
  if (at == features.names.end()) {
    throw Error(ErrorCode::kInternal, fmt::format("the features have no '{}'; please report this", name));
  }
  return features.values[static_cast<std::size_t>(at - features.names.begin())];
}

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
  decoded.mask_logits = copy_floats(masks);
  // Before the clamp of the logits would hide them.
  const bool finite = std::all_of(decoded.mask_logits.begin(), decoded.mask_logits.end(),
                                  [](float probability) { return std::isfinite(probability); });
  if (!finite) {
    throw Error(ErrorCode::kInternal,
                fmt::format("{} gave masks that are not finite numbers; try --device cpu, and report "
                            "this if it stays",
                            kDecoderFile));
  }
  probabilities_to_logits(decoded.mask_logits);
  decoded.mask_rows = static_cast<int>(grid[2]);
  decoded.mask_columns = static_cast<int>(grid[3]);
  return decoded;
}

class GraphsV030 final : public Graphs {
 public:
  GraphsV030(const Folder& folder, const ModelOptions& options)
      : folder_(folder.path),
        image_(folder.path / kImageEncoderFile),
        language_(folder.path / kLanguageEncoderFile),
        decoder_(folder.path / kDecoderFile),
        max_boxes_(folder.info.max_boxes),
        wanted_(ort::device_from_name(options.device)),
        options_(options) {}

  ort::Device device() override { return session_options().device; }

  Features encode_image(const Tensor& planes, const CancelToken& cancel) override {
    const ort::Session& session = image_.get(runtime(), session_options());
    Features features;
    for (const auto name : {v030::kPosition2, v030::kFeatures0, v030::kFeatures1, v030::kFeatures2}) {
      features.names.emplace_back(name);
    }
    features.values =
        run_graph(session, kImageEncoderFile, {{v030::kImage, nullptr, &planes}}, features.names, cancel);
    return features;
  }

  Features encode_text(std::span<const std::int64_t> ids, const CancelToken& cancel) override {
    const ort::Session& session = language_.get(runtime(), small_graph_options());
    const Tensor tokens = Tensor::from<std::int64_t>({1, static_cast<std::int64_t>(ids.size())}, ids);
    Features features;
    features.names = {std::string(v030::kTextMask), std::string(v030::kTextMemory)};
    features.values =
        run_graph(session, kLanguageEncoderFile, {{v030::kTokens, nullptr, &tokens}}, features.names, cancel);
    return features;
  }

  Decoded decode(const Features& image, const Features& text, std::span<const NormalizedBox> boxes,
                 double /*threshold*/, const CancelToken& cancel) override {
    const ort::Session& session = decoder_.get(runtime(), small_graph_options());
    const BoxTensors box = box_tensors(boxes, max_boxes_);
    std::vector<ort::Feed> feeds;
    for (std::size_t i = 0; i < image.names.size(); ++i)
      feeds.push_back({image.names[i], &image.values[i], nullptr});
    feeds.push_back({v030::kLanguageMask, &value_named(text, v030::kTextMask), nullptr});
    feeds.push_back({v030::kLanguageFeatures, &value_named(text, v030::kTextMemory), nullptr});
    feeds.push_back({v030::kBoxCoords, nullptr, &box.coords});
    feeds.push_back({v030::kBoxLabels, nullptr, &box.labels});
    feeds.push_back({v030::kBoxMasks, nullptr, &box.masks});
    const auto outputs =
        run_graph(session, kDecoderFile, feeds,
                  {std::string(v030::kBoxes), std::string(v030::kScores), std::string(v030::kMasks)}, cancel);
    return read_outputs(outputs[0].view(), outputs[1].view(), outputs[2].view());
  }

 private:
  /// The inputs are right by what the folder declares, so on the CPU a run that fails is the folder's fault.
  std::vector<ort::Value> run_graph(const ort::Session& session, std::string_view graph,
                                    const std::vector<ort::Feed>& feeds,
                                    const std::vector<std::string>& outputs, const CancelToken& cancel) {
    try {
      return session.run(feeds, outputs, cancel);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kInternal || device() != ort::Device::kCpu) throw;
      throw Error(
          ErrorCode::kModelDamaged,
          fmt::format("'{}' does not do what its folder declares; download or export the model again. {}",
                      path_to_utf8(folder_ / graph), error.what()));
    }
  }

  std::shared_ptr<const ort::Runtime> runtime() {
    const std::lock_guard lock(mutex_);
    if (!runtime_) {
      runtime_ = ort::Runtime::load({options_.runtime_library, options_.runtime_search, options_.log});
    }
    return runtime_;
  }

  ort::SessionOptions session_options() {
    const auto loaded = runtime();
    const std::lock_guard lock(mutex_);
    if (!device_) device_ = ort::resolve_device(*loaded, wanted_, options_.log);
    ort::SessionOptions session;
    session.device = *device_;
    session.threads = options_.threads;
    session.log = options_.log;
    return session;
  }

  /// On CoreML only the image encoder goes to the device: the others are small, and their dynamic dims do not
  /// suit it.
  ort::SessionOptions small_graph_options() {
    ort::SessionOptions options = session_options();
    if (options.device == ort::Device::kCoreMl) options.device = ort::Device::kCpu;
    return options;
  }

  std::filesystem::path folder_;
  LazySession image_;
  LazySession language_;
  LazySession decoder_;
  std::optional<std::size_t> max_boxes_;
  ort::Device wanted_;
  ModelOptions options_;
  std::mutex mutex_;
  std::shared_ptr<const ort::Runtime> runtime_;
  std::optional<ort::Device> device_;
};

}  // namespace

std::unique_ptr<Graphs> make_graphs_v030(const Folder& folder, const ModelOptions& options) {
  return std::make_unique<GraphsV030>(folder, options);
}

}  // namespace samlet::sam3
