#include "libs/ort/providers/provider.h"

#include <algorithm>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/ort/discover.h"
#include "libs/ort/providers/shared_library.h"

namespace samlet::ort {
namespace {

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The library of its own that a provider lives in, and the package that ships it.
struct OwnLibrary {
  std::string_view file;  ///< empty: inside of ONNX Runtime's own library
  std::string_view package;
};

OwnLibrary own_library(Device device) {
  constexpr std::string_view kGpu = "the build of ONNX Runtime for NVIDIA GPUs (PyPI: onnxruntime-gpu)";
  switch (device) {
    case Device::kCuda:
      return {"libonnxruntime_providers_cuda.so", kGpu};
    case Device::kTensorRt:
      return {"libonnxruntime_providers_tensorrt.so", kGpu};
    case Device::kOpenVino:
      return {"libonnxruntime_providers_openvino.so",
              "Intel's build of ONNX Runtime (PyPI: onnxruntime-openvino)"};
    case Device::kCoreMl:
      return {"", "ONNX Runtime for macOS"};
    case Device::kWebGpu:
      return {"", "a build of ONNX Runtime with WebGPU (npm: onnxruntime-node)"};
    case Device::kAuto:
    case Device::kCpu:
      break;
  }
  return {"", "ONNX Runtime"};
}

}  // namespace

std::optional<Failure> append_by_name(const ProviderContext& context, const char* name,
                                      const std::vector<ProviderOption>& options) {
  std::vector<const char*> keys;
  std::vector<const char*> values;
  for (const auto& [key, value] : options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  const OrtApi& api = *context.runtime.api;
  return take_failure(api, api.SessionOptionsAppendExecutionProvider(
                               context.session_options, name, keys.data(), values.data(), keys.size()));
}

std::optional<Failure> append_provider(Device device, const ProviderContext& context) {
  switch (device) {
    case Device::kCpu:
      return append_cpu(context);
    case Device::kCuda:
      return append_cuda(context);
    case Device::kCoreMl:
      return append_coreml(context);
    case Device::kTensorRt:
      return append_tensorrt(context);
    case Device::kOpenVino:
      return append_openvino(context);
    case Device::kWebGpu:
      return append_webgpu(context);
    case Device::kAuto:
      break;
  }
  throw Error(ErrorCode::kInternal,
              "a session was asked for on the device 'auto'; resolve_device comes first");
}

std::optional<std::string> missing_reason(Device device, const std::filesystem::path& library,
                                          const std::vector<std::string>& built) {
  if (device == Device::kCpu) return std::nullopt;
  const OwnLibrary own = own_library(device);
  if (!contains(built, provider_name(device))) {
    const std::string part =
        own.file.empty() ? std::string() : fmt::format(" and has no {} beside it", own.file);
    return fmt::format("the ONNX Runtime library {} was built without {}{}; {} has it", path_to_utf8(library),
                       provider_name(device), part, own.package);
  }
  // The npm build lists CUDA and TensorRT without having their files.
  return own.file.empty() ? std::nullopt : provider_library_problem(library, own.file, own.package);
}

bool is_tested(Device device) noexcept {
  return device == Device::kCpu;
}

}  // namespace samlet::ort
