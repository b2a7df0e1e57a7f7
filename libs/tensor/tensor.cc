#include "libs/tensor/tensor.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/checked.h"
#include "samlet/error.h"

namespace samlet {
namespace {

struct DTypeTraits {
  std::size_t size;
  std::string_view name;
};

// In the order of the enumeration.
constexpr std::array<DTypeTraits, 13> kDTypes{{{4, "f32"},
                                               {2, "f16"},
                                               {2, "bf16"},
                                               {8, "f64"},
                                               {1, "i8"},
                                               {1, "u8"},
                                               {2, "i16"},
                                               {2, "u16"},
                                               {4, "i32"},
                                               {4, "u32"},
                                               {8, "i64"},
                                               {8, "u64"},
                                               {1, "bool"}}};
static_assert(kDTypes.size() == static_cast<std::size_t>(DType::kBool) + 1);

std::size_t byte_count(DType dtype, const Shape& shape) {
  const auto count = element_count(shape);
  const auto bytes = count ? checked_mul(*count, size_of(dtype)) : std::nullopt;
  if (!bytes) throw Error(ErrorCode::kInternal, fmt::format("the shape {} cannot be held", to_string(shape)));
  return *bytes;
}

}  // namespace

std::size_t size_of(DType dtype) noexcept {
  return kDTypes[static_cast<std::size_t>(dtype)].size;
}

std::string_view name_of(DType dtype) noexcept {
  return kDTypes[static_cast<std::size_t>(dtype)].name;
}

std::optional<std::size_t> element_count(std::span<const std::int64_t> shape) noexcept {
  std::size_t count = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    const auto product = checked_mul(count, static_cast<std::size_t>(dim));
    if (!product) return std::nullopt;
    count = *product;
  }
  return count;
}

std::string to_string(std::span<const std::int64_t> shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

TensorView::TensorView(DType dtype, Shape shape, std::span<const std::byte> bytes)
    : dtype_(dtype), shape_(std::move(shape)), bytes_(bytes) {
  if (byte_count(dtype_, shape_) != bytes_.size()) {
    throw Error(ErrorCode::kInternal, fmt::format("{} bytes given for a {} tensor of shape {}", bytes_.size(),
                                                  name_of(dtype_), to_string(shape_)));
  }
}

void TensorView::require(DType wanted) const {
  if (wanted != dtype_) {
    throw Error(ErrorCode::kInternal,
                fmt::format("a {} tensor was read as {}", name_of(dtype_), name_of(wanted)));
  }
}

Tensor::Tensor(DType dtype, Shape shape)
    : dtype_(dtype), shape_(std::move(shape)), bytes_(byte_count(dtype_, shape_)) {}

void Tensor::assign(std::span<const std::byte> bytes) {
  if (bytes.size() != bytes_.size()) {
    throw Error(ErrorCode::kInternal, fmt::format("{} bytes given for a {} tensor of shape {}", bytes.size(),
                                                  name_of(dtype_), to_string(shape_)));
  }
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

}  // namespace samlet
