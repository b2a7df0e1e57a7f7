// The only place that reads the environment.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace samlet::cli {

struct RuntimeSearch {
  std::filesystem::path library;              ///< The flag, else $SAMLET_ORT_LIBRARY, else empty.
  std::vector<std::filesystem::path> search;  ///< onnxruntime inside $VIRTUAL_ENV and $CONDA_PREFIX.
  std::string library_path;                   ///< $LD_LIBRARY_PATH, for doctor.
};

[[nodiscard]] RuntimeSearch runtime_search(const std::string& flag);

}  // namespace samlet::cli
