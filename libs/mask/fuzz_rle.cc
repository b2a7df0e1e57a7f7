// Any bytes as the text of a mask: refused with an error, or a mask that keeps its promises.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "libs/base/byte_reader.h"
#include "samlet/error.h"
#include "samlet/mask.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const samlet::Mask& mask) {
  const auto pixels = static_cast<std::uint64_t>(mask.width) * static_cast<std::uint64_t>(mask.height);
  require(mask.area() <= pixels);
  require(samlet::from_coco_string(samlet::to_coco_string(mask), mask.width, mask.height).counts ==
          mask.counts);
  require(samlet::intersection_over_union(mask, mask) == 1.0);
  constexpr std::uint64_t kMostPixels = 1 << 16;
  if (pixels > kMostPixels) return;
  const samlet::Mask canonical = samlet::from_bitmap(samlet::to_bitmap(mask), mask.width, mask.height);
  require(canonical.area() == mask.area());
  require(samlet::intersection_over_union(mask, canonical) == 1.0);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  samlet::ByteReader reader({data, size});
  const auto width = reader.u16_le();
  const auto height = reader.u16_le();
  if (!width || !height) return 0;
  const auto text = reader.take(reader.remaining());
  try {
    check(samlet::from_coco_string(std::string(text->begin(), text->end()), *width, *height));
  } catch (const samlet::Error& e) {
    require(e.code() == samlet::ErrorCode::kUsage);
  }
  return 0;
}
