// Which of the found instances are kept. All of it is off unless asked for: Meta's result is the default.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "samlet/prompt.h"
#include "samlet/result.h"

namespace samlet {

/// How an instance is told to be another one once more.
enum class Suppression {
  kNone,
  kIou,          ///< |a and b| / |a or b|
  kContainment,  ///< |a and b| / |the smaller of both|: also finds what lies within another one
};

struct SelectionOptions {
  std::optional<std::size_t> most;  ///< Of each prompt, the best ones.
  std::uint64_t least_area = 0;     ///< Pixels of the mask.
  Suppression suppression = Suppression::kNone;
  /// An instance goes when it overlaps a better one of the same prompt by more than this; without a value 0.7
  /// for kIou, 0.9 for kContainment.
  std::optional<double> overlap;
};

/// Keeps what the options allow, in the order given. The better of two is the one with the higher score, of
/// equals the earlier one. Errors: kUsage for an overlap outside of 0..1. Thread-safe.
[[nodiscard]] std::vector<Instance> select(std::vector<Instance> instances, const SelectionOptions& options);

/// Keeps the instances whose mask holds a positive point and no negative one; without positive points, those
/// that hold no negative one. Points are pixels of the picture. Thread-safe.
[[nodiscard]] std::vector<Instance> choose_by_points(std::vector<Instance> instances,
                                                     std::span<const ObjectPoint> points);

/// True when the mask has the pixel that the point lies in; the far borders count as the last pixel.
[[nodiscard]] bool holds(const Mask& mask, const Point& point);

}  // namespace samlet
