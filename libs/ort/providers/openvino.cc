// untested: no such machine at hand
#include "libs/base/file.h"
#include "libs/ort/providers/provider.h"

namespace samlet::ort {

std::optional<Failure> append_openvino(const ProviderContext& context) {
  std::vector<ProviderOption> options{{"device_type", "AUTO:GPU,CPU"}};
  if (!context.options.cache_folder.empty()) {
    options.emplace_back("cache_dir", path_bytes(context.options.cache_folder));
  }
  return append_by_name(context, "OpenVINO", options);
}

}  // namespace samlet::ort
