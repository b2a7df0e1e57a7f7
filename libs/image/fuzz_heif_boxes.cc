// Any bytes are boxes, or parts of them: what samlet reads of a HEIF file before libheif does.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "libs/image/heif_boxes.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span bytes(data, size);
  (void)samlet::heif_brand(bytes);
  const samlet::HeifBoxes boxes = samlet::read_heif_boxes(bytes);
  const auto number = static_cast<int>(boxes.orientation);
  if (number < 1 || number > 8 || (!boxes.turned && number != 1)) std::abort();
  (void)samlet::hevc_coded_size(bytes);
  (void)samlet::av1_coded_size(bytes);
  return 0;
}
