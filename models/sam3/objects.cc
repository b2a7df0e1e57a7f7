#include "models/sam3/objects.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "libs/mask/fill_holes.h"
#include "libs/mask/tight_box.h"
#include "libs/mask/upsample.h"

namespace samlet::sam3 {
namespace {

constexpr double kStable = 0.98;
constexpr float kLargestLogit = 32;
/// Features are repeated for each object inside of the graph, so many at once cost memory and gain little.
constexpr std::size_t kObjectsPerCall = 16;

ModelPoint model_point(const Point& picture, const PictureGeometry& geometry, std::int64_t label) {
  const Point at = geometry.to_model(picture);
  return {static_cast<float>(at.x), static_cast<float>(at.y), label};
}

/// The two corners of the box come first, as Meta's predictor has it.
PointPrompt graph_prompt(const ObjectPrompt& prompt, const PictureGeometry& geometry) {
  PointPrompt row;
  if (prompt.box) {
    row.points.push_back(model_point({prompt.box->x1, prompt.box->y1}, geometry, 2));
    row.points.push_back(model_point({prompt.box->x2, prompt.box->y2}, geometry, 3));
  }
  for (const ObjectPoint& point : prompt.points)
    row.points.push_back(model_point(point.at, geometry, point.positive ? 1 : 0));
  if (prompt.mask) row.previous = prompt.mask->logits;
  return row;
}

/// A single click may mean a thing, its part, or what it is part of; anything more says which.
bool is_ambiguous(const ObjectPrompt& prompt) {
  return prompt.points.size() == 1 && !prompt.box && !prompt.mask;
}

/// The masks of one object: [masks, cells], and the IoU that is expected of each.
struct Candidates {
  std::span<const float> logits;
  std::span<const float> iou;
  std::size_t cells = 0;

  [[nodiscard]] std::span<const float> mask(std::size_t i) const { return logits.subspan(i * cells, cells); }
  /// Where the several candidates begin: of four masks the first is the single answer.
  [[nodiscard]] std::size_t first() const { return iou.size() == 4 ? 1 : 0; }
};

/// The numbers of the masks to give, best first.
std::vector<std::size_t> chosen(const Candidates& candidates, const ObjectPrompt& prompt, bool all_masks) {
  const std::size_t first = candidates.first();
  if (all_masks) {
    std::vector<std::size_t> order(candidates.iou.size() - first);
    std::iota(order.begin(), order.end(), first);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return candidates.iou[a] > candidates.iou[b]; });
    return order;
  }
  const bool has_single = first == 1;
  if (has_single && !is_ambiguous(prompt) && stability(candidates.mask(0)) >= kStable) return {0};
  return {first + best_of(candidates.iou.subspan(first))};
}

Instance instance_of(const Candidates& candidates, std::size_t chosen_mask, const DecodedPoints& decoded,
                     const PictureGeometry& geometry, const ObjectOptions& options) {
  const auto given = candidates.mask(chosen_mask);
  Instance instance;
  instance.kind = InstanceKind::kObject;
  instance.score = std::clamp(double{candidates.iou[chosen_mask]}, 0.0, 1.0);
  std::vector<float> logits(given.begin(), given.end());
  LowResMask low{decoded.mask_rows, decoded.mask_columns, logits};
  for (float& logit : low.logits) logit = std::clamp(logit, -kLargestLogit, kLargestLogit);
  instance.low_res = std::move(low);
  if (options.fill_holes > 0) fill_holes(logits, decoded.mask_rows, decoded.mask_columns, options.fill_holes);
  instance.mask =
      upsample_logits(logits, decoded.mask_rows, decoded.mask_columns, geometry.width(), geometry.height());
  const TightBox tight = tight_box(instance.mask);
  instance.box = {static_cast<double>(tight.x1), static_cast<double>(tight.y1), static_cast<double>(tight.x2),
                  static_cast<double>(tight.y2)};
  return instance;
}

}  // namespace

std::size_t best_of(std::span<const float> iou) {
  return static_cast<std::size_t>(std::max_element(iou.begin(), iou.end()) - iou.begin());
}

double stability(std::span<const float> logits) {
  const auto above = [&](float limit) {
    return std::count_if(logits.begin(), logits.end(), [limit](float v) { return v > limit; });
  };
  const auto wide = above(-0.05F);
  return wide == 0 ? 1.0 : static_cast<double>(above(0.05F)) / static_cast<double>(wide);
}

std::vector<Instance> find_objects(Graphs& graphs, const Features& image,
                                   std::span<const ObjectPrompt> prompts, const PictureGeometry& geometry,
                                   const ObjectOptions& options) {
  std::vector<Instance> instances;
  for (std::size_t begin = 0; begin < prompts.size(); begin += kObjectsPerCall) {
    options.cancel.check();
    const auto together = prompts.subspan(begin, std::min(kObjectsPerCall, prompts.size() - begin));
    std::vector<PointPrompt> rows;
    for (const ObjectPrompt& prompt : together) rows.push_back(graph_prompt(prompt, geometry));
    const bool several = options.all_masks || std::all_of(together.begin(), together.end(), is_ambiguous);
    const DecodedPoints decoded = graphs.decode_points(image, rows, several, options.cancel);
    const auto cells =
        static_cast<std::size_t>(decoded.mask_rows) * static_cast<std::size_t>(decoded.mask_columns);
    for (std::size_t i = 0; i < together.size(); ++i) {
      const std::span<const float> logits(decoded.mask_logits);
      const std::span<const float> iou(decoded.iou);
      const Candidates candidates{logits.subspan(i * decoded.masks * cells, decoded.masks * cells),
                                  iou.subspan(i * decoded.masks, decoded.masks), cells};
      for (const std::size_t mask : chosen(candidates, together[i], options.all_masks)) {
        instances.push_back(instance_of(candidates, mask, decoded, geometry, options));
        instances.back().prompt_index = begin + i;
      }
    }
  }
  return instances;
}

}  // namespace samlet::sam3
