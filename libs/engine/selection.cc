#include "libs/engine/selection.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "samlet/error.h"

namespace samlet {
namespace {

double limit_of(const SelectionOptions& options) {
  const double limit = options.overlap.value_or(options.suppression == Suppression::kIou ? 0.7 : 0.9);
  if (limit >= 0 && limit <= 1) return limit;
  throw Error(ErrorCode::kUsage, fmt::format("the overlap {} is not between 0 and 1", limit));
}

bool boxes_meet(const Box& a, const Box& b) {
  return a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2;
}

double overlap_of(const Instance& a, const Instance& b, Suppression by) {
  const auto both = static_cast<double>(overlap_area(a.mask, b.mask));
  const auto area_a = static_cast<double>(a.mask.area());
  const auto area_b = static_cast<double>(b.mask.area());
  const double whole = by == Suppression::kIou ? area_a + area_b - both : std::min(area_a, area_b);
  return whole > 0 ? both / whole : 0;
}

/// Of one prompt: the numbers of its instances, best first.
using Ranks = std::map<std::pair<InstanceKind, std::size_t>, std::vector<std::size_t>>;

Ranks ranks_of(const std::vector<Instance>& instances) {
  Ranks ranks;
  for (std::size_t i = 0; i < instances.size(); ++i)
    ranks[{instances[i].kind, instances[i].prompt_index}].push_back(i);
  for (auto& [prompt, rows] : ranks) {
    std::stable_sort(rows.begin(), rows.end(),
                     [&](std::size_t a, std::size_t b) { return instances[a].score > instances[b].score; });
  }
  return ranks;
}

}  // namespace

bool holds(const Mask& mask, const Point& point) {
  if (mask.width <= 0 || mask.height <= 0) return false;
  const auto pixel = [](double at, int side) {
    return static_cast<std::uint64_t>(std::clamp(std::floor(at), 0.0, static_cast<double>(side - 1)));
  };
  const std::uint64_t wanted =
      pixel(point.x, mask.width) * static_cast<std::uint64_t>(mask.height) + pixel(point.y, mask.height);
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < mask.counts.size(); ++i) {
    end += mask.counts[i];
    if (wanted < end) return i % 2 == 1;
  }
  return false;
}

std::vector<Instance> select(std::vector<Instance> instances, const SelectionOptions& options) {
  const double limit = options.suppression == Suppression::kNone ? 1 : limit_of(options);
  std::erase_if(instances,
                [&](const Instance& instance) { return instance.mask.area() < options.least_area; });
  std::vector<bool> kept(instances.size());
  for (const auto& [prompt, rows] : ranks_of(instances)) {
    std::vector<std::size_t> better;
    for (const std::size_t row : rows) {
      if (options.most && better.size() >= *options.most) break;
      const bool repeated =
          options.suppression != Suppression::kNone &&
          std::any_of(better.begin(), better.end(), [&](std::size_t other) {
            return boxes_meet(instances[row].box, instances[other].box) &&
                   overlap_of(instances[row], instances[other], options.suppression) > limit;
          });
      if (!repeated) better.push_back(row);
    }
    for (const std::size_t row : better) kept[row] = true;
  }
  std::vector<Instance> selected;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    if (kept[i]) selected.push_back(std::move(instances[i]));
  }
  return selected;
}

std::vector<Instance> choose_by_points(std::vector<Instance> instances, std::span<const ObjectPoint> points) {
  const bool any_positive =
      std::any_of(points.begin(), points.end(), [](const ObjectPoint& point) { return point.positive; });
  std::erase_if(instances, [&](const Instance& instance) {
    bool wanted = !any_positive;
    for (const ObjectPoint& point : points) {
      if (!holds(instance.mask, point.at)) continue;
      if (!point.positive) return true;
      wanted = true;
    }
    return !wanted;
  });
  return instances;
}

}  // namespace samlet
