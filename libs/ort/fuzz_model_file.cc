// Any bytes either parse or are refused as a damaged model.
#include <cstdlib>

#include "libs/ort/model_file.h"
#include "samlet/error.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    (void)samlet::ort::parse_model_file({data, size});
  } catch (const samlet::Error& error) {
    if (error.code() != samlet::ErrorCode::kModelDamaged) std::abort();
  }
  return 0;
}
