// The names of SAM 3.1's sam3.1_multiplex.pt: the detector's are those of SAM 3; the point decoder's are not,
// and a decoy has theirs.
#pragma once

#include <string>
#include <string_view>

namespace samlet::sam3 {

/// The name that the tensor of Meta's SAM 3 name has in a SAM 3.1 file; empty when it has none. Thread-safe.
[[nodiscard]] std::string sam31_name(std::string_view meta_name);

}  // namespace samlet::sam3
