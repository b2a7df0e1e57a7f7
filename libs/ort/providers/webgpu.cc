// untested: no such machine at hand
#include "libs/ort/providers/provider.h"

namespace samlet::ort {

std::optional<Failure> append_webgpu(const ProviderContext& context) {
  return append_by_name(context, "WebGPU", {});
}

}  // namespace samlet::ort
