// What a `samlet run` asks a model for.
#pragma once

#include <string>
#include <vector>

#include "apps/cli/commands.h"
#include "samlet/prompt.h"
#include "samlet/result.h"
#include "samlet/segmenter.h"

namespace samlet::cli {

struct RunPrompts {
  std::vector<ConceptPrompt> concepts;  ///< One for each text, each with all boxes, or one for boxes alone.
  std::vector<ObjectPrompt> objects;
  std::vector<ObjectPoint> choosing;  ///< Clicks that choose among the instances of the concepts.

  [[nodiscard]] EncodeFor encode_for() const;
  /// The words for an instance's prompt: its text, "visual" for boxes alone, "object".
  [[nodiscard]] std::string words_of(const Instance& instance) const;
};

/// As given: pixels, or fractions when `normalized`. Errors: kPromptInvalid for what does not go together.
[[nodiscard]] RunPrompts prompts_from(const RunArguments& arguments);

/// In pixels, checked on a picture of this size; warnings as check_prompts() gives them. Errors:
/// kPromptInvalid.
[[nodiscard]] RunPrompts prompts_on(const RunPrompts& given, const RunArguments& arguments, int width,
                                    int height, std::vector<std::string>& warnings);

/// What is wrong with them whatever the picture. Errors: kPromptInvalid.
void check_alone(const RunPrompts& prompts, const RunArguments& arguments);

}  // namespace samlet::cli
