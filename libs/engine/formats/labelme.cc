#include "libs/engine/formats/labelme.h"

#include <fmt/format.h>

#include "libs/engine/formats/base64.h"
#include "libs/engine/formats/mask_region.h"
#include "libs/engine/formats/outlines.h"
#include "libs/engine/formats/text.h"
#include "libs/image/png_writer.h"

namespace samlet::formats {
namespace {

constexpr double kInset = 0.01;

/// Sides that have the mask to their left or above them move in by kInset. The ring comes from trace_parts():
/// its sides are vertical and horizontal in turn, with the mask on the right hand.
Ring drawn_in(const Ring& ring) {
  Ring out = ring;
  const auto move = [](Corner& a, Corner& b) {
    if (a.x == b.x) {
      if (a.y < b.y) a.x = b.x = a.x - kInset;  // down
    } else if (a.x > b.x) {
      a.y = b.y = a.y - kInset;  // to the left
    }
  };
  // A move of a vertical side changes no y and the other way round, but it makes x of a horizontal side's
  // ends differ by more or less: their order stays, as it is a whole pixel.
  const std::size_t first = ring[0].x == ring[1].x ? 0 : 1;
  for (std::size_t half : {first, 1 - first}) {
    for (std::size_t i = half; i < out.size(); i += 2) move(out[i], out[(i + 1) % out.size()]);
  }
  return out;
}

std::string shape_head(const Annotation& annotation) {
  const std::string description =
      fmt::format(R"({{"score": {}, "text": {}}})", score_text(annotation.score), quoted(annotation.label));
  return fmt::format(R"({{"label":{},"description":{},"flags":{{}},)", quoted(annotation.label),
                     quoted(description));
}

std::string polygon_shape(const Annotation& annotation, const Ring& ring, const std::string& group) {
  std::string out =
      fmt::format(R"({}"group_id":{},"shape_type":"polygon","points":[)", shape_head(annotation), group);
  for (const Corner& corner : ring) {
    out += '[';
    append_corner(out, corner);
    out += "],";
  }
  out.back() = ']';
  return out + '}';
}

std::string mask_shape(const Annotation& annotation) {
  const auto box = tight_box(annotation.mask);
  const auto png = write_png(PngPixels::kGrey8, box->width, box->height, crop(annotation.mask, *box, 1));
  return fmt::format(R"({}"group_id":null,"shape_type":"mask","points":[[{},{}],[{},{}]],"mask":"{}"}})",
                     shape_head(annotation), box->x, box->y, box->x + box->width - 1,
                     box->y + box->height - 1, base64(png));
}

/// All shapes of one instance, with commas between them.
std::string shapes_of(const Annotation& annotation, std::size_t number, const LabelmeOptions& options) {
  if (options.shapes == LabelmeShapes::kMasks) return mask_shape(annotation);
  const auto parts = trace_parts(annotation.mask);
  if (has_holes(parts)) return mask_shape(annotation);
  const std::string group = parts.size() > 1 ? fmt::format("{}", number) : "null";
  std::string out;
  for (const MaskPart& part : parts) {
    if (!out.empty()) out += ",\n";
    out += polygon_shape(annotation, simplified(drawn_in(part.outline), options.tolerance), group);
  }
  return out;
}

}  // namespace

Text labelme_json(const AnnotatedPicture& picture, const LabelmeOptions& options) {
  check_picture(picture);
  std::string out = fmt::format(R"({{"version":"{}","flags":{{}},"shapes":[)", kLabelmeVersion);
  bool first = true;
  for (std::size_t i = 0; i < picture.annotations.size(); ++i) {
    if (picture.annotations[i].mask.area() == 0) continue;
    out += first ? "\n" : ",\n";
    first = false;
    out += shapes_of(picture.annotations[i], i + 1, options);
  }
  out += fmt::format("\n],\"imagePath\":{},\"imageData\":null,\"imageHeight\":{},\"imageWidth\":{}}}\n",
                     quoted(picture.file_name), picture.height, picture.width);
  return {out, empty_mask_warnings(picture)};
}

}  // namespace samlet::formats
