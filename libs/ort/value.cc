#include "libs/ort/value.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "libs/base/utf8.h"

namespace samlet::ort {
namespace {

constexpr std::array<std::pair<DType, ONNXTensorElementDataType>, 13> kTypes{{
    {DType::kFloat32, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT},
    {DType::kFloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16},
    {DType::kBFloat16, ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16},
    {DType::kFloat64, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE},
    {DType::kInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8},
    {DType::kUInt8, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8},
    {DType::kInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16},
    {DType::kUInt16, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16},
    {DType::kInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32},
    {DType::kUInt32, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32},
    {DType::kInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64},
    {DType::kUInt64, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64},
    {DType::kBool, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL},
}};

Error not_a_tensor(std::string_view name, std::string_view what) {
  return {ErrorCode::kInternal, fmt::format("the output '{}' {}", printable(name), what)};
}

void require_cpu_tensor(const OrtApi& api, const OrtValue* value, std::string_view name) {
  int is_tensor = 0;
  int has_value = 0;
  check(api, api.HasValue(value, &has_value), "look at an output");
  if (has_value == 0) throw not_a_tensor(name, "has no value");
  check(api, api.IsTensor(value, &is_tensor), "look at an output");
  if (is_tensor == 0) throw not_a_tensor(name, "is no tensor");
  const OrtMemoryInfo* memory = nullptr;
  check(api, api.GetTensorMemoryInfo(value, &memory), "say where an output lies");
  OrtMemoryInfoDeviceType device = OrtMemoryInfoDeviceType_CPU;
  api.MemoryInfoGetDeviceType(memory, &device);
  if (device != OrtMemoryInfoDeviceType_CPU) throw not_a_tensor(name, "does not lie in CPU memory");
}

}  // namespace

std::optional<DType> dtype_of(ONNXTensorElementDataType type) noexcept {
  for (const auto& [ours, theirs] : kTypes) {
    if (theirs == type) return ours;
  }
  return std::nullopt;
}

ONNXTensorElementDataType element_type_of(DType dtype) noexcept {
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == dtype) return theirs;
  }
  return ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
}

Shape shape_of(const OrtApi& api, const OrtTensorTypeAndShapeInfo* info) {
  std::size_t rank = 0;
  check(api, api.GetDimensionsCount(info, &rank), "count dimensions");
  Shape shape(rank);
  check(api, api.GetDimensions(info, shape.data(), rank), "read dimensions");
  return shape;
}

Handle<OrtValue> borrow(const OrtApi& api, const TensorView& view) {
  OrtMemoryInfo* raw_memory = nullptr;
  check(api, api.CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &raw_memory), "describe memory");
  const Handle<OrtMemoryInfo> memory(raw_memory, api.ReleaseMemoryInfo);
  // The C API has one call for memory that is read and memory that is written; inputs are only read. An empty
  // tensor may have no address, which the call does not take.
  static constexpr std::byte kNothing{};
  const std::byte* data = view.bytes().empty() ? &kNothing : view.bytes().data();
  OrtValue* value = nullptr;
  check(api,
        api.CreateTensorWithDataAsOrtValue(memory.get(), const_cast<std::byte*>(data), view.bytes().size(),
                                           view.shape().data(), view.shape().size(),
                                           element_type_of(view.dtype()), &value),
        "take an input");
  return {value, api.ReleaseValue};
}

Value adopt(std::shared_ptr<const Runtime> runtime, Handle<OrtValue> value, std::string_view name) {
  const OrtApi& api = *runtime->impl().api;
  require_cpu_tensor(api, value.get(), name);
  OrtTensorTypeAndShapeInfo* raw_info = nullptr;
  check(api, api.GetTensorTypeAndShape(value.get(), &raw_info), "describe an output");
  const Handle<OrtTensorTypeAndShapeInfo> info(raw_info, api.ReleaseTensorTypeAndShapeInfo);
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(api, api.GetTensorElementType(info.get(), &type), "name an element type");
  const auto dtype = dtype_of(type);
  if (!dtype) throw not_a_tensor(name, "has elements that are no numbers");
  Shape shape = shape_of(api, info.get());
  const auto count = element_count(shape);
  if (!count) throw not_a_tensor(name, fmt::format("has the impossible shape {}", to_string(shape)));
  void* data = nullptr;
  check(api, api.GetTensorMutableData(value.get(), &data), "show an output");
  const std::size_t bytes = *count * size_of(*dtype);
  return Value(std::make_unique<Value::Impl>(Value::Impl{std::move(runtime), std::move(value), *dtype,
                                                         std::move(shape),
                                                         static_cast<const std::byte*>(data), bytes}));
}

Value::Value(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

TensorView Value::view() const {
  if (impl_ == nullptr) throw Error(ErrorCode::kInternal, "a value was used after it was moved away");
  return {impl_->dtype, impl_->shape, {impl_->data, impl_->bytes}};
}

}  // namespace samlet::ort
