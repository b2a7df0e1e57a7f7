#include "apps/cli/run_one.h"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "apps/cli/picture_source.h"
#include "apps/cli/result_json.h"
#include "libs/base/clock.h"
#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "libs/engine/overlay.h"
#include "libs/engine/selection.h"
#include "samlet/error.h"

namespace samlet::cli {
namespace {

/// What a person reads as the prompt: "visual", the word the model is asked for boxes alone, says nothing to
/// them.
std::string shown_words(const RunPrompts& prompts, const Instance& instance) {
  if (instance.kind == InstanceKind::kObject)
    return prompts.objects.size() > 1 ? fmt::format("object {}", instance.prompt_index + 1) : "object";
  const ConceptPrompt& prompt = prompts.concepts[instance.prompt_index];
  return prompt.text ? printable(*prompt.text) : std::string("like the box");
}

void draw_instances(Image& image, const Result& result, const RunPrompts& prompts) {
  std::vector<OverlayItem> items;
  items.reserve(result.instances.size());
  for (const Instance& instance : result.instances) {
    // The number is that of the listing and of the JSON's "id".
    items.push_back(
        {&instance.mask, instance.box,
         fmt::format("{} {} {:.2f}", items.size() + 1, shown_words(prompts, instance), instance.score)});
  }
  draw_overlay(image, items);
}

/// The result as a person reads it.
std::string summary(const Result& result, const RunPrompts& prompts, const PlannedPicture& planned,
                    const Image& image, const std::string& device) {
  std::string text = fmt::format("{} ({}x{}): {} found", picture_name(planned.picture), image.width,
                                 image.height, result.instances.size());
  if (planned.overlay) text += fmt::format(" -> {}", path_to_utf8(*planned.overlay));
  const Timings& t = result.timings;
  text += fmt::format("   {:.2f} s on {}\n",
                      (t.decode + t.encode + t.language + t.decode_masks + t.write) / 1000, device);
  for (std::size_t i = 0; i < result.instances.size(); ++i) {
    const Instance& found = result.instances[i];
    text += fmt::format("  {:>3}  {:<20}  {} {:.3f}  box {:.0f},{:.0f},{:.0f},{:.0f}  area {}\n", i + 1,
                        first_characters(shown_words(prompts, found), 40),
                        found.kind == InstanceKind::kObject ? "iou" : "score", found.score, found.box.x1,
                        found.box.y1, found.box.x2, found.box.y2, found.mask.area());
  }
  return text;
}

/// What is being looked for, in a few words.
std::string asked_words(const RunPrompts& prompts) {
  const std::size_t count = prompts.concepts.size() + prompts.objects.size();
  if (count > 1) return fmt::format("{} prompts", count);
  if (prompts.concepts.empty()) return "the object";
  const ConceptPrompt& prompt = prompts.concepts.front();
  return prompt.text ? first_characters(*prompt.text, 40) : std::string("what is like the box");
}

void append(Result& all, Result more) {
  for (Instance& instance : more.instances) all.instances.push_back(std::move(instance));
  for (std::string& warning : more.warnings) {
    if (std::find(all.warnings.begin(), all.warnings.end(), warning) == all.warnings.end())
      all.warnings.push_back(std::move(warning));
  }
  all.timings.encode = more.timings.encode;
  all.timings.language += more.timings.language;
  all.timings.decode_masks += more.timings.decode_masks;
}

class Runner {
 public:
  Runner(const PlannedPicture& planned, const RunArguments& arguments, Segmenter& model, Terminal& terminal,
         const CancelToken& cancel)
      : planned_(planned), arguments_(arguments), model_(model), terminal_(terminal), cancel_(cancel) {}

  void run() {
    Image picture = read();
    // Here for what it refuses before anything is loaded; the model gives its warnings once more.
    std::vector<std::string> repeated;
    const RunPrompts prompts = placed_on(picture, repeated);
    // The output file is opened before the model: a folder that cannot be written to is found out in
    // milliseconds.
    std::unique_ptr<AtomicFile> file;
    if (planned_.overlay) file = std::make_unique<AtomicFile>(*planned_.overlay, overwrite());
    terminal_.step(fmt::format("{}: encoding ...", picture_name(planned_.picture)));
    const auto features = model_.encode(picture, prompts.encode_for(), cancel_);
    terminal_.step(
        fmt::format("{}: looking for {} ...", picture_name(planned_.picture), asked_words(prompts)));
    Result result = segment(*features, prompts);
    result.timings.decode = decode_ms_;
    result.warnings.insert(result.warnings.begin(), picture_warnings_.begin(), picture_warnings_.end());
    write_overlay(picture, prompts, result, file.get());
    print(picture, prompts, result);
  }

