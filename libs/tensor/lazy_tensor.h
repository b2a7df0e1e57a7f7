// A tensor of floats whose values are made when somebody asks for them: weights on their way from a mapped
// checkpoint to a file, gigabytes in all, of which only pieces are ever in memory.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "libs/tensor/tensor.h"

namespace samlet {

/// Shape now, values later. A cheap copy shares the source. The source (a mapped file) must outlive the uses.
/// Thread-safe as far as the producer is.
class LazyTensor {
 public:
  /// Takes the next values in row-major order, a piece at a time; a piece lives as long as the call.
  using Sink = std::function<void(std::span<const float>)>;
  /// Gives all values to the sink, in order.
  using Producer = std::function<void(const Sink&)>;

  LazyTensor() = default;  ///< Empty: shape [0].
  /// Errors: kInternal when the shape has no element count.
  LazyTensor(Shape shape, Producer producer);
  /// Values that exist already. Errors: kInternal when their number is not that of the shape.
  static LazyTensor of(Shape shape, std::vector<float> values);

  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }

  /// Gives all values to the sink. Errors: those of the producer; kInternal when it gives too many or too
  /// few.
  void stream(const Sink& sink) const;
  /// All values at once.
  [[nodiscard]] std::vector<float> values() const;

 private:
  Shape shape_{0};
  std::size_t count_ = 0;
  std::shared_ptr<const Producer> producer_;
};

}  // namespace samlet
