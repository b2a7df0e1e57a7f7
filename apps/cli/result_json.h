// The result as JSON, schema 1 (the README shows and explains it).
#pragma once

#include <span>
#include <string>

#include "samlet/image.h"
#include "samlet/prompt.h"
#include "samlet/result.h"
#include "samlet/segmenter.h"

namespace samlet::cli {

/// What stands around the instances.
struct ResultContext {
  const ModelInfo* model = nullptr;
  std::string device;    ///< "cpu"
  std::string provider;  ///< "CPUExecutionProvider"
  std::string path;      ///< of the picture, as given
  int width = 0;
  int height = 0;
};

/// The words a prompt is shown by: its text, or "visual" for boxes alone.
[[nodiscard]] std::string prompt_words(const ConceptPrompt& prompt);

/// One line of JSON without a line end.
[[nodiscard]] std::string result_json(const Result& result, std::span<const ConceptPrompt> prompts,
                                      const ResultContext& context);

}  // namespace samlet::cli
