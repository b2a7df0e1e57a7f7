#pragma once

#include <memory>

#include "models/sam3/folder.h"
#include "models/sam3/graphs.h"

namespace samlet::sam3 {

/// The graphs of a sam3-onnx v0.3.0 folder: three sessions, each opened when first needed.
[[nodiscard]] std::unique_ptr<Graphs> make_graphs_v030(const Folder& folder, const ModelOptions& options);

}  // namespace samlet::sam3
