// Where models have their names: MODEL on the command line is a folder or a name in the store.
#pragma once

#include <filesystem>
#include <string>

namespace samlet::cli {

/// The folder of a name in the store: $SAMLET_MODELS/NAME, else $XDG_DATA_HOME/samlet/models/NAME, else
/// ~/.local/share/samlet/models/NAME. Errors: kUsage for a name with other characters than letters, digits,
/// '.', '-',
/// '_' and ':', or that begins with a dot; kIo when there is no home folder.
[[nodiscard]] std::filesystem::path folder_in_store(const std::string& name);

/// What MODEL means: with a slash or a dot a path, otherwise a name in the store. Errors: kModelMissing when
/// the store has no such name, saying how to get it.
[[nodiscard]] std::filesystem::path resolve_model(const std::string& model);

}  // namespace samlet::cli
