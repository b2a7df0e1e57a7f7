#pragma once

#include <memory>

#include "models/sam3/folder.h"
#include "models/sam3/graphs.h"

namespace samlet::sam3 {

/// The graphs of a folder of contract version 1: several prompts a call, any number of boxes each, and any
/// threshold, whichever form the decoder has.
[[nodiscard]] std::unique_ptr<Graphs> make_graphs_v1(const Folder& folder, const ModelOptions& options);

}  // namespace samlet::sam3
