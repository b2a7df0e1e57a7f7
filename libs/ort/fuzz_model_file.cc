// Any bytes either parse or are refused as a damaged model.
#include <cstdlib>

#include "libs/ort/graph_flow.h"
#include "libs/ort/model_file.h"
#include "samlet/error.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto file = samlet::ort::parse_model_file({data, size});
    for (const auto& input : file.inputs) (void)samlet::ort::joins_constant({data, size}, input.name);
  } catch (const samlet::Error& error) {
    if (error.code() != samlet::ErrorCode::kModelDamaged) std::abort();
  }
  return 0;
}
