// What flows through a graph that is being built: a name, an element type, and dimensions that may have
// symbols.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "libs/tensor/tensor.h"

namespace samlet::onnx {

/// One dimension: a number, or a symbol such as "B" for one that varies from call to call.
class Dimension {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions): {1, "B", 256} reads as a shape
  Dimension(std::int64_t size) : size_(size) {}
  // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions)
  Dimension(const char* symbol) : symbol_(symbol) {}
  // NOLINTNEXTLINE(google-explicit-constructor,hicpp-explicit-conversions)
  Dimension(std::string symbol) : symbol_(std::move(symbol)) {}

  [[nodiscard]] bool is_fixed() const noexcept { return symbol_.empty(); }
  /// The number; -1 for a symbol.
  [[nodiscard]] std::int64_t size() const noexcept { return is_fixed() ? size_ : -1; }
  [[nodiscard]] const std::string& symbol() const noexcept { return symbol_; }

  friend bool operator==(const Dimension& a, const Dimension& b) noexcept {
    return a.symbol_ == b.symbol_ && a.size() == b.size();
  }

 private:
  std::int64_t size_ = 0;
  std::string symbol_;
};

/// Outermost first; a scalar has none.
using Dimensions = std::vector<Dimension>;

/// "[B, 32, 256]"
[[nodiscard]] std::string to_string(const Dimensions& dimensions);

/// The dimensions of a fixed shape.
[[nodiscard]] Dimensions fixed(const Shape& shape);

/// Elements, with every symbol counted as 1: the size of the smallest call.
[[nodiscard]] double count_at_one(const Dimensions& dimensions) noexcept;

/// An input, an initializer or the result of a node. A plain value; it belongs to the builder that made it
/// and may be used there and in that builder's subgraphs.
struct Value {
  std::string name;
  DType dtype = DType::kFloat32;
  Dimensions dimensions;

  [[nodiscard]] std::size_t rank() const noexcept { return dimensions.size(); }
  /// A dimension that must be a number; negative axes count from the end. Errors: kInternal for a symbol.
  [[nodiscard]] std::int64_t size(int axis) const;
  [[nodiscard]] const Dimension& dimension(int axis) const;
  /// Which of the dimensions an axis is; negative ones count from the end. Errors: kInternal when there is
  /// none.
  [[nodiscard]] std::size_t index_of(int axis) const;
};

/// ONNX's number for an element type (TensorProto.DataType). Errors: kInternal for types that are not
/// written.
[[nodiscard]] std::int32_t onnx_data_type(DType dtype);

}  // namespace samlet::onnx
