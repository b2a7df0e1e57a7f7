// Annotation files of labelme (https://labelme.io).
#pragma once

#include <cstdint>
#include <string_view>

#include "libs/engine/formats/annotation.h"

namespace samlet::formats {

/// The version that the files name: its own reader is what our tests read them back with. labelme looks at no
/// version itself; since 5.2 it knows shapes of the type mask.
inline constexpr std::string_view kLabelmeVersion = "6.3.1";

enum class LabelmeShapes : std::uint8_t {
  kPolygons,  ///< Polygons, and a mask for an instance with a hole, which polygons cannot say.
  kMasks,     ///< A mask for every instance.
};

struct LabelmeOptions {
  LabelmeShapes shapes = LabelmeShapes::kPolygons;
  double tolerance = 0;  ///< Of polygons, in pixels; 0 = exact.
};

/// A labelme file, to be written as the picture's name with .json. `picture.file_name` becomes imagePath, so
/// it must be the picture's path from the file's folder. Several polygons of one instance share a group_id,
/// the instance's number; the description holds score and text as labelme's own text prompt writes them.
///
/// The right and lower sides of polygons are drawn in by 0.01 of a pixel: labelme fills polygons by whole
/// numbers cut off, sides included, and so gets exactly the mask's pixels, whereas on its screen a hundredth
/// of a pixel cannot be seen. Errors: kUsage as check_picture. Thread-safe.
[[nodiscard]] Text labelme_json(const AnnotatedPicture& picture, const LabelmeOptions& options = {});

}  // namespace samlet::formats
