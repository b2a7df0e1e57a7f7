// Any bytes are a picture or an Error, within the limits.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "samlet/error.h"
#include "samlet/image.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  samlet::DecodeOptions options;
  options.max_pixels = 1'000'000;
  try {
    const samlet::Image image = samlet::decode_image(std::span(data, size), options);
    const std::uint64_t pixels =
        static_cast<std::uint64_t>(image.width) * static_cast<std::uint64_t>(image.height);
    if (image.width <= 0 || image.height <= 0 || pixels > options.max_pixels ||
        image.rgb.size() != 3 * pixels) {
      std::abort();
    }
  } catch (const samlet::Error& error) {
    if (error.code() != samlet::ErrorCode::kImageUnreadable &&
        error.code() != samlet::ErrorCode::kImageTooLarge) {
      std::abort();
    }
  }
  return 0;
}
