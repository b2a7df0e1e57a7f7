#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/text/tokenizer.h"
#include "samlet/error.h"
#include "samlet/geometry.h"
#include "samlet/segmenter.h"

namespace samlet {
namespace {

[[noreturn]] void refuse(const std::string& message) {
  throw Error(ErrorCode::kPromptInvalid, message);
}

std::string describe(const Box& box) {
  return fmt::format("{:g},{:g},{:g},{:g}", box.x1, box.y1, box.x2, box.y2);
}

/// True when the text says something: what is left after cleaning is what the model would see.
bool says_something(const std::string& text) {
  const auto code_points = decode_utf8(text);
  if (!code_points) {
    refuse(fmt::format(
        "the text prompt '{}' is not valid UTF-8 (byte {}); check the terminal's or file's encoding",
        printable(text), find_invalid_utf8(text).value_or(0)));
  }
  return !text::clean(*code_points).empty();
}

/// Every corner at or below 1 on a picture that is larger: most likely 0..1 numbers without --normalized.
bool looks_normalized(const Box& box, int width, int height) {
  const std::array<double, 4> values{box.x1, box.y1, box.x2, box.y2};
  const bool all_small = std::all_of(values.begin(), values.end(), [](double v) { return v >= 0 && v <= 1; });
  return all_small && std::min(width, height) > 2;
}

Box sorted_corners(const Box& box) {
  return {std::min(box.x1, box.x2), std::min(box.y1, box.y2), std::max(box.x1, box.x2),
          std::max(box.y1, box.y2)};
}

void check_shape(const Box& given) {
  for (const double v : {given.x1, given.y1, given.x2, given.y2}) {
    if (!std::isfinite(v)) {
      refuse(fmt::format("the box {} has a corner that is not a number; give x1,y1,x2,y2 in pixels",
                         describe(given)));
    }
  }
  if (given.x1 == given.x2 || given.y1 == given.y2) {
    refuse(fmt::format("the box {} has no area; give two opposite corners x1,y1,x2,y2", describe(given)));
  }
}

/// The box with its corners in order, where it may lie on the picture.
Box placed_box(const Box& given, int width, int height, std::vector<std::string>& warnings) {
  const Box sorted = sorted_corners(given);
  if (sorted.x1 >= width || sorted.y1 >= height || sorted.x2 <= 0 || sorted.y2 <= 0) {
    refuse(fmt::format("the box {} lies outside of the picture, which is {}x{} pixels", describe(given),
                       width, height));
  }
  // Boxes drawn by hand may stick out; what reaches a whole picture further is a slip, and numbers without
  // end break the model's arithmetic.
  if (sorted.x1 < -width || sorted.y1 < -height || sorted.x2 > 2.0 * width || sorted.y2 > 2.0 * height) {
    refuse(
        fmt::format("the box {} reaches far outside of the picture, which is {}x{} pixels; check its numbers",
                    describe(given), width, height));
  }
  if (looks_normalized(sorted, width, height)) {
    warnings.push_back(fmt::format(
        "the box {} is at most one pixel; if these are fractions of the picture, add --normalized",
        describe(given)));
  }
  // Not cut: Meta's code uses such a box as it stands, and cutting it moves the scores.
  if (sorted.x1 < 0 || sorted.y1 < 0 || sorted.x2 > width || sorted.y2 > height) {
    warnings.push_back(fmt::format("the box {} reaches over the border of the picture, which is {}x{} pixels",
                                   describe(given), width, height));
  }
  return sorted;
}

bool is_blank(const ConceptPrompt& prompt) {
  return prompt.text && !says_something(*prompt.text);
}

void check_alone(const ConceptPrompt& prompt) {
  const bool blank = is_blank(prompt);
  if (blank && prompt.boxes.empty())
    refuse("the text prompt is empty; say what to look for, for example --text dog");
  if (!prompt.text && prompt.boxes.empty()) refuse("nothing was asked for; give a text or a box");
  const bool any_positive =
      std::any_of(prompt.boxes.begin(), prompt.boxes.end(), [](const ExemplarBox& b) { return b.positive; });
  if ((!prompt.text || blank) && !any_positive) {
    refuse("only negative boxes were given: there is nothing to look for; add a text or a positive box");
  }
  for (const ExemplarBox& exemplar : prompt.boxes) check_shape(exemplar.box);
}

/// The prompt as it is used, after check_alone().
ConceptPrompt placed_prompt(const ConceptPrompt& given, int width, int height,
                            std::vector<std::string>& warnings) {
  ConceptPrompt prompt = given;
  if (is_blank(prompt)) {
    warnings.emplace_back("the text prompt is empty, so only the boxes are used");
    prompt.text.reset();
  }
  for (ExemplarBox& exemplar : prompt.boxes) exemplar.box = placed_box(exemplar.box, width, height, warnings);
  return prompt;
}

/// Pixel numbers where fractions were promised would otherwise be far outside without a hint why.
void require_fractions(const Box& b) {
  const double largest = std::max({std::abs(b.x1), std::abs(b.y1), std::abs(b.x2), std::abs(b.y2)});
  if (largest <= 2) return;
  refuse(
      fmt::format("the box {} is not in fractions of the picture (0 to 1); leave --normalized out for pixels",
                  describe(b)));
}

}  // namespace

void check_prompts(std::span<const ConceptPrompt> prompts) {
  if (prompts.empty()) refuse("nothing was asked for; give a text or a box");
  for (const ConceptPrompt& prompt : prompts) check_alone(prompt);
}

std::vector<ConceptPrompt> prompts_from_fractions(std::span<const ConceptPrompt> prompts, int width,
                                                  int height) {
  const PictureGeometry geometry(width, height, 1);
  std::vector<ConceptPrompt> converted(prompts.begin(), prompts.end());
  for (ConceptPrompt& prompt : converted) {
    for (ExemplarBox& exemplar : prompt.boxes) {
      check_shape(exemplar.box);
      require_fractions(exemplar.box);
      exemplar.box = geometry.from_fractions(exemplar.box);
    }
  }
  return converted;
}

std::vector<ConceptPrompt> check_prompts(std::span<const ConceptPrompt> prompts, int width, int height,
                                         std::vector<std::string>& warnings) {
  check_prompts(prompts);
  std::vector<ConceptPrompt> checked;
  checked.reserve(prompts.size());
  for (const ConceptPrompt& prompt : prompts) {
    std::vector<std::string> found;
    checked.push_back(placed_prompt(prompt, width, height, found));
    // Boxes are shared by all texts of a call; what is wrong with one is worth saying once.
    for (std::string& sentence : found) {
      if (std::find(warnings.begin(), warnings.end(), sentence) == warnings.end())
        warnings.push_back(std::move(sentence));
    }
  }
  return checked;
}

}  // namespace samlet
