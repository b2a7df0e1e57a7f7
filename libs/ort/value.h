// Tensors on their way into and out of ONNX Runtime.
#pragma once

#include <optional>

#include "libs/ort/api.h"

namespace samlet::ort {

struct Value::Impl {
  std::shared_ptr<const Runtime> runtime;  // the environment must outlive the value
  Handle<OrtValue> value;
  DType dtype;
  Shape shape;
  const std::byte* data;
  std::size_t bytes;
};

/// Element types in both directions; nothing for those that samlet has no use for.
[[nodiscard]] std::optional<DType> dtype_of(ONNXTensorElementDataType type) noexcept;
[[nodiscard]] ONNXTensorElementDataType element_type_of(DType dtype) noexcept;

/// Dimensions of a type or a value; -1 where they are free. Errors: kInternal.
[[nodiscard]] Shape shape_of(const OrtApi& api, const OrtTensorTypeAndShapeInfo* info);

/// An OrtValue that reads the view's memory; nothing is copied. The memory must outlive it. Errors:
/// kInternal.
[[nodiscard]] Handle<OrtValue> borrow(const OrtApi& api, const TensorView& view);

/// Takes over a result. Errors: kInternal when it is no tensor of numbers in CPU memory.
[[nodiscard]] Value adopt(std::shared_ptr<const Runtime> runtime, Handle<OrtValue> value,
                          std::string_view name);

}  // namespace samlet::ort
