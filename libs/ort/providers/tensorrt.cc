// untested: no such machine at hand
#include "libs/base/file.h"
#include "libs/ort/providers/provider.h"

namespace samlet::ort {

std::optional<Failure> append_tensorrt(const ProviderContext& context) {
  const OrtApi& api = *context.runtime.api;
  OrtTensorRTProviderOptionsV2* raw = nullptr;
  if (auto failure = take_failure(api, api.CreateTensorRTProviderOptions(&raw))) return failure;
  const Handle<OrtTensorRTProviderOptionsV2> options(raw, api.ReleaseTensorRTProviderOptions);
  std::vector<const char*> keys{"device_id", "trt_fp16_enable"};
  std::vector<const char*> values{"0", "0"};
  // Building an engine takes minutes; with a cache it happens once.
  const std::string cache = path_bytes(context.options.cache_folder);
  if (!cache.empty()) {
    keys.insert(keys.end(), {"trt_engine_cache_enable", "trt_engine_cache_path", "trt_timing_cache_enable"});
    values.insert(values.end(), {"1", cache.c_str(), "1"});
  }
  if (auto failure = take_failure(
          api, api.UpdateTensorRTProviderOptions(options.get(), keys.data(), values.data(), keys.size()))) {
    return failure;
  }
  if (auto failure = take_failure(api, api.SessionOptionsAppendExecutionProvider_TensorRT_V2(
                                           context.session_options, options.get()))) {
    return failure;
  }
  // TensorRT leaves nodes that it does not take to the next provider, which should not be the CPU.
  return append_cuda(context);
}

}  // namespace samlet::ort
