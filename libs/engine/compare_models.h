// Two models on the same pictures: do they find the same things?
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "libs/engine/folder_check.h"
#include "samlet/segmenter.h"

namespace samlet {

/// How far two models may be apart.
struct CompareBounds {
  double score = 0;
  double box = 0;  ///< of the picture's longer side
  double iou = 1;  ///< of the masks; `pixels` differing pixels are allowed whatever the IoU
  std::uint64_t pixels = 0;
};

/// Those for models of these kinds: narrow when both compute in fp32 with the same text encoder.
[[nodiscard]] CompareBounds compare_bounds(const ModelInfo& a, const ModelInfo& b);

/// How far two results of one prompt are apart.
struct PromptDifference {
  std::size_t count_a = 0;
  std::size_t count_b = 0;
  std::size_t unmatched = 0;   ///< instances of either without a counterpart, but for `borderline` ones
  std::size_t borderline = 0;  ///< such whose score is no further above the threshold than scores may differ
  double score = 0;            ///< largest difference of matched instances
  double box = 0;              ///< of the picture's longer side
  double iou = 1;              ///< smallest
  bool within = true;
};

/// Matches the instances of two results by their masks, best first.
[[nodiscard]] PromptDifference compare_instances(std::span<const Instance> a, std::span<const Instance> b,
                                                 double threshold, const CompareBounds& bounds);

struct CompareOptions {
  std::vector<std::filesystem::path> pictures;  ///< files
  std::vector<std::string> phrases;
  CancelToken cancel;
  CheckSink found;
  std::function<void(std::string_view)> step;
};

/// Runs both models on all pictures with all phrases; one line a picture, and one for each phrase that is
/// beyond the bounds, which are said first. The threshold is 0.25, or the lowest that both can serve.
/// Errors: those of reading a picture and of running a model.
void compare_models(ConceptSegmenter& a, ConceptSegmenter& b, const CompareOptions& options);

}  // namespace samlet
