// Any bytes as the record of a picture: refused with an error, or a picture that can be written and read
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "libs/engine/formats/coco.h"
#include "samlet/error.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer looks for this name.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace formats = samlet::formats;
  try {
    const auto picture = formats::read_coco_record({reinterpret_cast<const char*>(data), size});
    const std::vector<std::string> records{formats::coco_record(picture).text};
    require(formats::coco_record(formats::read_coco_record(records[0])).text == records[0]);
    require(!formats::merge_coco(records, {"", "a", "b"}).empty());
  } catch (const samlet::Error& e) {
    require(e.code() == samlet::ErrorCode::kIo);
  }
  return 0;
}
