#include "apps/cli/result_json.h"

#include <cmath>

#include <nlohmann/json.hpp>

#include "samlet/version.h"

namespace samlet::cli {
namespace {

using Json = nlohmann::ordered_json;

/// Rounded to what the numbers carry, so that a float does not print as 0.9227830171585083.
double rounded(double value, double steps) {
  return std::round(value * steps) / steps;
}
double score(double value) {
  return rounded(value, 1e6);
}
double pixels(double value) {
  return rounded(value, 1e4);
}
double milliseconds(double value) {
  return rounded(value, 1e1);
}

template <typename T>
Json optional(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json instance_json(const Instance& instance, std::size_t id, const RunPrompts& prompts) {
  const bool is_object = instance.kind == InstanceKind::kObject;
  const Mask& mask = instance.mask;
  Json json;
  json["id"] = id;
  json["prompt_index"] = instance.prompt_index;
  json["prompt"] = prompts.words_of(instance);
  json["kind"] = is_object ? "object" : "concept";
  json["score"] = score(instance.score);
  if (is_object) {
    json["iou"] = score(instance.score);
  } else {
    json["presence"] = instance.presence ? Json(score(*instance.presence)) : Json(nullptr);
  }
  json["box_xyxy"] = {pixels(instance.box.x1), pixels(instance.box.y1), pixels(instance.box.x2),
                      pixels(instance.box.y2)};
  json["area"] = mask.area();
  json["mask"] = {{"size", {mask.height, mask.width}}, {"counts", to_coco_string(mask)}};
  return json;
}

}  // namespace

std::string result_json(const Result& result, const RunPrompts& prompts, const ResultContext& context) {
  Json json;
  json["schema"] = 1;
  json["samlet"] = version();
  json["model"] = {{"name", context.model->name},
                   {"sha256", optional(context.model->sha256)},
                   {"precision", context.model->precision},
                   {"text_encoder", context.model->text_encoder}};
  json["device"] = context.device;
  json["provider"] = context.provider;
  json["image"] = {{"path", context.path}, {"width", context.width}, {"height", context.height}};
  json["instances"] = Json::array();
  for (std::size_t i = 0; i < result.instances.size(); ++i) {
    json["instances"].push_back(instance_json(result.instances[i], i + 1, prompts));
  }
  const Timings& t = result.timings;
  json["timings_ms"] = {{"decode", milliseconds(t.decode)},
                        {"encode", milliseconds(t.encode)},
                        {"language", milliseconds(t.language)},
                        {"decode_masks", milliseconds(t.decode_masks)},
                        {"write", milliseconds(t.write)}};
  json["warnings"] = result.warnings;
  return json.dump();
}

}  // namespace samlet::cli
