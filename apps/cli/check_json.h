// A check's findings as JSON.
#pragma once

#include <span>
#include <string>

#include "libs/engine/folder_check.h"

namespace samlet::cli {

/// {"schema":1,"samlet":...,"folder":...,"passed":...,"checks":[{"part","subject","status","message",
/// "numbers":{...}}]} on one line, without a line end. Numbers that are not finite become null.
[[nodiscard]] std::string check_json(std::span<const CheckLine> lines, const std::string& folder);

}  // namespace samlet::cli
