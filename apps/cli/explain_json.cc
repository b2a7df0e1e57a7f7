#include "apps/cli/explain_json.h"

#include <nlohmann/json.hpp>

namespace samlet::cli {

std::string explained_json(const ExplainedPicture& picture) {
  const PictureInfo& info = picture.info;
  nlohmann::ordered_json json;
  json["schema"] = 1;
  json["image"] = {{"path", picture.name}, {"width", picture.width}, {"height", picture.height}};
  json["stored"] = {{"type", info.type}, {"width", info.width},     {"height", info.height},
                    {"bits", info.bits}, {"colours", info.colours}, {"frames", info.frames}};
  json["rule"] = info.rule;
  json["orientation"] = {{"value", info.orientation}, {"source", info.orientation_source}};
  json["values"] = {picture.values.least, picture.values.most};
  json["warnings"] = picture.warnings;
  return json.dump();
}

}  // namespace samlet::cli
