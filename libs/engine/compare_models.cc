#include "libs/engine/compare_models.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "samlet/image.h"

namespace samlet {
namespace {

/// Low enough to see instances that are not sure, high enough to leave out hundreds that are noise.
constexpr double kThreshold = 0.25;
/// Below this two masks are of different things.
constexpr double kLeastMatch = 0.5;

/// Pixels in which two masks of one picture differ, from their IoU and areas: |a xor b| = |a or b| - |a and
/// b|.
std::uint64_t differing_pixels(const Mask& a, const Mask& b, double iou) {
  const auto both = static_cast<double>(a.area() + b.area());
  const double joined = both / (1 + iou);
  return static_cast<std::uint64_t>(std::llround(joined - iou * joined));
}

double largest_side_distance(const Box& a, const Box& b) {
  return std::max(
      {std::abs(a.x1 - b.x1), std::abs(a.y1 - b.y1), std::abs(a.x2 - b.x2), std::abs(a.y2 - b.y2)});
}

/// Notes a pair that belongs together.
void note_pair(const Instance& a, const Instance& b, double iou, const CompareBounds& bounds,
               PromptDifference& d) {
  const double side = std::max({a.mask.width, a.mask.height, 1});
  const double score = std::abs(a.score - b.score);
  const double box = largest_side_distance(a.box, b.box) / side;
  d.score = std::max(d.score, score);
  d.box = std::max(d.box, box);
  d.iou = std::min(d.iou, iou);
  const bool same_mask = iou >= bounds.iou || differing_pixels(a.mask, b.mask, iou) <= bounds.pixels;
  d.within = d.within && score <= bounds.score && box <= bounds.box && same_mask;
}

/// An instance that only one side has: no fault when its score is so near to the threshold that the other
/// side's may lie below.
void note_alone(const Instance& instance, double threshold, const CompareBounds& bounds,
                PromptDifference& d) {
  if (instance.score - threshold <= bounds.score) {
    ++d.borderline;
  } else {
    ++d.unmatched;
    d.within = false;
  }
}

/// The instances of one prompt, which stand together.
std::span<const Instance> of_prompt(const Result& result, std::size_t prompt) {
  const auto begin = std::partition_point(result.instances.begin(), result.instances.end(),
                                          [&](const Instance& i) { return i.prompt_index < prompt; });
  const auto end = std::partition_point(begin, result.instances.end(),
                                        [&](const Instance& i) { return i.prompt_index == prompt; });
  return {begin, end};
}

std::vector<std::pair<std::string, double>> numbers_of(const PromptDifference& d) {
  return {{"count", static_cast<double>(d.count_a)},
          {"count_against", static_cast<double>(d.count_b)},
          {"unmatched", static_cast<double>(d.unmatched)},
          {"borderline", static_cast<double>(d.borderline)},
          {"score_difference", d.score},
          {"box_difference", d.box},
          {"least_iou", d.iou}};
}

std::string words_of(const PromptDifference& d) {
  std::string words = d.count_a == d.count_b ? fmt::format("{} found by both", d.count_a)
                                             : fmt::format("{} and {} found", d.count_a, d.count_b);
  if (d.unmatched > 0) words += fmt::format(", {} without a counterpart", d.unmatched);
  if (d.borderline > 0) words += fmt::format(", {} at the threshold by one only", d.borderline);
  return words + fmt::format("; scores differ by {:.2g}, boxes by {:.2g} of the side, least mask IoU {:.4f}",
                             d.score, d.box, d.iou);
}

void add(PromptDifference& sum, const PromptDifference& d) {
  sum.count_a += d.count_a;
  sum.count_b += d.count_b;
  sum.unmatched += d.unmatched;
  sum.borderline += d.borderline;
  sum.score = std::max(sum.score, d.score);
  sum.box = std::max(sum.box, d.box);
  sum.iou = std::min(sum.iou, d.iou);
  sum.within = sum.within && d.within;
}

void say(const CompareOptions& options, const CheckLine& line) {
  if (options.found) options.found(line);
}

class Comparer {
 public:
  Comparer(ConceptSegmenter& a, ConceptSegmenter& b, const CompareOptions& options)
      : a_(a),
        b_(b),
        options_(options),
        threshold_(std::max({kThreshold, a.info().min_threshold, b.info().min_threshold})),
        bounds_(compare_bounds(a.info(), b.info())) {
    for (const std::string& phrase : options.phrases) prompts_.push_back({phrase, {}});
  }

