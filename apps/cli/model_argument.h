// What MODEL on the command line names, and how it is to be run.
#pragma once

#include <filesystem>
#include <string>

#include "apps/cli/terminal.h"
#include "samlet/segmenter.h"

namespace samlet::cli {

struct ModelArgument {
  std::filesystem::path folder;
  std::string text_encoder;  ///< Of the form MODEL:NAME; empty = none was named.
};

/// With a slash or a dot a path, otherwise a name in the model store; either may be followed by the name of a
/// text encoder, MODEL:NAME, when there is no such folder as a whole. Errors: kModelMissing when the store
/// has no such name, saying how to get it.
[[nodiscard]] ModelArgument resolve_model(const std::string& model);

/// The options that commands which run a model share. `runtime_library` is the flag's.
[[nodiscard]] ModelOptions model_options(const std::string& device, int threads,
                                         const std::string& runtime_library, Terminal& terminal);

}  // namespace samlet::cli
