#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "libs/engine/formats/coco.h"
#include "samlet/error.h"

namespace samlet::formats {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;

[[noreturn]] void refuse(std::string_view what) {
  throw Error(ErrorCode::kIo,
              fmt::format("this is no record of a picture that samlet wrote: {}; remove it, then "
                          "run again with --resume to make it anew",
                          what));
}

const Json& member(const Json& json, const char* name) {
  const auto found = json.find(name);
  if (found == json.end()) refuse(fmt::format("'{}' is missing", name));
  return *found;
}

std::string text_of(const Json& json, const char* name) {
  const Json& value = member(json, name);
  if (!value.is_string()) refuse(fmt::format("'{}' is not a text", name));
  return value.get<std::string>();
}

double number_of(const Json& value, const char* name) {
  if (!value.is_number()) refuse(fmt::format("'{}' is not a number", name));
  return value.get<double>();
}

/// A whole number from 0 to the largest int.
int count_of(const Json& json, const char* name) {
  const double value = number_of(member(json, name), name);
  if (!(value >= 0 && value <= std::numeric_limits<int>::max()) || std::trunc(value) != value) {
    refuse(fmt::format("'{}' is not a whole number within its bounds", name));
  }
  return static_cast<int>(value);
}

Box box_of(const Json& json) {
  const Json& box = member(json, "box_xyxy");
  if (!box.is_array() || box.size() != 4) refuse("'box_xyxy' is not a list of four numbers");
  std::array<double, 4> corners{};
  for (std::size_t i = 0; i < 4; ++i) corners[i] = number_of(box[i], "box_xyxy");
  return {corners[0], corners[1], corners[2], corners[3]};
}

AnnotationKind kind_of(const Json& json) {
  const std::string kind = text_of(json, "kind");
  for (const auto known : {AnnotationKind::kConcept, AnnotationKind::kObject}) {
    if (kind == kind_name(known)) return known;
  }
  refuse("'kind' is neither concept nor object");
}

Annotation annotation_of(const Json& json, const AnnotatedPicture& picture) {
  if (!json.is_object()) refuse("an annotation is not an object");
  Annotation annotation;
  annotation.label = text_of(json, "label");
  annotation.category = static_cast<std::size_t>(count_of(json, "category"));
  annotation.score = number_of(member(json, "score"), "score");
  annotation.kind = kind_of(json);
  annotation.box = box_of(json);
  try {
    annotation.mask = from_coco_string(text_of(json, "counts"), picture.width, picture.height);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kUsage) throw;
    refuse(error.what());
  }
  if (annotation.mask.area() == 0) refuse("a mask has no pixel");
  return annotation;
}

}  // namespace

Text coco_record(const AnnotatedPicture& picture) {
  check_picture(picture);
  Json json;
  json["samlet_record"] = kVersion;
  json["file_name"] = picture.file_name;
  json["width"] = picture.width;
  json["height"] = picture.height;
  json["annotations"] = Json::array();
  for (const Annotation& annotation : picture.annotations) {
    if (annotation.mask.area() == 0) continue;
    const Box& box = annotation.box;
    json["annotations"].push_back({{"label", annotation.label},
                                   {"category", annotation.category},
                                   {"score", annotation.score},
                                   {"kind", kind_name(annotation.kind)},
                                   {"box_xyxy", {box.x1, box.y1, box.x2, box.y2}},
                                   {"counts", to_coco_string(annotation.mask)}});
  }
  return {json.dump(-1, ' ', false, Json::error_handler_t::replace), empty_mask_warnings(picture)};
}

AnnotatedPicture read_coco_record(std::string_view record) {
  const Json json = Json::parse(record, nullptr, false);
  if (json.is_discarded()) refuse("it is not JSON (cut off?)");
  if (!json.is_object()) refuse("it is not a JSON object");
  if (member(json, "samlet_record") != kVersion) refuse("it is of another version");
  AnnotatedPicture picture;
  picture.file_name = text_of(json, "file_name");
  picture.width = count_of(json, "width");
  picture.height = count_of(json, "height");
  if (picture.width == 0 || picture.height == 0) refuse("the picture has no pixels");
  const Json& annotations = member(json, "annotations");
  if (!annotations.is_array()) refuse("'annotations' is not a list");
  for (const Json& annotation : annotations) {
    picture.annotations.push_back(annotation_of(annotation, picture));
  }
  return picture;
}

}  // namespace samlet::formats
