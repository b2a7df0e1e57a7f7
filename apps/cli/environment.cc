#include "apps/cli/environment.h"

#include <cstdlib>

#include "libs/base/file.h"
#include "libs/ort/discover.h"
#include "samlet/error.h"

namespace samlet::cli {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read before any thread starts
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

void keep_runtime_quiet() {
  // ONNX Runtime from 1.3x on keeps an identity and a log of its use below the user's cache folder unless
  // this is set before it is loaded, whatever is asked through its API.
  ::setenv("ORT_DISABLE_TELEMETRY", "1", 1);  // NOLINT(concurrency-mt-unsafe): no thread runs yet
}

RuntimeSearch runtime_search(const std::string& flag) {
  RuntimeSearch found;
  found.library = path_from_utf8(flag.empty() ? variable("SAMLET_ORT_LIBRARY") : flag);
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string prefix = variable(name);
    if (prefix.empty()) continue;
    for (auto& folder : ort::python_site_packages(path_from_utf8(prefix)))
      found.search.push_back(std::move(folder));
  }
  found.library_path = variable("LD_LIBRARY_PATH");
  return found;
}

std::filesystem::path model_store_folder() {
  const std::string own = variable("SAMLET_MODELS");
  if (!own.empty()) return path_from_utf8(own);
  const std::string data = variable("XDG_DATA_HOME");
  if (!data.empty()) return path_from_utf8(data) / "samlet" / "models";
  const std::string home = variable("HOME");
  if (home.empty()) {
    throw Error(ErrorCode::kIo, "there is no home folder to keep models in; set SAMLET_MODELS to a folder");
  }
  return path_from_utf8(home) / ".local" / "share" / "samlet" / "models";
}

}  // namespace samlet::cli
