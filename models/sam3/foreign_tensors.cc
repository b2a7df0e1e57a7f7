#include "models/sam3/foreign_tensors.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

template <typename T>
void fill(Tensor& tensor, std::span<const double> values) {
  const auto elements = tensor.as<T>();
  std::transform(values.begin(), values.end(), elements.begin(), [](double v) { return static_cast<T>(v); });
}

/// One value for each of the graph's own dimensions, which are all 1: [], [1] or [1, 1].
Tensor single(const ort::DeclaredValue& value, double number) {
  return tensor_of(value.dtype, Shape(value.shape.size(), 1), {&number, 1});
}

/// The shape of a list for one prompt: [items, 1] or [1, items], and what follows.
Shape ordered(Order order, std::size_t items) {
  const auto n = static_cast<std::int64_t>(items);
  return order == Order::kItemsFirst ? Shape{n, 1} : Shape{1, n};
}

/// The largest f32 that is not above the threshold, as for contract version 1.
double graph_threshold(double threshold) {
  const auto rounded = static_cast<float>(threshold);
  if (double{rounded} <= threshold) return double{rounded};
  return double{std::nextafter(rounded, -std::numeric_limits<float>::infinity())};
}

[[noreturn]] void refuse(const MappedGraph& graph, const std::string& what) {
  throw Error(ErrorCode::kModelUnsupported, fmt::format("'{}' {}", graph.file.name(), what));
}

void append_box(std::vector<double>& coords, const NormalizedBox& box, bool as_corners) {
  if (as_corners) {
    for (const float v : {box.cx - box.w / 2, box.cy - box.h / 2, box.cx + box.w / 2, box.cy + box.h / 2})
      coords.push_back(double{v});
  } else {
    for (const float v : {box.cx, box.cy, box.w, box.h}) coords.push_back(double{v});
  }
}

/// Points with the closing one and those that fill up a fixed number.
std::vector<ModelPoint> closed(const ForeignModel& model, std::span<const ModelPoint> points) {
  const MappedGraph& graph = *model.points;
  std::vector<ModelPoint> all(points.begin(), points.end());
  constexpr ModelPoint kNoPoint{0, 0, -1};
  if (model.closing == ClosingPoint::kOutside) all.push_back(kNoPoint);
  const Shape& shape = graph.input(v1::kPointLabels)->value.shape;
  if (shape.back() < 0) return all;
  const auto slots = static_cast<std::size_t>(shape.back());
  const bool can_fill = model.closing == ClosingPoint::kIgnored || graph.input("point_valid") != nullptr;
  if (all.size() > slots || (all.size() < slots && !can_fill)) {
    const std::size_t own = model.closing == ClosingPoint::kOutside ? 1 : 0;
    refuse(graph, fmt::format(
                      "takes {} {} points, but {} were given; give that many{}",
                      can_fill ? "at most" : "exactly", slots - std::min(slots, own), points.size(),
                      can_fill ? ""
                               : ", or say {\"facts\": {\"closing_point\": \"ignored\"}} in an alias file if "
                                 "it passes over points with the label -1"));
  }
  all.resize(slots, kNoPoint);
  return all;
}

/// A [1, 1, ...] shape of the declared rank that ends in these.
Shape of_rank(std::size_t rank, const Shape& last) {
  Shape shape(rank - std::min(rank, last.size()), 1);
  shape.insert(shape.end(), last.begin(), last.end());
  return shape;
}

void add_points(NamedTensors& tensors, const ForeignModel& model, std::span<const ModelPoint> given) {
  const MappedGraph& graph = *model.points;
  const std::vector<ModelPoint> points = closed(model, given);
  std::vector<double> coords;
  std::vector<double> labels;
  std::vector<double> valid;
  const std::size_t used = given.size() + (model.closing == ClosingPoint::kOutside ? 1 : 0);
  for (const ModelPoint& point : points) {
    coords.insert(coords.end(), {double{point.x}, double{point.y}});
    labels.push_back(static_cast<double>(point.label));
    valid.push_back(labels.size() <= used ? 1 : 0);
  }
  const auto p = static_cast<std::int64_t>(points.size());
  const auto add = [&](std::string_view role, const Shape& last, std::span<const double> values) {
    if (const MappedTensor* input = graph.input(role)) {
      tensors.emplace_back(input->value.name,
                           tensor_of(input->value.dtype, of_rank(input->value.shape.size(), last), values));
    }
  };
  add(v1::kPointCoords, {p, 2}, coords);
  add(v1::kPointLabels, {p}, labels);
  add("point_valid", {p}, valid);
}

