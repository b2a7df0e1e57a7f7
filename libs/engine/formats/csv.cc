#include "libs/engine/formats/csv.h"

#include <string_view>

#include <fmt/format.h>

#include "libs/engine/formats/mask_region.h"
#include "libs/engine/formats/text.h"

namespace samlet::formats {
namespace {

std::string field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  return out + '"';
}

}  // namespace

std::string csv_header() {
  return "image,width,height,instance,label,category,kind,score,box_x1,box_y1,box_x2,box_y2,area,mask_x,mask_"
         "y,"
         "mask_width,mask_height\r\n";
}

Text csv_lines(const AnnotatedPicture& picture) {
  check_picture(picture);
  Text out{"", empty_mask_warnings(picture)};
  for (std::size_t i = 0; i < picture.annotations.size(); ++i) {
    const Annotation& annotation = picture.annotations[i];
    const auto tight = tight_box(annotation.mask);
    if (!tight) continue;
    const Box& box = annotation.box;
    out.text += fmt::format(
        "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n", field(picture.file_name), picture.width,
        picture.height, i + 1, field(annotation.label), annotation.category, kind_name(annotation.kind),
        score_text(annotation.score), pixel_text(box.x1), pixel_text(box.y1), pixel_text(box.x2),
        pixel_text(box.y2), annotation.mask.area(), tight->x, tight->y, tight->width, tight->height);
  }
  return out;
}

}  // namespace samlet::formats
