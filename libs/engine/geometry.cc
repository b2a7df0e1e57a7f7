#include "samlet/geometry.h"

#include <algorithm>

#include <fmt/format.h>

#include "samlet/error.h"

namespace samlet {

PictureGeometry::PictureGeometry(int width, int height, int side)
    : width_(width), height_(height), side_(side) {
  if (width > 0 && height > 0 && side > 0) return;
  throw Error(ErrorCode::kUsage, fmt::format("a picture of {}x{} pixels and a model side of {} have no "
                                             "geometry; give positive sizes",
                                             width, height, side));
}

// Always product first, then quotient: the product of pixels is exact, so each number is rounded once.

Point PictureGeometry::to_model(Point picture) const noexcept {
  return {picture.x * side_ / width_, picture.y * side_ / height_};
}

Point PictureGeometry::from_model(Point model) const noexcept {
  return {model.x * width_ / side_, model.y * height_ / side_};
}

Point PictureGeometry::to_fractions(Point picture) const noexcept {
  return {picture.x / width_, picture.y / height_};
}

Point PictureGeometry::from_fractions(Point fractions) const noexcept {
  return {fractions.x * width_, fractions.y * height_};
}

Box PictureGeometry::from_fractions(const Box& fractions) const noexcept {
  const Point first = from_fractions(Point{fractions.x1, fractions.y1});
  const Point second = from_fractions(Point{fractions.x2, fractions.y2});
  return {first.x, first.y, second.x, second.y};
}

Point PictureGeometry::to_cells(Point picture, int rows, int columns) const noexcept {
  return {picture.x * columns / width_ - 0.5, picture.y * rows / height_ - 0.5};
}

Point PictureGeometry::from_cells(Point cells, int rows, int columns) const noexcept {
  return {(cells.x + 0.5) * width_ / columns, (cells.y + 0.5) * height_ / rows};
}

std::array<float, 4> PictureGeometry::to_exemplar(const Box& box) const noexcept {
  return {static_cast<float>((box.x1 + box.x2) / 2 / width_),
          static_cast<float>((box.y1 + box.y2) / 2 / height_), static_cast<float>((box.x2 - box.x1) / width_),
          static_cast<float>((box.y2 - box.y1) / height_)};
}

Box PictureGeometry::from_decoder(const std::array<float, 4>& corners) const noexcept {
  const auto along = [](float fraction, int side) {
    return std::clamp(double{fraction} * side, 0.0, double(side));
  };
  return {along(corners[0], width_), along(corners[1], height_), along(corners[2], width_),
          along(corners[3], height_)};
}

}  // namespace samlet