void add_previous(NamedTensors& tensors, const ForeignModel& model, const std::vector<float>& previous) {
  const MappedGraph& graph = *model.points;
  const std::int64_t side = model.mask_side;
  const MappedTensor* mask = graph.input(v1::kMaskInput);
  if (mask == nullptr) {
    if (!previous.empty()) refuse(graph, "takes no earlier answer; leave it out");
    return;
  }
  const auto wanted = static_cast<std::size_t>(side * side);
  if (!previous.empty() && previous.size() != wanted)
    throw Error(ErrorCode::kInternal, "an earlier answer is not of this model; please report this");
  std::vector<double> values(previous.begin(), previous.end());
  values.resize(wanted, 0);
  tensors.emplace_back(mask->value.name, tensor_of(mask->value.dtype, {1, 1, side, side}, values));
  const MappedTensor& has = *graph.input(v1::kHasMask);
  tensors.emplace_back(has.value.name, single(has.value, previous.empty() ? 0 : 1));
}

}  // namespace

bool are_logits(std::string_view fact, std::string_view name, std::span<const float> values) {
  if (!fact.empty()) return fact == "logits";
  if (name.find("logit") != std::string_view::npos) return true;
  return std::any_of(values.begin(), values.end(), [](float v) { return v < 0 || v > 1; });
}

Tensor tensor_of(std::optional<DType> type, Shape shape, std::span<const double> values) {
  Tensor tensor(type.value_or(DType::kBFloat16), std::move(shape));
  if (tensor.view().count() != values.size())
    throw Error(ErrorCode::kInternal,
                "an input has another number of elements than its shape; please report this");
  switch (tensor.dtype()) {
    case DType::kFloat32:
      fill<float>(tensor, values);
      break;
    case DType::kInt64:
      fill<std::int64_t>(tensor, values);
      break;
    case DType::kInt32:
      fill<std::int32_t>(tensor, values);
      break;
    case DType::kBool:
      fill<bool>(tensor, values);
      break;
    default:
      throw Error(ErrorCode::kInternal, "an input has a type that samlet does not fill; please report this");
  }
  return tensor;
}

Tensor pixels_for(const ort::DeclaredValue& image, const Tensor& planes, std::string_view form) {
  const Shape shape = of_rank(image.shape.size(), planes.shape());
  const TensorView view = planes.view();
  const auto bytes = view.bytes();
  Tensor pixels(image.dtype.value_or(DType::kUInt8), shape);
  if (pixels.dtype() == DType::kUInt8) {
    const auto to = pixels.as<std::uint8_t>();
    std::transform(bytes.begin(), bytes.end(), to.begin(),
                   [](std::byte b) { return static_cast<std::uint8_t>(b); });
    return pixels;
  }
  const float scale = form == "bytes" ? 1.0F : 255.0F;
  const bool centred = form.empty() || form == "normalized";
  const auto to = pixels.as<float>();
  std::transform(bytes.begin(), bytes.end(), to.begin(), [&](std::byte b) {
    const float value = static_cast<float>(static_cast<std::uint8_t>(b)) / scale;
    return centred ? (value - 0.5F) / 0.5F : value;
  });
  return pixels;
}

