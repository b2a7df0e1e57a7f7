// The run half of SAM 3: from a picture and prompts to instances, whatever the folder's layout.
#pragma once

#include <memory>

#include "models/sam3/folder.h"
#include "models/sam3/graphs.h"

namespace samlet::sam3 {

/// Makes the segmenter of a folder. No graph is loaded. Errors: kUsage for an unknown device name.
[[nodiscard]] std::unique_ptr<Segmenter> make_segmenter(const Folder& folder, const ModelOptions& options);

/// The same over given graphs; tests give their own.
[[nodiscard]] std::unique_ptr<Segmenter> make_segmenter(ModelInfo info, std::unique_ptr<Graphs> graphs);

}  // namespace samlet::sam3
