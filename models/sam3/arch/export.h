// The export of a SAM 3 checkpoint: reads the names, builds the graphs, streams the weights, describes the
// result.
#pragma once

#include <functional>
#include <optional>

#include "models/sam3/manifest.h"
#include "samlet/export.h"

namespace samlet::sam3 {

/// Runs the graphs of a finished folder. Gives the figures, or nothing and says in `why_not` what is missing
/// to run them. Errors: kModelDamaged and others when the graphs are wrong.
using SelfTest =
    std::function<std::optional<ManifestSelfTest>(const std::filesystem::path& folder, std::string& why_not)>;

/// As samlet::export_model. `self_test` is called before the folder gets its name, when the options want it.
ExportReport export_checkpoint(const ExportOptions& options, const SelfTest& self_test);

}  // namespace samlet::sam3
