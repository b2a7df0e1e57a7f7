#include "models/sam3/shape_rules.h"

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "models/sam3/contract.h"

namespace samlet::sam3 {
namespace {

/// Side and channels of the maps of features among tensors.
struct Maps {
  std::int64_t grid = 0;      ///< g: there are maps of g, 2g or 4g a side; 0 when that cannot be told
  std::int64_t channels = 0;  ///< D, the most
};

bool is_map(const MappedTensor& tensor) {
  const Shape& shape = tensor.value.shape;
  const bool is_float = tensor.value.dtype == DType::kFloat32 || tensor.value.dtype == DType::kFloat16;
  return is_float && shape.size() == 4 && shape[1] > 1 && shape[2] > 1 && shape[2] == shape[3];
}

Maps maps_of(const std::vector<MappedTensor>& tensors) {
  Maps maps;
  std::int64_t largest = 0;
  for (const MappedTensor& tensor : tensors) {
    if (!is_map(tensor)) continue;
    const std::int64_t side = tensor.value.shape[2];
    largest = std::max(largest, side);
    maps.channels = std::max(maps.channels, tensor.value.shape[1]);
  }
  // One map alone does not say which of the three it is.
  for (const MappedTensor& tensor : tensors) {
    if (is_map(tensor) && tensor.value.shape[2] * 4 == largest) maps.grid = tensor.value.shape[2];
  }
  return maps;
}

struct Scale {
  std::string_view role;
  std::int64_t grids;    ///< side / g
  std::int64_t divisor;  ///< D / channels
};
constexpr std::array kScales{Scale{v030::kPosition2, 1, 1},    Scale{v030::kFeatures0, 4, 1},
                             Scale{v030::kFeatures1, 2, 1},    Scale{v030::kFeatures2, 1, 1},
                             Scale{v1::kPointFeatures0, 4, 8}, Scale{v1::kPointFeatures1, 2, 4},
                             Scale{v1::kPointEmbed, 1, 1}};

/// None for a role that is no map of features.
std::optional<bool> fits_scale(const Role& role, const std::vector<MappedTensor>& side,
                               const MappedTensor& tensor) {
  const auto scale =
      std::find_if(kScales.begin(), kScales.end(), [&](const Scale& s) { return s.role == role.name; });
  if (scale == kScales.end()) return std::nullopt;
  const Maps maps = maps_of(side);
  const Shape& shape = tensor.value.shape;
  return maps.grid > 0 && is_map(tensor) && shape[2] == scale->grids * maps.grid &&
         shape[1] * scale->divisor == maps.channels;
}

bool is_or_any(std::int64_t dimension, std::int64_t wanted) {
  return dimension < 0 || dimension == wanted;
}

/// Whether labels or masks [a, b] may belong to the boxes' coordinates.
bool may_be_of_boxes(const MappedGraph& graph, const Shape& shape) {
  const MappedTensor* coords = graph.input(v030::kBoxCoords);
  if (coords == nullptr) return true;
  Shape boxes = coords->value.shape;
  boxes.pop_back();
  std::sort(boxes.begin(), boxes.end());
  Shape sorted = shape;
  std::sort(sorted.begin(), sorted.end());
  return boxes == sorted;
}

bool is_decoder_input(const KnownShapes& known, const Role& role, const MappedGraph& graph,
                      const Shape& shape) {
  if (role.name == v030::kLanguageMask) return known.text_mask && shape == *known.text_mask;
  if (role.name == v030::kBoxCoords) return shape[2] == 4;
  if (role.name == v030::kLanguageFeatures) {
    return shape[2] != 4 && (!known.text_memory || is_or_any(shape[2], known.text_memory->back()));
  }
  if (role.name == v030::kBoxLabels || role.name == v030::kBoxMasks) {
    const bool is_text = role.name == v030::kBoxMasks && known.text_mask && shape == *known.text_mask;
    return !is_text && may_be_of_boxes(graph, shape);
  }
  return shape.empty() || shape[0] == 1;  // the threshold
}

bool is_decoder_output(const Role& role, const Shape& shape) {
  if (role.name == v030::kBoxes) return shape.back() == 4;
  if (role.name == v030::kScores) return shape.back() != 4 && (shape.size() < 3 || shape.back() == 1);
  const std::int64_t rows = shape[shape.size() - 2];  // masks
  return shape.back() != 4 && shape.back() != 1 && (rows == shape.back() || rows < 0 || shape.back() < 0);
}

bool is_point_tensor(const Role& role, const MappedGraph& graph, const Shape& shape) {
  if (role.name == v1::kPointCoords) return shape.back() == 2;
  if (role.name == v1::kPointLabels) {
    const MappedTensor* coords = graph.input(v1::kPointCoords);
    if (coords == nullptr) return shape.size() < 3 || shape.back() != 2;
    return coords->value.shape.size() == shape.size() + 1;
  }
  if (role.name == v1::kMaskInput) return shape[1] == 1;
  if (role.name == v1::kHasMask) {
    // Of objects, of which there is one.
    return shape.empty() || (is_or_any(shape[0], 1) && (shape.size() == 1 || shape[1] == 1));
  }
  if (role.name == v1::kMaskLogits) return shape.back() != 1 && shape.back() == shape[shape.size() - 2];
  const MappedTensor* masks = graph.output(v1::kMaskLogits);  // for the IoU
  if (masks == nullptr) return false;
  const std::int64_t count = masks->value.shape[masks->value.shape.size() - 3];
  return count > 0 && shape.back() == count;
}

bool fits_shape(const KnownShapes& known, const Role& role, const MappedGraph& graph,
                const MappedTensor& tensor) {
  const Shape& shape = tensor.value.shape;
  const auto& side = role.direction == Direction::kInput ? graph.inputs : graph.outputs;
  if (const auto scale = fits_scale(role, side, tensor)) return *scale;
  switch (role.graph) {
    case GraphKind::kImageEncoder:
      return shape[shape.size() - 3] == 3 && shape.back() > 1;
    case GraphKind::kLanguageEncoder:
      if (role.name == v030::kTextMemory)
        return known.text_memory && is_or_any(shape[2], known.text_memory->back());
      return true;
    case GraphKind::kDecoder:
      return role.direction == Direction::kInput ? is_decoder_input(known, role, graph, shape)
                                                 : is_decoder_output(role, shape);
    case GraphKind::kPointDecoder:
      return is_point_tensor(role, graph, shape);
  }
  return false;
}

}  // namespace

Order order_of(std::int64_t first, std::int64_t second) noexcept {
  if (first == 1 && second == 1) return Order::kEither;
  if (second == 1) return Order::kItemsFirst;
  if (first == 1) return Order::kPromptFirst;
  if (first < 0 && second < 0) return Order::kUnknown;
  if (first < 0) return Order::kPromptFirst;  // as many prompts as wanted
  if (second < 0) return Order::kItemsFirst;
  return Order::kImpossible;
}

ShapeRule shape_rule(KnownShapes known) {
  return [known = std::move(known)](const Role& role, const MappedGraph& graph, const MappedTensor& tensor) {
    return fits_shape(known, role, graph, tensor);
  };
}

}  // namespace samlet::sam3
