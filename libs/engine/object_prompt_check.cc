#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "libs/engine/box_check.h"
#include "samlet/geometry.h"
#include "samlet/segmenter.h"

namespace samlet {
namespace {

std::string describe(const Point& point) {
  return fmt::format("{:g},{:g}", point.x, point.y);
}

void check_mask(const LowResMask& mask) {
  const bool fits =
      mask.rows > 0 && mask.columns > 0 &&
      mask.logits.size() / static_cast<std::size_t>(mask.rows) == static_cast<std::size_t>(mask.columns) &&
      mask.logits.size() % static_cast<std::size_t>(mask.rows) == 0;
  if (!fits) {
    refuse_prompt(
        fmt::format("a mask of {}x{} cells with {} numbers does not fit together; give one for each cell",
                    mask.rows, mask.columns, mask.logits.size()));
  }
  const bool finite =
      std::all_of(mask.logits.begin(), mask.logits.end(), [](float v) { return std::isfinite(v); });
  if (!finite) refuse_prompt("the mask to refine has numbers that are not finite; give another one");
}

void check_alone(const ObjectPrompt& prompt) {
  const bool any_positive = std::any_of(prompt.points.begin(), prompt.points.end(),
                                        [](const ObjectPoint& point) { return point.positive; });
  if (prompt.points.empty() && !prompt.box && !prompt.mask)
    refuse_prompt("an object was asked for without a point or a box; give --point x,y");
  if (!any_positive && !prompt.box && !prompt.mask) {
    refuse_prompt(
        "only negative points were given: they say what the object is not; add a point on it or a box round "
        "it");
  }
  if (!any_positive && !prompt.box && prompt.points.empty()) {
    refuse_prompt("a mask alone says nothing to refine; add a point or a box");
  }
  check_points(prompt.points);
  if (prompt.box) check_box_shape(*prompt.box);
  if (prompt.mask) check_mask(*prompt.mask);
}

void require_on_picture(const Point& point, int width, int height) {
  if (point.x >= 0 && point.y >= 0 && point.x <= width && point.y <= height) return;
  refuse_prompt(fmt::format("the point {} lies outside of the picture, which is {}x{} pixels",
                            describe(point), width, height));
}

/// All clicks at or below 1 on a picture that is larger: most likely fractions without --normalized.
void warn_of_fractions(std::span<const ObjectPoint> points, int width, int height,
                       std::vector<std::string>& warnings) {
  if (points.empty() || std::min(width, height) <= 2) return;
  const bool all_small = std::all_of(points.begin(), points.end(), [](const ObjectPoint& point) {
    return point.at.x <= 1 && point.at.y <= 1 && (point.at.x > 0 || point.at.y > 0);
  });
  if (!all_small) return;
  warnings.push_back(
      fmt::format("the point {} lies within the first pixel; if these are fractions of the picture, add "
                  "--normalized",
                  describe(points.front().at)));
}

}  // namespace

void check_points(std::span<const ObjectPoint> points) {
  // Memory grows with their number; a person gives a handful.
  constexpr std::size_t kMostPoints = 500;
  if (points.size() > kMostPoints) {
    refuse_prompt(fmt::format("{} points were given for one object, {} are possible; a few say as much",
                              points.size(), kMostPoints));
  }
  for (const ObjectPoint& point : points) {
    if (!std::isfinite(point.at.x) || !std::isfinite(point.at.y))
      refuse_prompt(fmt::format("the point {} is not two numbers; give x,y in pixels", describe(point.at)));
    const ObjectPoint opposite{point.at, !point.positive};
    if (std::find(points.begin(), points.end(), opposite) != points.end()) {
      refuse_prompt(
          fmt::format("the point {} is both on the object and beside it; leave one out", describe(point.at)));
    }
  }
}

void check_points(std::span<const ObjectPoint> points, int width, int height,
                  std::vector<std::string>& warnings) {
  check_points(points);
  for (const ObjectPoint& point : points) require_on_picture(point.at, width, height);
  warn_of_fractions(points, width, height, warnings);
}

std::vector<ObjectPoint> points_from_fractions(std::span<const ObjectPoint> points, int width, int height) {
  check_points(points);
  const PictureGeometry geometry(width, height, 1);
  std::vector<ObjectPoint> converted(points.begin(), points.end());
  for (ObjectPoint& point : converted) {
    if (std::max(std::abs(point.at.x), std::abs(point.at.y)) > 2) {
      refuse_prompt(fmt::format(
          "the point {} is not in fractions of the picture (0 to 1); leave --normalized out for pixels",
          describe(point.at)));
    }
    point.at = geometry.from_fractions(point.at);
  }
  return converted;
}

void check_object_prompts(std::span<const ObjectPrompt> prompts) {
  if (prompts.empty()) refuse_prompt("no object was asked for; give --point x,y");
  for (const ObjectPrompt& prompt : prompts) check_alone(prompt);
}

std::vector<ObjectPrompt> check_object_prompts(std::span<const ObjectPrompt> prompts, int width, int height,
                                               std::vector<std::string>& warnings) {
  check_object_prompts(prompts);
  std::vector<ObjectPrompt> checked(prompts.begin(), prompts.end());
  for (ObjectPrompt& prompt : checked) {
    check_points(prompt.points, width, height, warnings);
    if (prompt.box) prompt.box = placed_box(*prompt.box, width, height, warnings);
  }
  return checked;
}

std::vector<ObjectPrompt> object_prompts_from_fractions(std::span<const ObjectPrompt> prompts, int width,
                                                        int height) {
  check_object_prompts(prompts);
  const PictureGeometry geometry(width, height, 1);
  std::vector<ObjectPrompt> converted(prompts.begin(), prompts.end());
  for (ObjectPrompt& prompt : converted) {
    prompt.points = points_from_fractions(prompt.points, width, height);
    if (!prompt.box) continue;
    require_box_fractions(*prompt.box);
    prompt.box = geometry.from_fractions(*prompt.box);
  }
  return converted;
}

}  // namespace samlet
