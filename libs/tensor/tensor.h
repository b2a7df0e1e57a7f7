// Typed, shaped memory: a view for what others own, an owner for what is made here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samlet {

enum class DType {
  kFloat32,
  kFloat16,
  kBFloat16,
  kFloat64,
  kInt8,
  kUInt8,
  kInt16,
  kUInt16,
  kInt32,
  kUInt32,
  kInt64,
  kUInt64,
  kBool
};

/// Bytes of one element.
[[nodiscard]] std::size_t size_of(DType dtype) noexcept;

/// "f32", "i64", "bool", ...
[[nodiscard]] std::string_view name_of(DType dtype) noexcept;

/// Dimensions, outermost first. A scalar has none.
using Shape = std::vector<std::int64_t>;

/// Product of the dimensions; nothing when one is negative or the product overflows.
[[nodiscard]] std::optional<std::size_t> element_count(std::span<const std::int64_t> shape) noexcept;

/// "[1, 256, 72, 72]"
[[nodiscard]] std::string to_string(std::span<const std::int64_t> shape);

template <typename T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::kFloat32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::kFloat64;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType value = DType::kInt8;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType value = DType::kUInt8;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType value = DType::kInt32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType value = DType::kInt64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::kBool;
};

/// Contiguous row-major elements that somebody else owns. As a parameter only; never outlives the owner.
class TensorView {
 public:
  /// Errors: kInternal when the byte count is not shape x element size.
  TensorView(DType dtype, Shape shape, std::span<const std::byte> bytes);

  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::size_t count() const noexcept { return bytes_.size() / size_of(dtype_); }

  /// The elements. Errors: kInternal when T is not the element type.
  template <typename T>
  [[nodiscard]] std::span<const T> as() const {
    require(DTypeOf<T>::value);
    return {reinterpret_cast<const T*>(bytes_.data()), count()};
  }

 private:
  void require(DType wanted) const;

  DType dtype_;
  Shape shape_;
  std::span<const std::byte> bytes_;
};

/// Elements owned here, zero at first. Copyable, movable.
class Tensor {
 public:
  Tensor(DType dtype, Shape shape);

  template <typename T>
  static Tensor from(Shape shape, std::span<const T> values) {
    Tensor t(DTypeOf<T>::value, std::move(shape));
    t.assign(std::as_bytes(values));
    return t;
  }

  [[nodiscard]] DType dtype() const noexcept { return dtype_; }
  [[nodiscard]] const Shape& shape() const noexcept { return shape_; }
  [[nodiscard]] TensorView view() const { return {dtype_, shape_, bytes_}; }

  /// The elements, writable. Errors: kInternal when T is not the element type.
  template <typename T>
  [[nodiscard]] std::span<T> as() {
    (void)view().as<T>();
    return {reinterpret_cast<T*>(bytes_.data()), bytes_.size() / sizeof(T)};
  }

 private:
  void assign(std::span<const std::byte> bytes);

  DType dtype_;
  Shape shape_;
  std::vector<std::byte> bytes_;  // operator new aligns to 16, enough for every element type
};

}  // namespace samlet
