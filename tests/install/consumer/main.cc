// Uses the installed headers and libraries only: prints the version, and ends with 0 when masks and errors
// work.
#include <cstdint>
#include <cstdio>
#include <vector>

#include <samlet/error.h>
#include <samlet/mask.h>
#include <samlet/version.h>

namespace {

bool masks_work() {
  const std::vector<std::uint8_t> bitmap{0, 1, 1, 0, 1, 0};  // [2, 3], rows from the top
  const samlet::Mask mask = samlet::from_bitmap(bitmap, 3, 2);
  const samlet::Mask again = samlet::from_coco_string(samlet::to_coco_string(mask), 3, 2);
  return mask.area() == 3 && samlet::to_bitmap(again) == bitmap;
}

bool errors_work() {
  try {
    (void)samlet::from_coco_string("no such string", 3, 2);
  } catch (const samlet::Error& error) {
    return samlet::error_traits(error.code()).exit_code == 2;
  }
  return false;
}

}  // namespace

int main() {
  std::printf("samlet %s\n", samlet::version());
  return masks_work() && errors_work() ? 0 : 1;
}
