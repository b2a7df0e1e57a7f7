#pragma once

#include "apps/cli/commands.h"

namespace samlet::cli {

/// `samlet check --image FILE`: says how each picture is read, and what is odd about its values. Goes on
/// after one that cannot be read. Errors: that of the picture when there is one only, kPartialFailure of
/// several.
[[nodiscard]] int explain_pictures(const CheckArguments& arguments, Terminal& terminal,
                                   const CancelToken& cancel);

}  // namespace samlet::cli