  void run() {
    say(options_,
        {"against",
         "bounds",
         CheckStatus::kNote,
         fmt::format("scores may differ by {:g}, boxes by {:g} of the side, masks by {:.2g} of their union "
                     "or {} pixels; threshold {:g}",
                     bounds_.score, bounds_.box, 1 - bounds_.iou, bounds_.pixels, threshold_),
         {{"score", bounds_.score},
          {"box", bounds_.box},
          {"iou", bounds_.iou},
          {"pixels", static_cast<double>(bounds_.pixels)},
          {"threshold", threshold_}}});
    std::size_t found = 0;
    for (const auto& picture : options_.pictures) found += compare_picture(picture);
    if (found == 0) {
      say(options_,
          {"against",
           "all pictures",
           CheckStatus::kFailed,
           "neither found anything, so nothing was compared; give pictures and --text phrases that fit",
           {}});
    }
  }

 private:
  /// Gives how many instances were compared.
  std::size_t compare_picture(const std::filesystem::path& path) {
    const std::string name = path_to_utf8(path);
    DecodeOptions decode;
    decode.cancel = options_.cancel;
    const Image image = read_image(path, decode);
    const Result first = segment(a_, image, name);
    const Result second = segment(b_, image, name);
    PromptDifference all;
    for (std::size_t i = 0; i < prompts_.size(); ++i) {
      const PromptDifference d =
          compare_instances(of_prompt(first, i), of_prompt(second, i), threshold_, bounds_);
      add(all, d);
      if (d.within) continue;
      say(options_, {"against", fmt::format("{}, {}", name, first_characters(*prompts_[i].text, 40)),
                     CheckStatus::kFailed, words_of(d), numbers_of(d)});
    }
    say(options_, {"against", name, all.within ? CheckStatus::kPassed : CheckStatus::kFailed, words_of(all),
                   numbers_of(all)});
    return all.count_a + all.count_b;
  }

  Result segment(ConceptSegmenter& model, const Image& image, const std::string& name) {
    if (options_.step) options_.step(fmt::format("{} with {}", name, model.info().name));
    const auto encoded = model.encode(image, options_.cancel);
    return model.segment(*encoded, prompts_, {threshold_, options_.cancel});
  }

  ConceptSegmenter& a_;
  ConceptSegmenter& b_;
  const CompareOptions& options_;
  double threshold_;
  CompareBounds bounds_;
  std::vector<ConceptPrompt> prompts_;
};

}  // namespace

CompareBounds compare_bounds(const ModelInfo& a, const ModelInfo& b) {
  const bool alike = a.precision == "fp32" && b.precision == "fp32" && a.text_encoder == b.text_encoder;
  // Another exporter sums in another order, and mask probabilities that were resized as logits differ at
  // the outline; half precision is allowed what is said for it.
  return alike ? CompareBounds{1e-3, 5e-4, 0.995, 4} : CompareBounds{0.02, 0.005, 0.98, 8};
}

PromptDifference compare_instances(std::span<const Instance> a, std::span<const Instance> b, double threshold,
                                   const CompareBounds& bounds) {
  PromptDifference d;
  d.count_a = a.size();
  d.count_b = b.size();
  std::vector<bool> taken(b.size(), false);
  for (const Instance& one : a) {
    std::size_t best = b.size();
    double best_iou = 0;
    double best_likeness = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (taken[i]) continue;
      const double iou = intersection_over_union(one.mask, b[i].mask);
      // Of masks that are much the same, the one with the score of this one.
      const double likeness = iou - std::abs(one.score - b[i].score);
      if (iou > kLeastMatch && (best == b.size() || likeness > best_likeness)) {
        best = i;
        best_iou = iou;
        best_likeness = likeness;
      }
    }
    if (best == b.size()) {
      note_alone(one, threshold, bounds, d);
    } else {
      taken[best] = true;
      note_pair(one, b[best], best_iou, bounds, d);
    }
  }
  for (std::size_t i = 0; i < b.size(); ++i) {
    if (!taken[i]) note_alone(b[i], threshold, bounds, d);
  }
  return d;
}

void compare_models(ConceptSegmenter& a, ConceptSegmenter& b, const CompareOptions& options) {
  Comparer(a, b, options).run();
}

}  // namespace samlet
