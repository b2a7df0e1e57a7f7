#pragma once

#include <memory>

#include "models/sam3/folder.h"
#include "models/sam3/graphs.h"

namespace samlet::sam3 {

/// The graphs of a folder whose tensors were mapped: one prompt or object a call, and what its graphs can do.
[[nodiscard]] std::unique_ptr<Graphs> make_graphs_v050(const Folder& folder, const ModelOptions& options);

}  // namespace samlet::sam3
