#include "libs/mask/polygon.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

#include "libs/mask/runs.h"

namespace samlet {
namespace {

/// Rows [begin, end) of one column.
struct Span {
  int begin = 0;
  int end = 0;
};

/// A vertical piece of outline at x, over the rows [top, bottom). It runs so that the mask lies on its right
/// hand: down where the mask is to the left on the screen, up where it is to the right.
struct Side {
  int x = 0;
  int top = 0;
  int bottom = 0;
  bool down = false;
  std::size_t next = 0;  // the side that the outline goes on with
  std::size_t ring = 0;

  [[nodiscard]] int start() const { return down ? top : bottom; }
  [[nodiscard]] int finish() const { return down ? bottom : top; }
};

std::vector<std::vector<Span>> columns_of(const Mask& mask) {
  std::vector<std::vector<Span>> columns(static_cast<std::size_t>(mask.width));
  const auto height = static_cast<std::uint64_t>(mask.height);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < mask.counts.size(); ++i) {
    std::uint64_t left = mask.counts[i];
    while (i % 2 == 1 && left > 0) {
      const std::uint64_t row = at % height;
      const std::uint64_t step = std::min(left, height - row);
      columns[at / height].push_back({static_cast<int>(row), static_cast<int>(row + step)});
      at += step;
      left -= step;
    }
    at += left;
  }
  return columns;
}

/// Appends the rows that `a` has and `b` has not as sides at x.
void append_difference(const std::vector<Span>& a, const std::vector<Span>& b, int x, bool down,
                       std::vector<Side>& sides) {
  std::size_t k = 0;
  for (const Span& span : a) {
    int from = span.begin;
    while (k < b.size() && b[k].end <= from) ++k;
    for (std::size_t j = k; j < b.size() && b[j].begin < span.end; ++j) {
      if (b[j].begin > from) sides.push_back({x, from, b[j].begin, down});
      from = std::max(from, b[j].end);
    }
    if (from < span.end) sides.push_back({x, from, span.end, down});
  }
}

/// All sides, by x.
std::vector<Side> sides_of(const Mask& mask) {
  const auto columns = columns_of(mask);
  static const std::vector<Span> kNothing;
  std::vector<Side> sides;
  for (int x = 0; x <= mask.width; ++x) {
    const auto& left = x > 0 ? columns[static_cast<std::size_t>(x) - 1] : kNothing;
    const auto& right = x < mask.width ? columns[static_cast<std::size_t>(x)] : kNothing;
    append_difference(left, right, x, true, sides);
    append_difference(right, left, x, false, sides);
  }
  return sides;
}

/// An end of a side, to be joined to another one in its row of corners.
struct End {
  int y = 0;
  int x = 0;
  bool leaves = false;  // the outline leaves the corner along the side
  bool above = false;   // the side lies above the corner
  std::size_t side = 0;
};

/// Joins the sides by the horizontal lines between them. The corners of a row, taken from left to right, are
/// the ends of these lines in turn. Where two sides meet in one corner, two pixels of the mask touch there
/// across; each line then goes on with the side of its own pixel, which keeps the pixels apart: the line to
/// the left belongs to the pixel above it when both sides arrive, and to the one below when both leave.
void join(std::vector<Side>& sides) {
  std::vector<End> ends;
  ends.reserve(2 * sides.size());
  for (std::size_t i = 0; i < sides.size(); ++i) {
    ends.push_back({sides[i].top, sides[i].x, !sides[i].down, false, i});
    ends.push_back({sides[i].bottom, sides[i].x, sides[i].down, true, i});
  }
  for (End& end : ends) end.leaves = sides[end.side].start() == end.y;
  std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) {
    if (a.y != b.y) return a.y < b.y;
    if (a.x != b.x) return a.x < b.x;
    return a.above != b.above && a.above == !a.leaves;
  });
  for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
    const End& arriving = ends[i].leaves ? ends[i + 1] : ends[i];
    const End& leaving = ends[i].leaves ? ends[i] : ends[i + 1];
    sides[arriving.side].next = leaving.side;
  }
}

/// Follows the sides round; each gets the number of its ring.
std::vector<Ring> rings_of(std::vector<Side>& sides) {
  std::vector<Ring> rings;
  std::vector<bool> seen(sides.size());
  for (std::size_t first = 0; first < sides.size(); ++first) {
    if (seen[first]) continue;
    Ring ring;
    for (std::size_t i = first; !seen[i]; i = sides[i].next) {
      seen[i] = true;
      sides[i].ring = rings.size();
      ring.push_back({static_cast<double>(sides[i].x), static_cast<double>(sides[i].start())});
      ring.push_back({static_cast<double>(sides[i].x), static_cast<double>(sides[i].finish())});
    }
    rings.push_back(std::move(ring));
  }
  return rings;
}

