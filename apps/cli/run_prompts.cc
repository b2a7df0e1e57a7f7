#include "apps/cli/run_prompts.h"

#include <utility>

#include "samlet/error.h"

namespace samlet::cli {
namespace {

/// The objects of --point and --object-box: one of all points, with a box at most; else one for each box.
std::vector<ObjectPrompt> loose_objects(const RunArguments& arguments) {
  std::vector<ObjectPrompt> objects;
  if (!arguments.points.empty()) {
    if (arguments.object_boxes.size() > 1) {
      throw Error(
          ErrorCode::kPromptInvalid,
          "points and several --object-box do not say which belong together; give each object its own "
          "--object 'box=x1,y1,x2,y2;point=x,y'");
    }
    ObjectPrompt& object = objects.emplace_back();
    object.points = arguments.points;
    if (!arguments.object_boxes.empty()) object.box = arguments.object_boxes.front();
    return objects;
  }
  for (const Box& box : arguments.object_boxes) objects.push_back({{}, box, std::nullopt});
  return objects;
}

RunPrompts from_fractions(const RunPrompts& given, int width, int height) {
  RunPrompts prompts;
  prompts.concepts = prompts_from_fractions(given.concepts, width, height);
  if (!given.objects.empty()) prompts.objects = object_prompts_from_fractions(given.objects, width, height);
  prompts.choosing = points_from_fractions(given.choosing, width, height);
  return prompts;
}

}  // namespace

EncodeFor RunPrompts::encode_for() const {
  if (objects.empty()) return EncodeFor::kConcepts;
  return concepts.empty() ? EncodeFor::kObjects : EncodeFor::kBoth;
}

std::string RunPrompts::words_of(const Instance& instance) const {
  if (instance.kind == InstanceKind::kObject) return "object";
  return concepts.at(instance.prompt_index).text.value_or("visual");
}

RunPrompts prompts_from(const RunArguments& arguments) {
  RunPrompts prompts;
  for (const std::string& text : arguments.texts) prompts.concepts.push_back({text, arguments.boxes});
  if (arguments.texts.empty() && !arguments.boxes.empty())
    prompts.concepts.push_back({std::nullopt, arguments.boxes});
  prompts.objects = arguments.objects;
  if (prompts.concepts.empty()) {
    for (ObjectPrompt& object : loose_objects(arguments)) prompts.objects.push_back(std::move(object));
    return prompts;
  }
  if (!arguments.object_boxes.empty()) {
    throw Error(
        ErrorCode::kPromptInvalid,
        "--object-box cuts one object out and does not go with --text or --box, which find everything that "
        "matches; use one of them, or write --object 'box=x1,y1,x2,y2' for both in one call");
  }
  prompts.choosing = arguments.points;
  return prompts;
}

void check_alone(const RunPrompts& prompts, const RunArguments& arguments) {
  if (arguments.all_masks && prompts.objects.empty()) {
    throw Error(
        ErrorCode::kPromptInvalid,
        "--all-masks is about objects, and none was asked for; give --point, --object-box or --object");
  }
  if (arguments.all_masks && arguments.selection.suppression != Suppression::kNone) {
    throw Error(
        ErrorCode::kPromptInvalid,
        "--nms would drop what --all-masks asks for: the readings of one object overlap; use one of them");
  }
  if (!prompts.concepts.empty()) check_prompts(prompts.concepts);
  if (!prompts.objects.empty()) check_object_prompts(prompts.objects);
  check_points(prompts.choosing);
  if (arguments.normalized) (void)from_fractions(prompts, 1, 1);
}

RunPrompts prompts_on(const RunPrompts& given, const RunArguments& arguments, int width, int height,
                      std::vector<std::string>& warnings) {
  RunPrompts prompts = arguments.normalized ? from_fractions(given, width, height) : given;
  if (!prompts.concepts.empty()) (void)check_prompts(prompts.concepts, width, height, warnings);
  if (!prompts.objects.empty()) (void)check_object_prompts(prompts.objects, width, height, warnings);
  check_points(prompts.choosing, width, height, warnings);
  return prompts;
}

}  // namespace samlet::cli
