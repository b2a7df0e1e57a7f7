#include "libs/engine/formats/annotation.h"

#include <algorithm>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "samlet/error.h"

namespace samlet::formats {

std::string kind_name(AnnotationKind kind) {
  return kind == AnnotationKind::kObject ? "object" : "concept";
}

void check_picture(const AnnotatedPicture& picture) {
  if (picture.width <= 0 || picture.height <= 0) {
    throw Error(ErrorCode::kUsage, fmt::format("'{}': {} x {} pixels are no picture; give its real size",
                                               printable(picture.file_name), picture.width, picture.height));
  }
  for (std::size_t i = 0; i < picture.annotations.size(); ++i) {
    const Mask& mask = picture.annotations[i].mask;
    if (mask.width == picture.width && mask.height == picture.height) continue;
    throw Error(
        ErrorCode::kUsage,
        fmt::format("'{}': the mask of instance {} has {} x {} pixels, the picture {} x {}; give masks "
                    "of the picture's size",
                    printable(picture.file_name), i + 1, mask.width, mask.height, picture.width,
                    picture.height));
  }
}

std::vector<std::string> empty_mask_warnings(const AnnotatedPicture& picture) {
  const auto& all = picture.annotations;
  const auto empty =
      std::count_if(all.begin(), all.end(), [](const Annotation& a) { return a.mask.area() == 0; });
  if (empty == 0) return {};
  return {fmt::format("'{}': {} of {} instance{} {} no pixel and {} left out", printable(picture.file_name),
                      empty, all.size(), all.size() == 1 ? "" : "s", empty == 1 ? "has" : "have",
                      empty == 1 ? "is" : "are")};
}

}  // namespace samlet::formats
