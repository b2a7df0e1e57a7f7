#include "libs/engine/formats/geojson.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/engine/formats/outlines.h"
#include "libs/engine/formats/text.h"
#include "samlet/error.h"

namespace samlet::formats {
namespace {

double determinant(const GeoReference& reference) {
  return reference.affine[0] * reference.affine[4] - reference.affine[1] * reference.affine[3];
}

void check_reference(const AnnotatedPicture& picture, const GeoReference& reference) {
  const auto& a = reference.affine;
  const bool finite = std::all_of(a.begin(), a.end(), [](double v) { return std::isfinite(v); });
  if (finite && determinant(reference) != 0) return;
  throw Error(
      ErrorCode::kUsage,
      fmt::format("'{}': its georeference ({}) maps the picture onto no area; write GeoJSON in pixels",
                  printable(picture.file_name), fmt::join(a, ", ")));
}

/// Takes pixels to the map.
class Mapping {
 public:
  explicit Mapping(const std::optional<GeoReference>& reference)
      : affine_(reference.value_or(GeoReference{}).affine),
        mirrored_(reference && determinant(*reference) < 0) {}

  /// "[[x,y],...]", closed. Outlines from trace_parts() have a positive area in pixels already.
  void append(std::string& out, const Ring& ring) const {
    out += '[';
    for (std::size_t i = 0; i <= ring.size(); ++i) {
      const std::size_t k = i % ring.size();
      // The first corner stays the first one.
      const Corner& corner = ring[mirrored_ && k > 0 ? ring.size() - k : k];
      out += '[';
      append_corner(out, {affine_[0] * corner.x + affine_[1] * corner.y + affine_[2],
                          affine_[3] * corner.x + affine_[4] * corner.y + affine_[5]});
      out += "],";
    }
    out.back() = ']';
  }

 private:
  std::array<double, 6> affine_;
  bool mirrored_;
};

void append_part(std::string& out, const MaskPart& part, double tolerance, const Mapping& mapping) {
  out += '[';
  mapping.append(out, simplified(part.outline, tolerance));
  for (const Ring& hole : part.holes) {
    out += ',';
    mapping.append(out, simplified(hole, tolerance));
  }
  out += ']';
}

void append_feature(std::string& out, const AnnotatedPicture& picture, std::size_t i, double tolerance,
                    const Mapping& mapping) {
  const Annotation& annotation = picture.annotations[i];
  out +=
      fmt::format(R"({{"type":"Feature","properties":{{"image":{},"instance":{},"label":{},"category":{},)"
                  R"("kind":"{}","score":{},"area":{}}},"geometry":{{"type":"MultiPolygon","coordinates":[)",
                  quoted(picture.file_name), i + 1, quoted(annotation.label), annotation.category,
                  kind_name(annotation.kind), score_text(annotation.score), annotation.mask.area());
  for (const MaskPart& part : with_simple_rings(trace_parts(annotation.mask))) {
    append_part(out, part, tolerance, mapping);
    out += ',';
  }
  out.back() = ']';
  out += "}}";
}

}  // namespace

Text geojson(const AnnotatedPicture& picture, const GeojsonOptions& options) {
  check_picture(picture);
  if (options.reference) check_reference(picture, *options.reference);
  const Mapping mapping(options.reference);
  std::string out = R"({"type":"FeatureCollection",)";
  if (options.reference && options.reference->epsg) {
    out += fmt::format(R"("crs":{{"type":"name","properties":{{"name":"urn:ogc:def:crs:EPSG::{}"}}}},)",
                       *options.reference->epsg);
  }
  out += "\"features\":[";
  bool first = true;
  for (std::size_t i = 0; i < picture.annotations.size(); ++i) {
    if (picture.annotations[i].mask.area() == 0) continue;
    out += first ? "\n" : ",\n";
    first = false;
    append_feature(out, picture, i, options.tolerance, mapping);
  }
  return {out + "\n]}\n", empty_mask_warnings(picture)};
}

}  // namespace samlet::formats
