#include "apps/cli/model_argument.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "apps/cli/environment.h"
#include "apps/cli/model_store.h"
#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet::cli {
namespace {

namespace fs = std::filesystem;

bool is_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_directory(path, ignored);
}

fs::path folder_of(const std::string& model) {
  const bool looks_like_a_path = model.find_first_of("/.") != std::string::npos;
  return looks_like_a_path ? path_from_utf8(model) : folder_in_store(model);
}

void require_in_store(const std::string& model, const fs::path& folder) {
  const bool is_path = model.find_first_of("/.") != std::string::npos;
  if (is_path || is_folder(folder)) return;
  if (is_folder(path_from_utf8(model))) {
    throw Error(
        ErrorCode::kModelMissing,
        fmt::format("the model store has no '{}'; for the folder of that name write './{}'", model, model));
  }
  throw Error(
      ErrorCode::kModelMissing,
      fmt::format("the model store has no '{0}' ({1} does not exist); make it with 'samlet export CHECKPOINT "
                  "--name {0}', or give the path of a folder with SAM 3 graphs, for example ./models/{0}",
                  model, path_to_utf8(folder)));
}

}  // namespace

ModelArgument resolve_model(const std::string& model) {
  const fs::path whole = folder_of(model);
  // A folder's own name may hold a colon, so the whole is tried first.
  const std::size_t colon = model.rfind(':');
  if (colon != std::string::npos && colon > 0 && colon + 1 < model.size() && !is_folder(whole)) {
    const fs::path folder = folder_of(model.substr(0, colon));
    if (is_folder(folder)) return {folder, model.substr(colon + 1)};
  }
  require_in_store(model, whole);
  return {whole, {}};
}

ModelOptions model_options(const std::string& device, int threads, const std::string& runtime_library,
                           Terminal& terminal) {
  RuntimeSearch search = runtime_search(runtime_library);
  ModelOptions options;
  options.device = device;
  options.threads = threads;
  options.runtime_library = std::move(search.library);
  options.runtime_search = std::move(search.search);
  options.log = terminal.log_sink();
  return options;
}

}  // namespace samlet::cli