 private:
  [[nodiscard]] Overwrite overwrite() const {
    return arguments_.overwrite ? Overwrite::kReplace : Overwrite::kRefuse;
  }

  /// Errors name the picture where there are several: the same prompts may fit the next one.
  RunPrompts placed_on(const Image& picture, std::vector<std::string>& warnings) {
    try {
      return prompts_on(prompts_from(arguments_), arguments_, picture.width, picture.height, warnings);
    } catch (const Error& error) {
      if (arguments_.pictures.size() < 2) throw;
      throw error.with_context(picture_name(planned_.picture));
    }
  }

  Result segment(const EncodedImage& features, const RunPrompts& prompts) {
    Result result;
    if (!prompts.concepts.empty())
      append(result, model_.segment(features, prompts.concepts, {arguments_.threshold, cancel_}));
    if (!prompts.choosing.empty())
      result.instances = choose_by_points(std::move(result.instances), prompts.choosing);
    if (!prompts.objects.empty()) {
      ObjectOptions options;
      options.all_masks = arguments_.all_masks;
      options.cancel = cancel_;
      append(result, model_.segment_objects(features, prompts.objects, options));
    }
    result.instances = select(std::move(result.instances), arguments_.selection);
    return result;
  }

  Image read() {
    cancel_.check();
    terminal_.step(fmt::format("{}: reading ...", picture_name(planned_.picture)));
    const auto start = now();
    DecodeOptions options;
    options.max_pixels = arguments_.max_pixels;
    options.cancel = cancel_;
    options.log = collect_warnings(picture_warnings_);
    Image picture = read_picture_argument(planned_.picture, options).image;
    decode_ms_ = milliseconds_since(start);
    return picture;
  }

  /// Draws on the picture itself: a second copy of a huge one is what a machine may not have room for.
  void write_overlay(Image& picture, const RunPrompts& prompts, Result& result, AtomicFile* file) {
    if (file == nullptr && !planned_.overlay_to_output) return;
    terminal_.step(fmt::format("{}: writing ...", picture_name(planned_.picture)));
    const auto start = now();
    draw_instances(picture, result, prompts);
    cancel_.check();
    const auto bytes = encode_image(picture, planned_.format);
    if (file != nullptr) {
      file->write(bytes);
      file->commit();
    } else {
      terminal_.print_bytes(bytes);
    }
    result.timings.write = milliseconds_since(start);
  }

  void print(const Image& picture, const RunPrompts& prompts, const Result& result) {
    terminal_.clear_step();
    const bool one_of_several = arguments_.pictures.size() > 1;
    for (const std::string& sentence : result.warnings) {
      terminal_.warning(one_of_several ? fmt::format("{}: {}", picture_name(planned_.picture), sentence)
                                       : sentence);
    }
    if (arguments_.json) {
      const ModelInfo& info = model_.info();
      terminal_.print(result_json(result, prompts,
                                  {&info, model_.device(), model_.provider(), path_to_utf8(planned_.picture),
                                   picture.width, picture.height}) +
                      "\n");
    } else if (!planned_.overlay_to_output && arguments_.verbosity != Verbosity::kQuiet) {
      terminal_.print(summary(result, prompts, planned_, picture, model_.device()));
      hint_at_object_box(prompts, result);
    }
  }

  /// Boxes of the two kinds are mistaken for each other more than anything else. Who also gave points or
  /// objects knows of both.
  void hint_at_object_box(const RunPrompts& prompts, const Result& result) {
    const bool box_alone = prompts.concepts.size() == 1 && !prompts.concepts[0].text &&
                           prompts.objects.empty() && prompts.choosing.empty();
    if (!box_alone) return;
    terminal_.note(fmt::format("{}: {} similar found; for just this object use --object-box",
                               picture_name(planned_.picture), result.instances.size()));
  }

  const PlannedPicture& planned_;
  const RunArguments& arguments_;
  Segmenter& model_;
  Terminal& terminal_;
  const CancelToken& cancel_;
  double decode_ms_ = 0;
  std::vector<std::string> picture_warnings_;
};

}  // namespace

void run_one(const PlannedPicture& planned, const RunArguments& arguments, Segmenter& model,
             Terminal& terminal, const CancelToken& cancel) {
  Runner(planned, arguments, model, terminal, cancel).run();
}

}  // namespace samlet::cli
