#include <memory>

#include <fmt/format.h>

#include "apps/cli/commands.h"
#include "apps/cli/model_argument.h"
#include "apps/cli/output_plan.h"
#include "apps/cli/run_one.h"
#include "libs/base/file.h"
#include "libs/ort/session.h"
#include "samlet/error.h"
#include "samlet/segmenter.h"

namespace samlet::cli {
namespace {

/// The text encoder that was asked for: by option, or as MODEL:NAME.
std::string text_encoder_of(const RunArguments& arguments, const ModelArgument& model) {
  if (!arguments.text_encoder.empty() && !model.text_encoder.empty()) {
    throw Error(ErrorCode::kUsage,
                fmt::format("the text encoder is named twice, '{}' and '{}'; leave one out",
                            arguments.text_encoder, model.text_encoder));
  }
  return arguments.text_encoder.empty() ? model.text_encoder : arguments.text_encoder;
}

std::unique_ptr<Segmenter> open_model(const RunArguments& arguments, Terminal& terminal) {
  const ModelArgument model = resolve_model(arguments.model);
  ModelOptions options =
      model_options(arguments.device, arguments.threads, arguments.runtime_library, terminal);
  options.text_encoder = text_encoder_of(arguments, model);
  options.aliases = path_from_utf8(arguments.aliases);
  return open_segmenter(model.folder, options);
}

/// True for what is wrong with one picture and says nothing of the next.
bool concerns_one_picture(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
    case ErrorCode::kImageUnreadable:
    case ErrorCode::kImageTooLarge:
    case ErrorCode::kIo:
    case ErrorCode::kPromptInvalid:
      return true;
    default:
      return false;
  }
}

void warn_of_too_many_threads(int threads, Terminal& terminal) {
  if (threads == 0) return;  // the default is the number of processors, and counting them reads files
  const int processors = ort::default_thread_count();
  if (threads <= processors) return;
  terminal.warning(
      fmt::format("{} threads on {} processors are slower than {}", threads, processors, processors));
}

}  // namespace

int run(const RunArguments& arguments, Terminal& terminal, const CancelToken& cancel) {
  terminal.set_verbosity(arguments.verbosity);
  if (arguments.json || arguments.out == "-") terminal.require_output(arguments.out == "-");
  const RunPrompts prompts = prompts_from(arguments);
  check_alone(prompts, arguments);
  const auto model = open_model(arguments, terminal);
  model->check(prompts.concepts, arguments.threshold);
  if (!prompts.objects.empty()) model->check_objects();
  warn_of_too_many_threads(arguments.threads, terminal);
  const auto plan = plan_outputs(arguments);
  if (plan.size() == 1) {
    run_one(plan[0], arguments, *model, terminal, cancel);
    return 0;
  }
  std::size_t failed = 0;
  for (const PlannedPicture& planned : plan) {
    try {
      run_one(planned, arguments, *model, terminal, cancel);
    } catch (const Error& error) {
      if (!concerns_one_picture(error.code()) || terminal.output_failed()) throw;
      terminal.error(error.what());
      ++failed;
    }
  }
  if (failed > 0) {
    throw Error(ErrorCode::kPartialFailure, fmt::format("{} of {} pictures failed{}", failed, plan.size(),
                                                        failed < plan.size() ? "; the others are done" : ""));
  }
  return 0;
}

}  // namespace samlet::cli
