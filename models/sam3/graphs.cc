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
