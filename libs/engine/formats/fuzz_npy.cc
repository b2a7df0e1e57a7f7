// Any bytes as an .npy file: refused with an error, or an array that keeps its promises.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "libs/engine/formats/npy.h"
#include "samlet/error.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const auto array = samlet::formats::read_npy({data, size});
    require(array.rows > 0 && array.columns > 0);
    require(array.values.size() ==
            static_cast<std::size_t>(array.rows) * static_cast<std::size_t>(array.columns));
    require(array.values.size() < size);
    for (const float value : array.values) require(std::isfinite(value));
    const auto again =
        samlet::formats::read_npy(samlet::formats::write_npy(array.values, array.rows, array.columns));
    require(again.values == array.values && again.rows == array.rows);
  } catch (const samlet::Error& e) {
    require(e.code() == samlet::ErrorCode::kPromptInvalid);
  }
  return 0;
}
