// Looking at tensors without knowing what they mean: what they are like, and how far two are apart.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libs/tensor/tensor.h"
#include "models/sam3/manifest.h"

namespace samlet::sam3 {

/// Element `i` of a tensor of any type as a number; true is 1.
class Numbers {
 public:
  explicit Numbers(const TensorView& view) : view_(view) {}
  [[nodiscard]] std::size_t size() const noexcept { return view_.count(); }
  /// Errors: kInternal for an element type that no graph of ours gives.
  [[nodiscard]] double operator[](std::size_t i) const;

 private:
  const TensorView& view_;
};

/// Sums are made in order and in double: the same from every compiler. NaN and infinities make it all NaN.
[[nodiscard]] OutputFigures figures_of(const TensorView& tensor);

/// True when no element is NaN or infinite.
[[nodiscard]] bool is_finite(const TensorView& tensor);

/// max|a - b| / max(max|b|, floor); nothing when the shapes differ. 0 for empty tensors.
[[nodiscard]] std::optional<double> difference(const TensorView& a, const TensorView& b, double floor = 0);

/// The number of places of an image encoder's output ([1, D, rows, columns] or [1, places, D]) at which two
/// of the same shape are equal in every channel.
[[nodiscard]] std::size_t equal_places(const TensorView& a, const TensorView& b);

/// Sentences for what differs from the stored figures by more than `tolerance` of the output's largest
/// magnitude, and for graphs and outputs that only one of the two has.
[[nodiscard]] std::vector<std::string> figure_differences(const SelfTestFigures& stored,
                                                          const SelfTestFigures& found, double tolerance);

}  // namespace samlet::sam3
