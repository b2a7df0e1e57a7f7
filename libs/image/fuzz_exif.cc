// The first byte chooses the reader: an EXIF block, an XMP packet, JPEG segments or PNG chunks.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "libs/image/exif.h"
#include "libs/image/jpeg_header.h"
#include "libs/image/png_metadata.h"

namespace {

samlet::Orientation orientation_of(std::uint8_t choice, std::span<const std::uint8_t> bytes) {
  switch (choice & 3) {
    case 0:
      return samlet::find_orientation(bytes, {}).orientation;
    case 1:
      return samlet::find_orientation({}, std::string(bytes.begin(), bytes.end())).orientation;
    case 2: {
      const samlet::JpegHeader header = samlet::read_jpeg_header(bytes);
      return samlet::find_orientation(header.exif, header.xmp).orientation;
    }
    default: {
      (void)samlet::read_png_header(bytes);
      const samlet::PngMetadata metadata = samlet::read_png_metadata(bytes);
      return samlet::find_orientation(metadata.exif, metadata.xmp).orientation;
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto value = static_cast<int>(orientation_of(data[0], std::span(data, size).subspan(1)));
  if (value < 1 || value > 8) std::abort();
  return 0;
}