/// The last side seen at each row while sides are taken from left to right.
class Front {
 public:
  /// The nearest side to the left at this row. There is one wherever a hole begins.
  [[nodiscard]] std::size_t at(int row) const { return std::prev(starts_.upper_bound(row))->second; }

  void put(const Side& side, std::size_t number) {
    const auto after = starts_.upper_bound(side.bottom);
    // What held the row below the side holds it still.
    if (after != starts_.begin()) starts_.insert_or_assign(side.bottom, std::prev(after)->second);
    starts_.erase(starts_.lower_bound(side.top), starts_.lower_bound(side.bottom));
    starts_.insert_or_assign(side.top, number);
  }

 private:
  std::map<int, std::size_t> starts_;  // first row -> side, up to the next entry
};

/// For each ring the ring of the part's outline: itself, or for a hole that of what lies to its left.
std::vector<std::size_t> owners_of(const std::vector<Side>& sides, const std::vector<Ring>& rings) {
  constexpr auto kNone = static_cast<std::size_t>(-1);
  std::vector<std::size_t> owners(rings.size(), kNone);
  Front front;
  for (std::size_t begin = 0; begin < sides.size();) {
    std::size_t end = begin;
    while (end < sides.size() && sides[end].x == sides[begin].x) ++end;
    for (std::size_t i = begin; i < end; ++i) {
      const std::size_t ring = sides[i].ring;
      if (owners[ring] != kNone) continue;
      // Its leftmost sides are met first: they go up along an outline, down along a hole.
      owners[ring] = sides[i].down ? owners[sides[front.at(sides[i].top)].ring] : ring;
    }
    for (std::size_t i = begin; i < end; ++i) front.put(sides[i], i);
    begin = end;
  }
  return owners;
}

double distance(const Corner& p, const Corner& a, const Corner& b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  // From a stretch of line, not from the endless line: a ring turns back.
  const double t = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0.0;
  return std::hypot(p.x - (a.x + t * dx), p.y - (a.y + t * dy));
}

/// Marks the corners to keep strictly between `first` and `last`, which are kept.
void mark_kept(const Ring& line, std::size_t first, std::size_t last, double tolerance,
               std::vector<bool>& kept) {
  std::vector<std::pair<std::size_t, std::size_t>> open{{first, last}};
  while (!open.empty()) {
    const auto [a, b] = open.back();
    open.pop_back();
    std::size_t farthest = a;
    double most = tolerance;
    for (std::size_t i = a + 1; i < b; ++i) {
      const double d = distance(line[i], line[a], line[b]);
      if (d <= most) continue;
      most = d;
      farthest = i;
    }
    if (farthest == a) continue;
    kept[farthest] = true;
    open.emplace_back(a, farthest);
    open.emplace_back(farthest, b);
  }
}

}  // namespace

std::vector<MaskPart> trace_parts(const Mask& mask) {
  check_runs(mask);
  if (mask.width == 0 || mask.height == 0) return {};
  std::vector<Side> sides = sides_of(mask);
  join(sides);
  std::vector<Ring> rings = rings_of(sides);
  const auto owners = owners_of(sides, rings);
  std::vector<MaskPart> parts;
  std::vector<std::size_t> part_of(rings.size());
  for (std::size_t i = 0; i < rings.size(); ++i) {
    if (owners[i] != i) continue;
    part_of[i] = parts.size();
    parts.push_back({std::move(rings[i]), {}});
  }
  for (std::size_t i = 0; i < rings.size(); ++i) {
    if (owners[i] != i) parts[part_of[owners[i]]].holes.push_back(std::move(rings[i]));
  }
  return parts;
}

Ring simplified(const Ring& ring, double tolerance) {
  if (!(tolerance > 0) || ring.size() < 4) return ring;
  // The ring is cut at its first corner and at the one farthest from it.
  std::size_t opposite = 0;
  double most = 0;
  for (std::size_t i = 1; i < ring.size(); ++i) {
    const double d = std::hypot(ring[i].x - ring[0].x, ring[i].y - ring[0].y);
    if (d <= most) continue;
    most = d;
    opposite = i;
  }
  Ring line = ring;
  line.push_back(ring.front());
  std::vector<bool> kept(line.size());
  kept[0] = kept[opposite] = true;
  mark_kept(line, 0, opposite, tolerance, kept);
  mark_kept(line, opposite, line.size() - 1, tolerance, kept);
  Ring out;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    if (kept[i]) out.push_back(ring[i]);
  }
  return out.size() < 3 ? ring : out;
}

double signed_area(const Ring& ring) noexcept {
  double twice = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Corner& a = ring[i];
    const Corner& b = ring[(i + 1) % ring.size()];
    twice += a.x * b.y - b.x * a.y;
  }
  return twice / 2;
}

}  // namespace samlet
