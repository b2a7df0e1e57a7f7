// The result as JSON, schema 1 (the README shows and explains it).
#pragma once

#include <string>

#include "apps/cli/run_prompts.h"
#include "samlet/image.h"
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

/// One line of JSON without a line end.
[[nodiscard]] std::string result_json(const Result& result, const RunPrompts& prompts,
                                      const ResultContext& context);

}  // namespace samlet::cli
