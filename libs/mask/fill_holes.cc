#include "libs/mask/fill_holes.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "samlet/error.h"

namespace samlet {
namespace {

/// The background's parts, one after the other.
class Background {
 public:
  Background(std::span<const float> logits, int rows, int columns)
      : rows_(rows), columns_(columns), open_(logits.size()) {
    for (std::size_t i = 0; i < logits.size(); ++i) open_[i] = !(logits[i] > 0);
  }

  [[nodiscard]] bool is_open(std::size_t cell) const { return open_[cell]; }

  /// The cells of the part that `first` belongs to; they are closed afterwards.
  const std::vector<std::size_t>& take(std::size_t first) {
    part_.assign(1, first);
    open_[first] = false;
    // By index: the list grows meanwhile.
    for (std::size_t at = 0; at < part_.size(); ++at) {  // NOLINT(modernize-loop-convert)
      add_neighbours(part_[at]);
    }
    return part_;
  }

 private:
  void add_neighbours(std::size_t cell) {
    const int row = static_cast<int>(cell) / columns_;
    const int column = static_cast<int>(cell) % columns_;
    for (int y = std::max(0, row - 1); y <= std::min(rows_ - 1, row + 1); ++y) {
      for (int x = std::max(0, column - 1); x <= std::min(columns_ - 1, column + 1); ++x) {
        const auto neighbour =
            static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x);
        if (!open_[neighbour]) continue;
        open_[neighbour] = false;
        part_.push_back(neighbour);
      }
    }
  }

  int rows_;
  int columns_;
  std::vector<bool> open_;
  std::vector<std::size_t> part_;
};

}  // namespace

void fill_holes(std::span<float> logits, int rows, int columns, int most_cells) {
  const bool fits = rows > 0 && columns > 0 &&
                    logits.size() == static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  if (!fits)
    throw Error(ErrorCode::kInternal,
                "the mask to fill does not have the size it claims; please report this");
  Background background(logits, rows, columns);
  for (std::size_t first = 0; first < logits.size(); ++first) {
    if (!background.is_open(first)) continue;
    const auto& part = background.take(first);
    if (part.size() > static_cast<std::size_t>(std::max(0, most_cells))) continue;
    for (const std::size_t cell : part) logits[cell] = 10;
  }
}

}  // namespace samlet
