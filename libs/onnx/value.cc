#include "libs/onnx/value.h"

#include <fmt/format.h>

#include "samlet/error.h"

namespace samlet::onnx {

std::string to_string(const Dimensions& dimensions) {
  std::string text = "[";
  for (const Dimension& d : dimensions) {
    if (text.size() > 1) text += ", ";
    text += d.is_fixed() ? std::to_string(d.size()) : d.symbol();
  }
  return text + "]";
}

Dimensions fixed(const Shape& shape) {
  return {shape.begin(), shape.end()};
}

double count_at_one(const Dimensions& dimensions) noexcept {
  double count = 1;
  for (const Dimension& d : dimensions) count *= d.is_fixed() ? static_cast<double>(d.size()) : 1.0;
  return count;
}

std::size_t Value::index_of(int axis) const {
  const int rank_now = static_cast<int>(rank());
  const int index = axis < 0 ? axis + rank_now : axis;
  if (index < 0 || index >= rank_now) {
    throw Error(ErrorCode::kInternal,
                fmt::format("'{}' {} has no axis {}", name, to_string(dimensions), axis));
  }
  return static_cast<std::size_t>(index);
}

const Dimension& Value::dimension(int axis) const {
  return dimensions[index_of(axis)];
}

std::int64_t Value::size(int axis) const {
  const Dimension& d = dimension(axis);
  if (!d.is_fixed()) {
    throw Error(ErrorCode::kInternal,
                fmt::format("'{}' {} has no fixed size along axis {}", name, to_string(dimensions), axis));
  }
  return d.size();
}

std::int32_t onnx_data_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return 1;
    case DType::kUInt8:
      return 2;
    case DType::kInt32:
      return 6;
    case DType::kInt64:
      return 7;
    case DType::kBool:
      return 9;
    case DType::kFloat16:
      return 10;
    default:
      throw Error(ErrorCode::kInternal, fmt::format("{} is not written to ONNX files", name_of(dtype)));
  }
}

}  // namespace samlet::onnx
