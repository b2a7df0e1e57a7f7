#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/engine/box_check.h"
#include "libs/text/tokenizer.h"
#include "samlet/error.h"
#include "samlet/geometry.h"
#include "samlet/segmenter.h"

namespace samlet {
namespace {

/// True when the text says something: what is left after cleaning is what the model would see.
bool says_something(const std::string& text) {
  const auto code_points = decode_utf8(text);
  if (!code_points) {
    refuse_prompt(fmt::format(
        "the text prompt '{}' is not valid UTF-8 (byte {}); check the terminal's or file's encoding",
        printable(text), find_invalid_utf8(text).value_or(0)));
  }
  return !text::clean(*code_points).empty();
}

bool is_blank(const ConceptPrompt& prompt) {
  return prompt.text && !says_something(*prompt.text);
}

void check_alone(const ConceptPrompt& prompt) {
  const bool blank = is_blank(prompt);
  if (blank && prompt.boxes.empty())
    refuse_prompt("the text prompt is empty; say what to look for, for example --text dog");
  if (!prompt.text && prompt.boxes.empty()) refuse_prompt("nothing was asked for; give a text or a box");
  const bool any_positive =
      std::any_of(prompt.boxes.begin(), prompt.boxes.end(), [](const ExemplarBox& b) { return b.positive; });
  if ((!prompt.text || blank) && !any_positive) {
    refuse_prompt(
        "only negative boxes were given: there is nothing to look for; add a text or a positive box");
  }
  for (const ExemplarBox& exemplar : prompt.boxes) check_box_shape(exemplar.box);
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

}  // namespace

void check_prompts(std::span<const ConceptPrompt> prompts) {
  if (prompts.empty()) refuse_prompt("nothing was asked for; give a text or a box");
  for (const ConceptPrompt& prompt : prompts) check_alone(prompt);
}

std::vector<ConceptPrompt> prompts_from_fractions(std::span<const ConceptPrompt> prompts, int width,
                                                  int height) {
  const PictureGeometry geometry(width, height, 1);
  std::vector<ConceptPrompt> converted(prompts.begin(), prompts.end());
  for (ConceptPrompt& prompt : converted) {
    for (ExemplarBox& exemplar : prompt.boxes) {
      check_box_shape(exemplar.box);
      require_box_fractions(exemplar.box);
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