NamedTensors token_tensors(const MappedGraph& language, std::span<const std::int64_t> tokens) {
  NamedTensors tensors;
  const Shape shape{1, static_cast<std::int64_t>(tokens.size())};
  std::vector<double> ids;
  std::vector<double> used;
  for (const std::int64_t id : tokens) {
    ids.push_back(static_cast<double>(id));
    used.push_back(id != 0 ? 1 : 0);  // 0 fills up
  }
  const MappedTensor& input = *language.input(v030::kTokens);
  tensors.emplace_back(input.value.name, tensor_of(input.value.dtype, shape, ids));
  if (const MappedTensor* mask = language.input("attention_mask"))
    tensors.emplace_back(mask->value.name, tensor_of(mask->value.dtype, shape, used));
  return tensors;
}

std::optional<Tensor> text_for(const ort::DeclaredValue& taken, const TensorView& made) {
  if (may_be(made.shape(), taken.shape)) return std::nullopt;
  Shape turned = made.shape();
  if (turned.size() == 3) std::swap(turned[0], turned[1]);
  // With one prompt both orders have their numbers in the same places.
  if (!may_be(turned, taken.shape) || made.dtype() != DType::kFloat32) {
    throw Error(ErrorCode::kModelUnsupported,
                fmt::format("the language encoder gives {} {}, the decoder takes {}; export the model again",
                            name_of(made.dtype()), to_string(made.shape()), describe(taken)));
  }
  return Tensor::from<float>(std::move(turned), made.as<float>());
}

NamedTensors box_tensors(const ForeignModel& model, std::span<const NormalizedBox> boxes, double threshold) {
  NamedTensors tensors;
  const MappedGraph& graph = model.decoder;
  if (const MappedTensor* limit = graph.input(v1::kScoreThreshold))
    tensors.emplace_back(limit->value.name, single(limit->value, graph_threshold(threshold)));
  const MappedTensor* coords_input = graph.input(v030::kBoxCoords);
  if (coords_input == nullptr) return tensors;
  const MappedTensor* masks_input = graph.input(v030::kBoxMasks);
  // A slot that is masked changes nothing, so with no box one masked slot stands for "none".
  const std::size_t least = masks_input == nullptr ? boxes.size() : std::max<std::size_t>(1, boxes.size());
  const std::size_t slots = model.box_slots.value_or(least);
  if (slots > boxes.size() && masks_input == nullptr) {
    refuse(graph,
           fmt::format("has {} box slots and no input that says which are unused, so it takes exactly that "
                       "many boxes, not {}",
                       slots, boxes.size()));
  }
  const bool has_negative =
      std::any_of(boxes.begin(), boxes.end(), [](const NormalizedBox& b) { return !b.positive; });
  if (has_negative && graph.input(v030::kBoxLabels) == nullptr)
    refuse(graph, "takes no box_labels, so it knows no negative boxes; leave them out");
  std::vector<double> coords;
  std::vector<double> labels(slots, 1);
  std::vector<double> unused(slots, 1);
  for (std::size_t i = 0; i < boxes.size(); ++i) {
    append_box(coords, boxes[i], model.aliases.fact(kFactBoxCoords) == "xyxy");
    labels[i] = boxes[i].positive ? 1 : 0;
    unused[i] = 0;
  }
  coords.resize(slots * 4, 0);
  Shape shape = ordered(model.coords_order, slots);
  shape.push_back(4);
  tensors.emplace_back(coords_input->value.name, tensor_of(coords_input->value.dtype, shape, coords));
  if (const MappedTensor* input = graph.input(v030::kBoxLabels))
    tensors.emplace_back(input->value.name,
                         tensor_of(input->value.dtype, ordered(model.labels_order, slots), labels));
  if (masks_input != nullptr)
    tensors.emplace_back(masks_input->value.name,
                         tensor_of(masks_input->value.dtype, ordered(model.masks_order, slots), unused));
  return tensors;
}

NamedTensors point_tensors(const ForeignModel& model, const PointPrompt& prompt, bool several) {
  NamedTensors tensors;
  add_points(tensors, model, prompt.points);
  add_previous(tensors, model, prompt.previous);
  if (const MappedTensor* input = model.points->input("multimask_output"))
    tensors.emplace_back(input->value.name, single(input->value, several ? 1 : 0));
  return tensors;
}

}  // namespace samlet::sam3
