#include "libs/engine/formats/outlines.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

namespace samlet::formats {
namespace {

struct Less {
  bool operator()(const Corner& a, const Corner& b) const { return a.x != b.x ? a.x < b.x : a.y < b.y; }
};

/// A corner of one ring and a corner of the next.
struct Bridge {
  std::size_t from = 0;
  std::size_t to = 0;
};

Bridge nearest(const Ring& a, const Ring& b) {
  // Long outlines have neighbours at every pixel: looking at some corners finds a bridge nearly as short.
  constexpr std::size_t kMostLooks = 2000;
  const std::size_t step_a = 1 + a.size() / kMostLooks;
  const std::size_t step_b = 1 + b.size() / kMostLooks;
  Bridge best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < a.size(); i += step_a) {
    for (std::size_t k = 0; k < b.size(); k += step_b) {
      const double dx = a[i].x - b[k].x;
      const double dy = a[i].y - b[k].y;
      const double d = dx * dx + dy * dy;
      if (d >= least) continue;
      least = d;
      best = {i, k};
    }
  }
  return best;
}

/// The centre of a pixel of the part, beside its leftmost side, where trace_parts() begins its outline.
Corner pixel_of(const MaskPart& part) {
  const Corner& a = part.outline[0];
  const Corner& b = part.outline[1];
  return {a.x + 0.5, std::min(a.y, b.y) + 0.5};
}

/// For a point that is on no line between pixels.
bool surrounds(const Ring& ring, const Corner& point) {
  bool odd = false;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner& a = ring[i];
    const Corner& b = ring[(i + 1) % ring.size()];
    if (a.x == b.x && (a.y > point.y) != (b.y > point.y) && a.x < point.x) odd = !odd;
  }
  return odd;
}

}  // namespace

std::vector<MaskPart> outlines_of(const Mask& mask, double tolerance) {
  std::vector<MaskPart> parts = trace_parts(mask);
  if (!(tolerance > 0)) return parts;
  for (MaskPart& part : parts) {
    part.outline = simplified(part.outline, tolerance);
    for (Ring& hole : part.holes) hole = simplified(hole, tolerance);
  }
  return parts;
}

bool has_holes(const std::vector<MaskPart>& parts) noexcept {
  return std::any_of(parts.begin(), parts.end(), [](const MaskPart& part) { return !part.holes.empty(); });
}

std::vector<Ring> cut_where_it_touches_itself(const Ring& ring) {
  std::vector<Ring> rings;
  Ring open;
  std::map<Corner, std::size_t, Less> places;  // in `open`
  for (const Corner& corner : ring) {
    const auto [known, is_new] = places.emplace(corner, open.size());
    if (!is_new) {
      const auto begin = open.begin() + static_cast<std::ptrdiff_t>(known->second);
      for (auto at = std::next(begin); at != open.end(); ++at) places.erase(*at);
      rings.emplace_back(begin, open.end());
      open.erase(std::next(begin), open.end());
      continue;
    }
    open.push_back(corner);
  }
  rings.push_back(std::move(open));
  return rings;
}

std::vector<MaskPart> with_simple_rings(const std::vector<MaskPart>& parts) {
  std::vector<MaskPart> simple;
  simple.reserve(parts.size());
  for (const MaskPart& part : parts) {
    MaskPart made;
    for (Ring& ring : cut_where_it_touches_itself(part.outline)) {
      if (signed_area(ring) > 0) {
        made.outline = std::move(ring);
      } else {
        made.holes.push_back(std::move(ring));
      }
    }
    for (const Ring& hole : part.holes) {
      for (Ring& ring : cut_where_it_touches_itself(hole)) made.holes.push_back(std::move(ring));
    }
    simple.push_back(std::move(made));
  }
  return simple;
}

std::vector<Ring> outer_outlines(const std::vector<MaskPart>& parts) {
  std::vector<const Ring*> holes;
  for (const MaskPart& part : parts) {
    for (const Ring& hole : part.holes) holes.push_back(&hole);
  }
  std::vector<Ring> outer;
  for (const MaskPart& part : parts) {
    const Corner pixel = pixel_of(part);
    const auto around = [&](const Ring* hole) { return surrounds(*hole, pixel); };
    if (std::none_of(holes.begin(), holes.end(), around)) outer.push_back(part.outline);
  }
  return outer;
}

Ring joined(const std::vector<Ring>& rings) {
  if (rings.size() == 1) return rings[0];
  std::vector<Bridge> bridges;  // from ring k to ring k + 1
  for (std::size_t k = 0; k + 1 < rings.size(); ++k) bridges.push_back(nearest(rings[k], rings[k + 1]));
  Ring out;
  const auto walk = [&](const Ring& ring, std::size_t from, std::size_t to) {
    for (std::size_t i = from;; i = (i + 1) % ring.size()) {
      out.push_back(ring[i]);
      if (i == to) return;
    }
  };
  // Out to the last ring along one side of each, and back along the other.
  for (std::size_t k = 0; k < bridges.size(); ++k) {
    walk(rings[k], k > 0 ? bridges[k - 1].to : bridges[0].from, bridges[k].from);
  }
  for (std::size_t k = rings.size(); k-- > 0;) {
    const Ring& ring = rings[k];
    const std::size_t entry = k > 0 ? bridges[k - 1].to : bridges[0].from;
    const std::size_t exit = k < bridges.size() ? bridges[k].from : entry;
    if (entry == exit) {
      // The whole ring is still to be walked.
      walk(ring, entry, (entry + ring.size() - 1) % ring.size());
      if (k > 0) out.push_back(ring[entry]);
    } else {
      walk(ring, exit, entry);
    }
  }
  return out;
}

}  // namespace samlet::formats
