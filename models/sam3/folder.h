// What a model folder is, read from its files alone.
#pragma once

#include <filesystem>

#include "samlet/segmenter.h"

namespace samlet::sam3 {

/// The layouts whose graphs samlet tells apart.
enum class Layout {
  kSam3OnnxV030,  ///< sam3-onnx v0.3.0: three graphs, threshold baked in, mask probabilities.
};

/// A folder that was recognised and whose graphs fit together.
struct Folder {
  Layout layout = Layout::kSam3OnnxV030;
  std::filesystem::path path;
  ModelInfo info;
};

/// True when the folder looks like SAM 3 at all (one of its graphs or a manifest is there), for the registry.
[[nodiscard]] bool recognises(const std::filesystem::path& folder);

/// Reads the declarations of the graphs, never their weights. Errors: kModelMissing (a graph or its .data is
/// not there), kModelDamaged (cut or swapped files, graphs that do not belong together), kModelUnsupported (a
/// layout we do not run). Thread-safe.
[[nodiscard]] Folder open_folder(const std::filesystem::path& folder);

}  // namespace samlet::sam3
