#include "models/sam3/graphs.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "samlet/error.h"

namespace samlet::sam3 {

std::vector<ort::Feed> feeds_of(const Features& features) {
  std::vector<ort::Feed> feeds;
  for (std::size_t i = 0; i < features.names.size(); ++i)
    feeds.push_back({features.names[i], &features.values[i], nullptr});
  return feeds;
}

std::vector<ort::Feed> feeds_of(const Features& features, std::span<const std::string_view> names) {
  std::vector<ort::Feed> feeds;
  for (const std::string_view name : names) {
    const auto at = std::find(features.names.begin(), features.names.end(), name);
    if (at == features.names.end()) {
      throw Error(ErrorCode::kInternal,
                  fmt::format("the picture was encoded without its '{}'; please report this", name));
    }
    feeds.push_back({name, &features.values[static_cast<std::size_t>(at - features.names.begin())], nullptr});
  }
  return feeds;
}

void refuse_points(std::string_view why) {
  throw Error(ErrorCode::kModelUnsupported,
              fmt::format("the model cannot be asked by clicks: {}. Use a folder with a point decoder", why));
}

void Graphs::require_points() const {
  refuse_points("its layout has no point decoder");
}

DecodedPoints Graphs::decode_points(const Features& /*image*/, std::span<const PointPrompt> /*prompts*/,
                                    bool /*several*/, const CancelToken& /*cancel*/) {
  refuse_points("its layout has no point decoder");
}

void append_points(DecodedPoints& all, std::size_t objects, const TensorView& masks, const TensorView& iou,
                   const std::optional<TensorView>& object_scores) {
  constexpr std::int64_t kMaxCells = 8192;  // a side; the released model has 288
  const Shape& shape = masks.shape();
  const bool has_grid = shape.size() >= 3 && shape.back() >= 1 && shape.back() <= kMaxCells &&
                        shape[shape.size() - 2] >= 1 && shape[shape.size() - 2] <= kMaxCells;
  const std::size_t cells = has_grid ? static_cast<std::size_t>(shape.back() * shape[shape.size() - 2]) : 1;
  const std::size_t count = objects == 0 ? 0 : masks.count() / cells / objects;
  const int rows = has_grid ? static_cast<int>(shape[shape.size() - 2]) : 0;
  const int columns = has_grid ? static_cast<int>(shape.back()) : 0;
  const bool as_before =
      all.objects == 0 || (all.masks == count && all.mask_rows == rows && all.mask_columns == columns);
  if (!has_grid || count == 0 || count * objects * cells != masks.count() || iou.count() != count * objects ||
      (object_scores && object_scores->count() != objects) || !as_before) {
    throw Error(
        ErrorCode::kModelDamaged,
        fmt::format("the point decoder gave masks {}, IoU {} and object scores {} for {} objects, which do "
                    "not fit together; download or export the model again",
                    to_string(shape), to_string(iou.shape()),
                    object_scores ? to_string(object_scores->shape()) : "none", objects));
  }
  const auto append = [](std::vector<float>& to, const TensorView& view, std::string_view what) {
    const auto values = view.as<float>();
    require_finite(values, what);
    to.insert(to.end(), values.begin(), values.end());
  };
  append(all.mask_logits, masks, "masks");
  append(all.iou, iou, "IoU");
  if (object_scores) append(all.object_scores, *object_scores, "object scores");
  all.objects += objects;
  all.masks = count;
  all.mask_rows = rows;
  all.mask_columns = columns;
}

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

}  // namespace samlet::sam3
