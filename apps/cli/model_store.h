// Where models have their names.
#pragma once

#include <filesystem>
#include <string>

namespace samlet::cli {

/// The folder of a name in the store: $SAMLET_MODELS/NAME, else $XDG_DATA_HOME/samlet/models/NAME, else
/// ~/.local/share/samlet/models/NAME. Errors: kUsage for a name with other characters than letters, digits,
/// '.', '-',
/// '_' and ':', or that begins with a dot; kIo when there is no home folder.
[[nodiscard]] std::filesystem::path folder_in_store(const std::string& name);

}  // namespace samlet::cli
