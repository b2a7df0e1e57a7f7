// untested: no such machine at hand
#include <array>

#include "libs/ort/providers/provider.h"

namespace samlet::ort {

std::optional<Failure> append_cuda(const ProviderContext& context) {
  const OrtApi& api = *context.runtime.api;
  OrtCUDAProviderOptionsV2* raw = nullptr;
  if (auto failure = take_failure(api, api.CreateCUDAProviderOptions(&raw))) return failure;
  const Handle<OrtCUDAProviderOptionsV2> options(raw, api.ReleaseCUDAProviderOptions);
  constexpr std::array<const char*, 5> kKeys{"device_id", "arena_extend_strategy", "cudnn_conv_algo_search",
                                             "do_copy_in_default_stream", "use_tf32"};
  constexpr std::array<const char*, 5> kValues{
      "0",
      // Doubling would take the next power of two of a budget that other programs share.
      "kSameAsRequested",
      // EXHAUSTIVE, the default, times every algorithm at the first run of each new shape: many seconds.
      "HEURISTIC", "1",
      // TF32 keeps 10 bits of a mantissa: far outside of the bounds on scores and boxes.
      "0"};
  if (auto failure = take_failure(
          api, api.UpdateCUDAProviderOptions(options.get(), kKeys.data(), kValues.data(), kKeys.size()))) {
    return failure;
  }
  return take_failure(
      api, api.SessionOptionsAppendExecutionProvider_CUDA_V2(context.session_options, options.get()));
}

}  // namespace samlet::ort
