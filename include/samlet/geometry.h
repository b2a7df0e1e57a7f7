// The ways between a picture and the square picture that the model sees, and back.
#pragma once

#include <array>

#include "samlet/prompt.h"

namespace samlet {

/// SAM 3 stretches every picture to S x S: width and height scale separately, nothing is padded or cut off,
/// so there is nothing to undo but two factors. All frames have their origin at the top left corner of the
/// picture, x right, y down, and are continuous: pixel (i, j) covers [i, i + 1) x [j, j + 1), and the picture
/// ends at its size, not one before it.
///
///   picture     0 .. width, 0 .. height
///   fractions   0 .. 1, of each side
///   model       0 .. S, pixels of the S x S picture
///   cells       -0.5 .. n - 0.5: positions among the n cells of a mask's row or column; whole numbers are
///               the centres of cells (PyTorch's align_corners=False)
///
/// Value type; thread-safe.
class PictureGeometry {
 public:
  /// The picture's size in pixels, upright, and the model's side. Errors: kUsage when one is not positive.
  PictureGeometry(int width, int height, int side);

  [[nodiscard]] int width() const noexcept { return width_; }
  [[nodiscard]] int height() const noexcept { return height_; }
  [[nodiscard]] int side() const noexcept { return side_; }

  [[nodiscard]] Point to_model(Point picture) const noexcept;
  [[nodiscard]] Point from_model(Point model) const noexcept;
  [[nodiscard]] Point to_fractions(Point picture) const noexcept;
  [[nodiscard]] Point from_fractions(Point fractions) const noexcept;
  [[nodiscard]] Box from_fractions(const Box& fractions) const noexcept;
  /// Where a point lies in a mask of rows x columns cells, whatever the size of the mask.
  [[nodiscard]] Point to_cells(Point picture, int rows, int columns) const noexcept;
  [[nodiscard]] Point from_cells(Point cells, int rows, int columns) const noexcept;

  /// A box as the decoder takes exemplars: centre x, centre y, width, height in fractions. Computed in double
  /// and rounded once, so that a box is the same whatever the picture's size.
  [[nodiscard]] std::array<float, 4> to_exemplar(const Box& box) const noexcept;
  /// Corners x1, y1, x2, y2 in fractions, as the decoder gives them, as a box cut to the picture.
  [[nodiscard]] Box from_decoder(const std::array<float, 4>& corners) const noexcept;

 private:
  int width_;
  int height_;
  int side_;
};

}  // namespace samlet
