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

const Dimension& Value::dimension(int axis) const {
  const int rank_now = static_cast<int>(rank());
  const int index = axis < 0 ? axis + rank_now : axis;
  if (index < 0 || index >= rank_now) {
    throw Error(ErrorCode::kInternal,
                fmt::format("'{}' {} has no axis {}", name, to_string(dimensions), axis));
  }
  return dimensions[static_cast<std::size_t>(index)];
}

std::int64_t Value::size(int axis) const {
  const Dimension& d = dimension(axis);
  if (!d.is_fixed()) {
    throw Error(ErrorCode::kInternal,
                fmt::format("'{}' {} has no fixed size along axis {}", name, to_string(dimensions), axis));
  }
  return d.size();
}

}  // namespace samlet::onnx
