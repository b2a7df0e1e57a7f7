// A tensor of a checkpoint: what it is called, what it is made of, and where its bytes are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libs/base/file.h"
#include "libs/tensor/lazy_tensor.h"
#include "libs/tensor/tensor.h"

namespace samlet::checkpoint {

/// What the elements of a tensor are.
struct ElementType {
  std::string_view name;       ///< "f32", "i64", "complex64", "f8_e4m3"
  std::size_t size = 0;        ///< bytes
  std::optional<DType> dtype;  ///< None for types that samlet has no use for: complex numbers, 8-bit floats.
};

/// The types that have a DType, by that.
[[nodiscard]] ElementType element_type(DType dtype) noexcept;

/// More dimensions than any tensor of a model has.
inline constexpr std::size_t kMaxDimensions = 16;

struct TensorInfo {
  std::string name;
  ElementType type;
  Shape shape;
  /// In elements, one a dimension; empty when the elements lie in row-major order without gaps.
  Shape strides;
  /// From the first element to the last, in the mapped file.
  std::span<const std::uint8_t> data;
  std::size_t file = 0;  ///< Which of the checkpoint's files.

  [[nodiscard]] std::size_t count() const noexcept { return element_count(shape).value_or(0); }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return std::uint64_t{count()} * type.size; }
};

/// The values as floats, read from the file a piece at a time. The file lives as long as the tensor; without
/// one the bytes that `data` shows are taken. Errors: kModelUnsupported when the elements are no floats.
[[nodiscard]] LazyTensor floats_of(const TensorInfo& info, std::shared_ptr<const MappedFile> file);

}  // namespace samlet::checkpoint
