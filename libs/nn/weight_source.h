// Where blocks get their weights from, and the prefixes they are looked up under.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libs/tensor/lazy_tensor.h"

namespace samlet::nn {

/// Weights by full name.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  WeightSource() = default;
  WeightSource(const WeightSource&) = delete;
  WeightSource& operator=(const WeightSource&) = delete;

  /// The tensor of that name, which must have that shape. What is wrong is noted by the source and reported
  /// for all tensors at once; until then zeros stand in, so that a graph can be built to its end.
  [[nodiscard]] virtual LazyTensor get(const std::string& name, const Shape& shape) = 0;
  /// The shape of the tensor, or nothing when there is none. Notes nothing.
  [[nodiscard]] virtual std::optional<Shape> shape_of(const std::string& name) const = 0;
};

/// A source and a prefix: `scope / "layers.0"` names what lies below. A cheap value; the source outlives it.
class Scope {
 public:
  Scope(WeightSource& source, std::string prefix) : source_(&source), prefix_(std::move(prefix)) {}

  [[nodiscard]] Scope operator/(std::string_view below) const {
    return {*source_, prefix_.empty() ? std::string(below) : prefix_ + "." + std::string(below)};
  }
  [[nodiscard]] LazyTensor get(std::string_view name, const Shape& shape) const {
    return source_->get((*this / name).prefix_, shape);
  }
  [[nodiscard]] std::optional<Shape> shape_of(std::string_view name) const {
    return source_->shape_of((*this / name).prefix_);
  }
  [[nodiscard]] const std::string& prefix() const noexcept { return prefix_; }

 private:
  WeightSource* source_;
  std::string prefix_;
};

}  // namespace samlet::nn
