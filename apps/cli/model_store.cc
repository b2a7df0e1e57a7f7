#include "apps/cli/model_store.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "apps/cli/environment.h"
#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet::cli {
namespace {

namespace fs = std::filesystem;

bool is_store_name(const std::string& name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':';
  };
  constexpr std::size_t kLongest = 100;
  return !name.empty() && name.size() <= kLongest && name.front() != '.' && name.front() != '-' &&
         std::all_of(name.begin(), name.end(), allowed);
}

}  // namespace

fs::path folder_in_store(const std::string& name) {
  if (!is_store_name(name)) {
    throw Error(ErrorCode::kUsage,
                fmt::format("'{}' is no name for a model; use letters, digits, '.', '-', '_' and ':'", name));
  }
  return model_store_folder() / path_from_utf8(name);
}

fs::path resolve_model(const std::string& model) {
  const bool looks_like_a_path = model.find_first_of("/.") != std::string::npos;
  if (looks_like_a_path) return path_from_utf8(model);
  std::error_code ignored;
  fs::path folder = folder_in_store(model);
  if (fs::is_directory(folder, ignored)) return folder;
  if (fs::is_directory(path_from_utf8(model), ignored)) {
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

}  // namespace samlet::cli
