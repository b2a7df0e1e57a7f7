#include "libs/engine/formats/yolo.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/engine/formats/mask_region.h"
#include "libs/engine/formats/outlines.h"
#include "libs/engine/formats/text.h"

namespace samlet::formats {
namespace {

/// Six decimals: half a millionth of 65,500 pixels is a thirtieth of one.
std::string fraction(double value, int side) {
  return fmt::format(" {:.6f}", std::clamp(value / side, 0.0, 1.0));
}

std::string segment_line(const Annotation& annotation, const Ring& ring) {
  std::string line = fmt::format("{}", annotation.category);
  for (const Corner& corner : ring) {
    line += fraction(corner.x, annotation.mask.width);
    line += fraction(corner.y, annotation.mask.height);
  }
  return line + '\n';
}

/// The pixels that come along when the holes are filled.
std::uint64_t lost_in_holes(const std::vector<Ring>& outer, const Mask& mask) {
  double area = 0;
  for (const Ring& ring : outer) area += signed_area(ring);
  return static_cast<std::uint64_t>(std::llround(area)) - mask.area();
}

std::string hole_warning(const AnnotatedPicture& picture, std::size_t number, std::uint64_t lost) {
  const Annotation& annotation = picture.annotations[number - 1];
  return fmt::format(
      "'{}': instance {} ({}) has holes, which YOLO's format cannot say: they are filled, {} pixels "
      "more than its {}",
      printable(picture.file_name), number, printable(annotation.label), lost, annotation.mask.area());
}

std::string part_warning(const AnnotatedPicture& picture, std::size_t number, std::size_t parts) {
  return fmt::format(
      "'{}': instance {} ({}) is in {} parts, each on its own line: YOLO will take them for {} "
      "instances",
      printable(picture.file_name), number, printable(picture.annotations[number - 1].label), parts, parts);
}

/// A YAML string in double quotes. JSON's own escapes will not do: YAML has other line breaks than JSON, and
/// reads the halves of a surrogate pair as two characters.
std::string yaml_quoted(const std::string& text) {
  const auto code_points = decode_utf8(text);
  std::string out = "\"";
  for (const char32_t c : code_points ? *code_points : decode_utf8(printable(text)).value_or(U"")) {
    const bool unprintable = c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 ||
                             c == 0xFEFF || c == 0xFFFE || c == 0xFFFF;
    if (unprintable) {
      out += fmt::format("\\u{:04X}", static_cast<std::uint32_t>(c));
      continue;
    }
    if (c == U'"' || c == U'\\') out += '\\';
    out += encode_utf8({&c, 1});
  }
  return out + '"';
}

}  // namespace

Text yolo_segments(const AnnotatedPicture& picture, const YoloOptions& options) {
  check_picture(picture);
  Text out{"", empty_mask_warnings(picture)};
  for (std::size_t i = 0; i < picture.annotations.size(); ++i) {
    const Annotation& annotation = picture.annotations[i];
    if (annotation.mask.area() == 0) continue;
    const auto parts = trace_parts(annotation.mask);
    std::vector<Ring> outer = outer_outlines(parts);
    const std::uint64_t lost = lost_in_holes(outer, annotation.mask);
    if (lost > 0) out.warnings.push_back(hole_warning(picture, i + 1, lost));
    for (Ring& ring : outer) ring = simplified(ring, options.tolerance);
    if (options.parts == YoloParts::kJoined) {
      out.text += segment_line(annotation, joined(outer));
      continue;
    }
    if (outer.size() > 1) out.warnings.push_back(part_warning(picture, i + 1, outer.size()));
    for (const Ring& ring : outer) out.text += segment_line(annotation, ring);
  }
  return out;
}

Text yolo_boxes(const AnnotatedPicture& picture) {
  check_picture(picture);
  Text out{"", empty_mask_warnings(picture)};
  for (const Annotation& annotation : picture.annotations) {
    const auto box = tight_box(annotation.mask);
    if (!box) continue;
    out.text +=
        fmt::format("{}{}{}{}{}\n", annotation.category, fraction(box->x + box->width / 2.0, picture.width),
                    fraction(box->y + box->height / 2.0, picture.height), fraction(box->width, picture.width),
                    fraction(box->height, picture.height));
  }
  return out;
}

std::string yolo_data_yaml(std::span<const std::string> names, const YoloFolders& folders) {
  std::string out = fmt::format("path: {}\ntrain: {}\nval: {}\nnc: {}\nnames:{}\n", yaml_quoted(folders.path),
                                yaml_quoted(folders.train), yaml_quoted(folders.val), names.size(),
                                names.empty() ? " {}" : "");
  for (std::size_t i = 0; i < names.size(); ++i) out += fmt::format("  {}: {}\n", i, yaml_quoted(names[i]));
  return out;
}

}  // namespace samlet::formats
