// untested: no such machine at hand
#include "libs/base/file.h"
#include "libs/ort/providers/provider.h"

namespace samlet::ort {

std::optional<Failure> append_coreml(const ProviderContext& context) {
  std::vector<ProviderOption> options{
      // The older NeuralNetwork format knows fewer operators and computes in half precision on the GPU.
      {"ModelFormat", "MLProgram"},
      {"MLComputeUnits", "ALL"},
      // CoreML handles free dimensions badly; nodes that have them stay on the CPU. The image encoder has
      // none.
      {"RequireStaticInputShapes", "1"},
  };
  // Without a cache CoreML compiles the model at every start. It does not notice a changed model: the caller
  // gives a folder whose name depends on the model's hash, the system's build and the options.
  if (!context.options.cache_folder.empty()) {
    options.emplace_back("ModelCacheDirectory", path_bytes(context.options.cache_folder));
  }
  return append_by_name(context, "CoreML", options);
}

}  // namespace samlet::ort
