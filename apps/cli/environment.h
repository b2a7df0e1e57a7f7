// The only place that reads or sets the environment.
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

/// Switches ONNX Runtime's record of its own use off. To be called once, before any thread and before the
/// library is loaded.
void keep_runtime_quiet();

[[nodiscard]] RuntimeSearch runtime_search(const std::string& flag);

/// $SAMLET_MODELS, else samlet/models below $XDG_DATA_HOME, else below ~/.local/share. Errors: kIo when none
/// is set.
[[nodiscard]] std::filesystem::path model_store_folder();

}  // namespace samlet::cli
