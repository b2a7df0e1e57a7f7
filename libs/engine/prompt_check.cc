#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/text/tokenizer.h"
#include "samlet/error.h"
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

Box check_box(const Box& given, int width, int height, std::vector<std::string>& warnings) {
  for (const double v : {given.x1, given.y1, given.x2, given.y2}) {
    if (!std::isfinite(v)) {
      refuse(fmt::format("the box {} has a corner that is not a number; give x1,y1,x2,y2 in pixels",
                         describe(given)));
    }
  }
  const Box sorted{std::min(given.x1, given.x2), std::min(given.y1, given.y2), std::max(given.x1, given.x2),
                   std::max(given.y1, given.y2)};
  if (sorted.x1 == sorted.x2 || sorted.y1 == sorted.y2) {
    refuse(fmt::format("the box {} has no area; give two opposite corners x1,y1,x2,y2", describe(given)));
  }
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

ConceptPrompt check_prompt(const ConceptPrompt& given, int width, int height,
                           std::vector<std::string>& warnings) {
  ConceptPrompt prompt = given;
  const bool blank = prompt.text && !says_something(*prompt.text);
  if (blank && prompt.boxes.empty())
    refuse("the text prompt is empty; say what to look for, for example --text dog");
  if (blank) {
    warnings.emplace_back("the text prompt is empty, so only the boxes are used");
    prompt.text.reset();
  }
  if (!prompt.text && prompt.boxes.empty()) refuse("nothing was asked for; give a text or a box");
  const bool any_positive =
      std::any_of(prompt.boxes.begin(), prompt.boxes.end(), [](const ExemplarBox& b) { return b.positive; });
  if (!prompt.text && !any_positive) {
    refuse("only negative boxes were given: there is nothing to look for; add a text or a positive box");
  }
  for (ExemplarBox& exemplar : prompt.boxes) exemplar.box = check_box(exemplar.box, width, height, warnings);
  return prompt;
}

}  // namespace

std::vector<ConceptPrompt> check_prompts(std::span<const ConceptPrompt> prompts, int width, int height,
                                         std::vector<std::string>& warnings) {
  if (prompts.empty()) refuse("nothing was asked for; give a text or a box");
  std::vector<ConceptPrompt> checked;
  checked.reserve(prompts.size());
  for (const ConceptPrompt& prompt : prompts) {
    std::vector<std::string> found;
    checked.push_back(check_prompt(prompt, width, height, found));
    // Boxes are shared by all texts of a call; what is wrong with one is worth saying once.
    for (std::string& sentence : found) {
      if (std::find(warnings.begin(), warnings.end(), sentence) == warnings.end())
        warnings.push_back(std::move(sentence));
    }
  }
  return checked;
}

}  // namespace samlet
