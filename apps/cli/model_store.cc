#include "apps/cli/model_store.h"

#include <algorithm>

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

}  // namespace samlet::cli
