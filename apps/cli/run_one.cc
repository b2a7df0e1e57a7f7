#include "apps/cli/run_one.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "apps/cli/picture_source.h"
#include "apps/cli/result_json.h"
#include "libs/base/clock.h"
#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "libs/engine/overlay.h"
#include "samlet/error.h"

namespace samlet::cli {
namespace {

/// What a person reads as the prompt: "visual", the word the model is asked for boxes alone, says nothing to
/// them.
std::string shown_words(const ConceptPrompt& prompt) {
  return prompt.text ? printable(*prompt.text) : std::string("like the box");
}

/// The same, short enough for a column.
std::string short_words(const ConceptPrompt& prompt) {
  return prompt.text ? first_characters(*prompt.text, 40) : shown_words(prompt);
}

void draw_instances(Image& image, const Result& result, std::span<const ConceptPrompt> prompts) {
  std::vector<OverlayItem> items;
  items.reserve(result.instances.size());
  for (const Instance& instance : result.instances) {
    // The number is that of the listing and of the JSON's "id".
    items.push_back({&instance.mask, instance.box,
                     fmt::format("{} {} {:.2f}", items.size() + 1,
                                 shown_words(prompts[instance.prompt_index]), instance.score)});
  }
  draw_overlay(image, items);
}

/// The result as a person reads it.
std::string summary(const Result& result, std::span<const ConceptPrompt> prompts,
                    const PlannedPicture& planned, const Image& image, const std::string& device) {
  std::string text = fmt::format("{} ({}x{}): {} found", picture_name(planned.picture), image.width,
                                 image.height, result.instances.size());
  if (planned.overlay) text += fmt::format(" -> {}", path_to_utf8(*planned.overlay));
  const Timings& t = result.timings;
  text += fmt::format("   {:.2f} s on {}\n",
                      (t.decode + t.encode + t.language + t.decode_masks + t.write) / 1000, device);
  for (std::size_t i = 0; i < result.instances.size(); ++i) {
    const Instance& found = result.instances[i];
    text += fmt::format("  {:>3}  {:<20}  score {:.3f}  box {:.0f},{:.0f},{:.0f},{:.0f}  area {}\n", i + 1,
                        short_words(prompts[found.prompt_index]), found.score, found.box.x1, found.box.y1,
                        found.box.x2, found.box.y2, found.mask.area());
  }
  return text;
}

class Runner {
 public:
  Runner(const PlannedPicture& planned, const RunArguments& arguments, ConceptSegmenter& model,
         Terminal& terminal, const CancelToken& cancel)
      : planned_(planned), arguments_(arguments), model_(model), terminal_(terminal), cancel_(cancel) {}

  void run() {
    Image picture = read();
    std::vector<ConceptPrompt> given = prompts_from(arguments_);
    if (arguments_.normalized) given = prompts_from_fractions(given, picture.width, picture.height);
    // Here only for what it refuses, before anything is loaded; segment() gives its warnings once more.
    std::vector<std::string> repeated;
    const auto prompts = check_prompts(given, picture.width, picture.height, repeated);
    // The output file is opened before the model: a folder that cannot be written to is found out in
    // milliseconds.
    std::unique_ptr<AtomicFile> file;
    if (planned_.overlay) file = std::make_unique<AtomicFile>(*planned_.overlay, overwrite());
    terminal_.step(fmt::format("{}: encoding ...", picture_name(planned_.picture)));
    const auto features = model_.encode(picture, cancel_);
    terminal_.step(fmt::format(
        "{}: looking for {} ...", picture_name(planned_.picture),
        prompts.size() == 1 ? short_words(prompts[0]) : fmt::format("{} prompts", prompts.size())));
    Result result = model_.segment(*features, given, {arguments_.threshold, cancel_});
    result.timings.decode = decode_ms_;
    result.warnings.insert(result.warnings.begin(), picture_warnings_.begin(), picture_warnings_.end());
    write_overlay(picture, prompts, result, file.get());
    print(picture, prompts, result);
  }

 private:
  [[nodiscard]] Overwrite overwrite() const {
    return arguments_.overwrite ? Overwrite::kReplace : Overwrite::kRefuse;
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
  void write_overlay(Image& picture, std::span<const ConceptPrompt> prompts, Result& result,
                     AtomicFile* file) {
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

  void print(const Image& picture, std::span<const ConceptPrompt> prompts, const Result& result) {
    terminal_.clear_step();
    for (const std::string& sentence : result.warnings) terminal_.warning(sentence);
    if (arguments_.json) {
      const ModelInfo& info = model_.info();
      terminal_.print(result_json(result, prompts,
                                  {&info, model_.device(), model_.provider(), path_to_utf8(planned_.picture),
                                   picture.width, picture.height}) +
                      "\n");
    } else if (!planned_.overlay_to_output && arguments_.verbosity != Verbosity::kQuiet) {
      terminal_.print(summary(result, prompts, planned_, picture, model_.device()));
    }
  }

  const PlannedPicture& planned_;
  const RunArguments& arguments_;
  ConceptSegmenter& model_;
  Terminal& terminal_;
  const CancelToken& cancel_;
  double decode_ms_ = 0;
  std::vector<std::string> picture_warnings_;
};

}  // namespace

std::vector<ConceptPrompt> prompts_from(const RunArguments& arguments) {
  std::vector<ConceptPrompt> prompts;
  for (const std::string& text : arguments.texts) prompts.push_back({text, arguments.boxes});
  if (prompts.empty()) prompts.push_back({std::nullopt, arguments.boxes});
  return prompts;
}

void run_one(const PlannedPicture& planned, const RunArguments& arguments, ConceptSegmenter& model,
             Terminal& terminal, const CancelToken& cancel) {
  Runner(planned, arguments, model, terminal, cancel).run();
}

}  // namespace samlet::cli
