#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/utf8.h"
#include "libs/ort/api.h"
#include "libs/ort/probe_model.h"
#include "libs/ort/providers/provider.h"
#include "libs/ort/session_options.h"
#include "libs/ort/value.h"

namespace samlet::ort {
namespace {

struct DeviceNames {
  Device device;
  std::string_view name;
  std::string_view provider;
};

constexpr std::array<DeviceNames, 7> kDevices{{
    {Device::kAuto, "auto", ""},
    {Device::kCpu, "cpu", "CPUExecutionProvider"},
    {Device::kCuda, "cuda", "CUDAExecutionProvider"},
    {Device::kCoreMl, "coreml", "CoreMLExecutionProvider"},
    {Device::kTensorRt, "tensorrt", "TensorrtExecutionProvider"},
    {Device::kOpenVino, "openvino", "OpenVINOExecutionProvider"},
    {Device::kWebGpu, "webgpu", "WebGpuExecutionProvider"},
}};

const DeviceNames& row_of(Device device) noexcept {
  for (const DeviceNames& row : kDevices) {
    if (row.device == device) return row;
  }
  return kDevices.front();
}

/// Runs the probe model; throws what goes wrong.
void run_probe(const Runtime& runtime, Device device) {
  const Runtime::Impl& rt = runtime.impl();
  const OrtApi& api = *rt.api;
  // The reason goes into one sentence; ONNX Runtime's log lines about it would only repeat it.
  LogBridge silent({}, rt.log_mutex);
  SessionOptions options;
  options.device = device;
  options.threads = 1;
  // Without this a node that the device refuses runs on the CPU, and the probe would have proved nothing.
  if (device != Device::kCpu) options.config.emplace("session.disable_cpu_ep_fallback", "1");
  const auto session_options = make_session_options(runtime, options, silent);
  if (const auto reason = add_device(runtime, options, session_options.get())) {
    throw Error(ErrorCode::kDeviceUnavailable, *reason);
  }
  OrtSession* raw_session = nullptr;
  check(api,
        api.CreateSessionFromArray(rt.env.get(), kProbeModel.data(), kProbeModel.size(),
                                   session_options.get(), &raw_session),
        "make a session");
  const Handle<OrtSession> session(raw_session, api.ReleaseSession);

  constexpr std::array<float, 4> kInput{1.0F, 2.0F, -3.0F, 0.5F};
  const Tensor x = Tensor::from<float>({1, 4}, kInput);
  const Handle<OrtValue> input = borrow(api, x.view());
  const std::array<const char*, 1> input_names{"x"};
  const std::array<const char*, 1> output_names{"y"};
  const std::array<const OrtValue*, 1> inputs{input.get()};
  OrtValue* raw_output = nullptr;
  check(api,
        api.Run(session.get(), nullptr, input_names.data(), inputs.data(), 1, output_names.data(), 1,
                &raw_output),
        "run one node");
  const Handle<OrtValue> output(raw_output, api.ReleaseValue);
  void* data = nullptr;
  check(api, api.GetTensorMutableData(output.get(), &data), "show a result");
  const auto* y = static_cast<const float*>(data);
  for (std::size_t i = 0; i < kInput.size(); ++i) {
    // Small whole numbers and halves: exact in every format that a device computes in.
    if (y[i] != kInput[i] + kInput[i]) {
      throw Error(ErrorCode::kDeviceUnavailable,
                  fmt::format("it computes wrong values ({} + {} = {})", kInput[i], kInput[i], y[i]));
    }
  }
}

bool is_built(const std::vector<std::string>& built, Device device) {
  return std::find(built.begin(), built.end(), provider_name(device)) != built.end();
}

Device resolve_auto(const Runtime& runtime, const LogSink& sink) {
  const std::vector<std::string> built = runtime.built_providers();
  std::vector<std::string> passed;
  Device chosen = Device::kCpu;
  for (const Device device : {Device::kCuda, Device::kCoreMl}) {
    if (!is_built(built, device)) continue;  // nobody misses what this library never had
    const auto reason = probe(runtime, device);
    if (!reason) {
      chosen = device;
      break;
    }
    passed.push_back(fmt::format("{} is not usable: {}", name_of(device), *reason));
  }
  if (!passed.empty()) {
    log(sink, LogLevel::kWarning, fmt::format("{}; using {}", fmt::join(passed, "; "), name_of(chosen)));
  }
  return chosen;
}

}  // namespace

Device device_from_name(std::string_view name) {
  std::vector<std::string_view> names;
  for (const DeviceNames& row : kDevices) {
    if (row.name == name) return row.device;
    names.push_back(row.name);
  }
  throw Error(ErrorCode::kUsage, fmt::format("there is no device '{}'; the devices are {}", printable(name),
                                             fmt::join(names, ", ")));
}

std::string_view name_of(Device device) noexcept {
  return row_of(device).name;
}
std::string_view provider_name(Device device) noexcept {
  return row_of(device).provider;
}

std::optional<std::string> probe(const Runtime& runtime, Device device) {
  try {
    if (device == Device::kAuto) return "'auto' is no device of its own";
    if (auto reason = missing_reason(device, runtime.library_path(), runtime.built_providers()))
      return reason;
    run_probe(runtime, device);
    return std::nullopt;
  } catch (const Error& error) {
    return error.what();
  }
}

Device resolve_device(const Runtime& runtime, Device wanted, const LogSink& log) {
  if (wanted == Device::kAuto) return resolve_auto(runtime, log);
  if (const auto reason = probe(runtime, wanted)) {
    throw Error(ErrorCode::kDeviceUnavailable,
                fmt::format("the device '{}' cannot be used: {}", name_of(wanted), *reason));
  }
  return wanted;
}

}  // namespace samlet::ort
