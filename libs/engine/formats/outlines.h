// Outlines of masks in the forms that the polygon formats need.
#pragma once

#include <vector>

#include "libs/mask/polygon.h"

namespace samlet::formats {

/// trace_parts() with every ring simplified by `tolerance` pixels (0 = exact). Where a ring would be left
/// with less than three corners it stays as it was, so that no part is ever lost. Thread-safe.
[[nodiscard]] std::vector<MaskPart> outlines_of(const Mask& mask, double tolerance);

[[nodiscard]] bool has_holes(const std::vector<MaskPart>& parts) noexcept;

/// A ring that comes back to a corner, cut there into rings that do not. Those of an outline which run the
/// other way round than it are holes. Thread-safe.
[[nodiscard]] std::vector<Ring> cut_where_it_touches_itself(const Ring& ring);

/// The parts as OGC's simple features and RFC 7946 want polygons: no ring touches itself. A background that
/// is joined to the outside at a corner only is part of the outline in trace_parts(), and a hole here.
/// Thread-safe.
[[nodiscard]] std::vector<MaskPart> with_simple_rings(const std::vector<MaskPart>& parts);

/// The outlines without those that lie in a hole of another part: what is left of a mask when holes are
/// filled. Thread-safe.
[[nodiscard]] std::vector<Ring> outer_outlines(const std::vector<MaskPart>& parts);

/// One ring through all the rings, in order: from each to the next and back along the same line, which has
/// no area. The line runs between corners that are near each other. Thread-safe.
[[nodiscard]] Ring joined(const std::vector<Ring>& rings);

}  // namespace samlet::formats
