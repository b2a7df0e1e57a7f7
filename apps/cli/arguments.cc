// The only file that includes CLI11: it is slow to compile, and its types stay here.
#include <algorithm>
#include <array>
#include <functional>
#include <span>
#include <string_view>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "apps/cli/commands.h"
#include "apps/cli/prompt_words.h"
#include "libs/base/file.h"
#include "samlet/error.h"
#include "samlet/version.h"

namespace samlet::cli {
namespace {

constexpr std::string_view kExamples = R"(
Examples:
  samlet run ./models/sam3 photo.jpg --text dog
  samlet run ./models/sam3 photo.jpg --text dog --text "red ball" --json
  samlet run ./models/sam3 photo.jpg --box 10,20,200,300
  samlet export sam3.pt --out models/sam3
  samlet doctor

Exit status: 0 done (also when nothing was found), 1 a file or device failed, 2 wrong use or prompt,
3 the model, 4 some of many pictures failed, 130 stopped.
)";

void add_verbose(CLI::App& command, Verbosity& verbosity) {
  command.add_flag_callback(
      "-v,--verbose", [&verbosity] { verbosity = Verbosity::kVerbose; }, "Say what is being done");
}

void add_verbosity(CLI::App& command, Verbosity& verbosity) {
  auto* quiet = command.add_flag_callback(
      "-q,--quiet", [&verbosity] { verbosity = Verbosity::kQuiet; }, "Say nothing but errors");
  command
      .add_flag_callback(
          "-v,--verbose", [&verbosity] { verbosity = Verbosity::kVerbose; }, "Say what is being done")
      ->excludes(quiet);
}

/// CLI11 reads an empty word as "nothing was given" or as 0; from an unset shell variable it is a mistake.
const CLI::Validator& not_empty() {
  static const CLI::Validator kNotEmpty(
      [](const std::string& word) {
        return word.empty() ? std::string("an empty word was given") : std::string();
      },
      "");
  return kNotEmpty;
}

void add_max_pixels(CLI::App& command, std::uint64_t& max_pixels) {
  command.add_option("--max-pixels", max_pixels, "The most pixels a picture may have")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40))
      ->capture_default_str();
}

/// What CLI11 fills, before it is turned into RunArguments.
struct RawRun {
  std::string model;
  std::vector<std::string> pictures;
  std::vector<std::string> images;
  std::vector<std::string> boxes;
  std::vector<std::string> negative_boxes;
  std::vector<std::string> points;
  std::vector<std::string> negative_points;
  std::vector<std::string> object_boxes;
  std::vector<std::string> objects;
  std::string suppression;
};

/// A repeatable option that takes exactly one word each time, whatever the word begins with.
CLI::Option* add_repeatable(CLI::App& command, const std::string& name, std::vector<std::string>& into,
                            const std::string& help) {
  return command.add_option(name, into, help)->allow_extra_args(false)->delimiter('\0');
}

void define_object_prompts(CLI::App& command, RunArguments& run, RawRun& raw) {
  add_repeatable(
      command, "--point,-p", raw.points,
      "Exactly the thing at x,y; repeat for more of it. With --text or --box: keep what it lies on")
      ->type_name("POINT");
  add_repeatable(command, "--negative-point", raw.negative_points,
                 "This is not part of it; or: drop what it lies on")
      ->type_name("POINT");
  add_repeatable(command, "--object-box", raw.object_boxes, "Exactly the thing in this box")
      ->type_name("BOX");
  add_repeatable(command, "--object", raw.objects,
                 "One object of several: 'box=x1,y1,x2,y2;point=x,y;not=x,y', each part as needed")
      ->type_name("OBJECT");
  command.add_flag("--all-masks", run.all_masks, "All three readings of each object, not the best alone");
}

void define_selection(CLI::App& command, RunArguments& run, RawRun& raw) {
  command.add_option("--max", run.selection.most, "Of each prompt, the best so many")
      ->check(not_empty())
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 31))
      ->type_name("COUNT");
  command.add_option("--min-area", run.selection.least_area, "Leave out masks of fewer pixels")
      ->check(not_empty())
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40))
      ->type_name("PIXELS");
  command
      .add_option("--nms", raw.suppression,
                  "Drop what overlaps a better one of the same prompt: iou (by more than 0.7) or containment "
                  "(0.9 of the smaller one)")
      ->check(CLI::IsMember({"iou", "containment"}))
      ->type_name("RULE");
}

void define_prompts(CLI::App& command, RunArguments& run, RawRun& raw) {
  add_repeatable(command, "--text,-t", run.texts, "What to look for; repeat for several phrases")
      ->type_name("PHRASE");
  add_repeatable(command, "--box,-b", raw.boxes,
                 "Find what looks like this: x1,y1,x2,y2 in pixels; goes with every phrase")
      ->type_name("BOX");
  add_repeatable(command, "--negative-box", raw.negative_boxes, "Leave out what looks like this")
      ->type_name("BOX");
  define_object_prompts(command, run, raw);
  command.add_flag("--normalized", run.normalized, "Points and boxes are fractions of the picture, 0 to 1");
  command.add_option("--threshold", run.threshold, "Give instances with a score above this")
      ->check(not_empty())
      ->capture_default_str();
}

void define_outputs(CLI::App& command, RunArguments& run) {
  command.add_option("--out,-o", run.out, "File or folder for the overlay, or - for standard output")
      ->check(not_empty())
      ->type_name("PATH");
  command.add_flag("--json", run.json,
                   "Print the result as JSON, one line a picture; no overlay unless --out is given");
  command.add_flag("--overwrite", run.overwrite, "Replace outputs that exist");
}

void add_aliases(CLI::App& command, std::string& aliases) {
  command
      .add_option("--aliases", aliases,
                  "JSON that says what the tensors of a folder without model.json are for")
      ->check(not_empty())
      ->type_name("FILE");
}

void define_runtime(CLI::App& command, RunArguments& run) {
  command.add_option("--text-encoder", run.text_encoder, "full, s0, ... as the model has it, or a path")
      ->check(not_empty())
      ->type_name("NAME|PATH");
  add_aliases(command, run.aliases);
  command.add_option("--device", run.device, "auto, cpu, cuda, coreml, tensorrt, openvino or webgpu")
      ->check(not_empty())
      ->capture_default_str()
      ->type_name("NAME");
  command.add_option("--threads", run.threads, "Threads; 0 = the processors that may be used")
      ->check(not_empty())
      ->check(CLI::Range(0, 256))
      ->capture_default_str();
  add_max_pixels(command, run.max_pixels);
  command.add_option("--ort-library", run.runtime_library, "The ONNX Runtime library or its folder")
      ->type_name("PATH");
}

void define_run(CLI::App& app, RunArguments& run, RawRun& raw) {
  CLI::App* command = app.add_subcommand("run", "Find things in pictures and draw them");
  command
      ->add_option("model", raw.model,
                   "The model's folder, then pictures; after -- also such that begin with a dash")
      ->type_name("MODEL PICTURE...");
  // Pictures are what CLI11 leaves over: its own lists of words read "[a,b]" as two.
  command->allow_extras();
  add_repeatable(*command, "--image,-i", raw.images, "A picture, as after the model; - is standard input")
      ->type_name("PICTURE");
  define_prompts(*command, run, raw);
  define_selection(*command, run, raw);
  define_outputs(*command, run);
  define_runtime(*command, run);
  add_verbosity(*command, run.verbosity);
  command->footer(std::string(kExamples));
}

/// What CLI11 fills, before it is turned into ExportArguments.
struct RawExport {
  std::string checkpoint;
  std::vector<std::string> text_encoders;
  std::string out;
  bool no_check = false;
};

void define_export(CLI::App& app, ExportArguments& arguments, RawExport& raw) {
  CLI::App* command = app.add_subcommand("export", "Write a checkpoint's graphs into a model folder");
  ExportOptions& options = arguments.options;
  command
      ->add_option("checkpoint", raw.checkpoint,
                   "sam3.pt, a .safetensors file, an index of shards, or a folder")
      ->type_name("CHECKPOINT");
  auto* out =
      command->add_option("--out,-o", raw.out, "The folder to make")->check(not_empty())->type_name("FOLDER");
  command
      ->add_option(
          "--name", arguments.name,
          "Instead of a folder: a name in the model store ($SAMLET_MODELS, ~/.local/share/samlet/models)")
      ->check(not_empty())
      ->type_name("NAME")
      ->excludes(out);
  add_repeatable(*command, "--text-encoder", raw.text_encoders,
                 "Also the small encoder of a LiteText checkpoint")
      ->type_name("FILE");
  command->add_option("--target", options.target, "portable, cpu, cuda, coreml or tensorrt")
      ->check(not_empty())
      ->capture_default_str();
  command
      ->add_option(
          "--layout", options.layout,
          "samlet, or sam3-onnx for programs that run its version 0.3.0 (fp32, one box, threshold 0.5)")
      ->check(not_empty())
      ->capture_default_str();
  command->add_option("--precision", options.precision, "fp32, or fp16: half the size, a little less exact")
      ->check(not_empty())
      ->capture_default_str();
  command->add_option("--size", options.size, "Side of the model's picture; 0 = the checkpoint's own (1008)")
      ->check(CLI::Range(0, 1 << 20))
      ->capture_default_str();
  command->add_flag("--no-check", raw.no_check, "Do not run the graphs once at the end");
  command->add_flag("--overwrite", options.overwrite, "Replace a folder that exists");
  command->add_option("--ort-library", arguments.runtime_library, "The ONNX Runtime library or its folder")
      ->type_name("PATH");
  add_verbosity(*command, arguments.verbosity);
}

ExportArguments finish_export(ExportArguments arguments, const RawExport& raw) {
  if (raw.checkpoint.empty()) {
    throw Error(ErrorCode::kUsage, "no checkpoint was named; write: samlet export CHECKPOINT --out FOLDER");
  }
  if (raw.out.empty() && arguments.name.empty()) {
    throw Error(ErrorCode::kUsage, "nowhere to export to; write: samlet export CHECKPOINT --out FOLDER");
  }
  arguments.options.checkpoint = path_from_utf8(raw.checkpoint);
  arguments.options.out = path_from_utf8(raw.out);
  arguments.options.self_test = !raw.no_check;
  for (const std::string& file : raw.text_encoders)
    arguments.options.text_encoders.push_back(path_from_utf8(file));
  return arguments;
}

void define_check(CLI::App& app, CheckArguments& check) {
  CLI::App* command = app.add_subcommand("check", "Verify a model folder: files, contract, self-test");
  command->add_option("model", check.model, "The model's folder")->type_name("MODEL");
  add_repeatable(*command, "--image,-i", check.explained,
                 "Instead of a model: explain how this picture is read; repeat for more; - is standard input")
      ->check(not_empty())
      ->type_name("PICTURE");
  command->add_option("--device", check.device, "Compare this device with the CPU, graph by graph")
      ->check(not_empty())
      ->type_name("NAME");
  command->add_option("--against", check.against, "Compare with this model on pictures")
      ->check(not_empty())
      ->type_name("MODEL");
  command->add_option("--images", check.images, "Pictures and folders of pictures for --against")
      ->delimiter('\0')
      ->type_name("PATH...");
  add_repeatable(*command, "--text,-t", check.texts, "What to look for in them")->type_name("PHRASE");
  add_aliases(*command, check.aliases);
  command->add_flag("--json", check.json, "Print what was found as JSON");
  add_max_pixels(*command, check.max_pixels);
  command->add_option("--threads", check.threads, "Threads; 0 = the processors that may be used")
      ->check(CLI::Range(0, 256));
  command->add_option("--ort-library", check.runtime_library, "The ONNX Runtime library or its folder")
      ->type_name("PATH");
  add_verbosity(*command, check.verbosity);
}

void define_doctor(CLI::App& app, DoctorArguments& doctor) {
  CLI::App* command = app.add_subcommand("doctor", "Show what this machine can run, and why not the rest");
  command->add_option("--ort-library", doctor.runtime_library, "The ONNX Runtime library or its folder")
      ->type_name("PATH");
  add_verbose(*command, doctor.verbosity);
}

void define_tokens(CLI::App& app, TokensArguments& tokens) {
  CLI::App* command = app.add_subcommand("tokens", "Print the token ids of a phrase, start and end included");
  command->add_option("text", tokens.text, "The phrase")->required()->type_name("TEXT");
  command->add_option("--context", tokens.context, "The most ids")
      ->check(CLI::Range(2, 4096))
      ->capture_default_str();
}

/// The words after "--", which CLI11 refuses once a subcommand has its first positional. A "--" that is the
/// value of an option ("--text --") is not meant.
std::span<const char* const> take_words_after_dashes(std::span<const char* const>& words) {
  constexpr std::array<std::string_view, 11> kFlags{
      "--all-masks",  "-h", "--help",  "--help-all", "--json",   "--overwrite",
      "--normalized", "-q", "--quiet", "-v",         "--verbose"};
  if (words.size() < 2 || std::string_view(words[1]) != "run") return {};
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") {
      const auto after = words.subspan(i + 1);
      words = words.first(i);
      return after;
    }
    const bool is_option = word.starts_with("--") ? word.find('=') == std::string_view::npos
                                                  : word.size() == 2 && word.front() == '-';
    const bool is_flag = std::find(kFlags.begin(), kFlags.end(), word) != kFlags.end();
    if (is_option && !is_flag) ++i;  // the next word is its value
  }
  return {};
}

/// Words that belong to no option, as pictures. Errors: kUsage for what looks like an option.
std::vector<std::string> pictures_among(const std::vector<std::string>& left_over) {
  for (const std::string& word : left_over) {
    if (word.size() < 2 || word.front() != '-') continue;
    throw Error(
        ErrorCode::kUsage,
        fmt::format("there is no option '{}'. Run 'samlet run --help' to see what can be asked", word));
  }
  return left_over;
}

RunArguments finish_run(RunArguments run, RawRun raw, std::span<const char* const> after_dashes) {
  if (raw.model.empty() && !after_dashes.empty()) {
    raw.model = after_dashes.front();
    after_dashes = after_dashes.subspan(1);
  }
  raw.pictures.insert(raw.pictures.end(), after_dashes.begin(), after_dashes.end());
  if (raw.model.empty()) {
    throw Error(ErrorCode::kUsage, "no model was named; write: samlet run MODEL PICTURE --text PHRASE");
  }
  run.model = raw.model;
  run.pictures = raw.pictures;
  run.pictures.insert(run.pictures.end(), raw.images.begin(), raw.images.end());
  if (run.pictures.empty()) {
    throw Error(ErrorCode::kUsage, "no picture was named; write: samlet run MODEL PICTURE --text PHRASE");
  }
  for (const std::string& text : raw.boxes) run.boxes.push_back({parse_box(text), true});
  for (const std::string& text : raw.negative_boxes) run.boxes.push_back({parse_box(text), false});
  for (const std::string& text : raw.points) run.points.push_back({parse_point(text), true});
  for (const std::string& text : raw.negative_points) run.points.push_back({parse_point(text), false});
  for (const std::string& text : raw.object_boxes) run.object_boxes.push_back(parse_box(text));
  for (const std::string& text : raw.objects) run.objects.push_back(parse_object(text));
  if (raw.suppression == "iou") run.selection.suppression = Suppression::kIou;
  if (raw.suppression == "containment") run.selection.suppression = Suppression::kContainment;
  const bool asks = !run.texts.empty() || !run.boxes.empty() || !run.points.empty() ||
                    !run.object_boxes.empty() || !run.objects.empty();
  if (!asks) {
    throw Error(ErrorCode::kUsage,
                "nothing was asked for; give --text PHRASE, --box x1,y1,x2,y2 or --point x,y");
  }
  return run;
}

/// CLI11 does not know of the pictures, which are what it leaves over.
std::string with_pictures_in_usage(std::string help) {
  constexpr std::string_view kModelAlone = "[model]";
  const std::size_t at = help.find(kModelAlone);
  if (at != std::string::npos) help.replace(at, kModelAlone.size(), "MODEL PICTURE...");
  return help;
}

std::string unknown_command(std::span<const char* const> words) {
  constexpr std::string_view kCommands =
      "the commands are run, export, check, doctor and tokens. Run 'samlet --help' to see what they do";
  if (words.size() < 2) return fmt::format("no command was given; {}", kCommands);
  return fmt::format("'{}' is no command; {}", words[1], kCommands);
}

}  // namespace

Arguments parse_arguments(int argc, const char* const* argv) {
  CLI::App app{
      "Segment every thing in a picture that matches a phrase or a box, with Meta's SAM 3, on this machine."};
  app.name("samlet");
  app.set_help_all_flag("--help-all", "Help for every command");
  app.set_version_flag("--version", fmt::format("samlet {}", version()));
  app.require_subcommand(1);
  RunArguments run;
  RawRun raw;
  ExportArguments exported;
  RawExport raw_export;
  CheckArguments check;
  DoctorArguments doctor;
  TokensArguments tokens;
  define_run(app, run, raw);
  define_export(app, exported, raw_export);
  define_check(app, check);
  define_doctor(app, doctor);
  define_tokens(app, tokens);
  app.footer(std::string(kExamples));  // after the commands, which would inherit it
  std::span<const char* const> words(argv, static_cast<std::size_t>(argc));
  const auto after_dashes = take_words_after_dashes(words);
  try {
    app.parse(static_cast<int>(words.size()), argv);
  } catch (const CLI::CallForHelp&) {
    return PrintArguments{with_pictures_in_usage(app.help())};
  } catch (const CLI::CallForAllHelp&) {
    return PrintArguments{app.help("", CLI::AppFormatMode::All)};
  } catch (const CLI::CallForVersion&) {
    return PrintArguments{fmt::format("samlet {}\n", version())};
  } catch (const CLI::RequiredError& error) {
    // Of a command that is known something else is missing.
    const bool is_command = !app.get_subcommands().empty();
    throw Error(ErrorCode::kUsage, is_command
                                       ? fmt::format("{}\nRun 'samlet {} --help' to see what can be asked",
                                                     error.what(), words[1])
                                       : unknown_command(words));
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{}\nRun 'samlet --help' to see what can be asked", error.what()));
  }
  raw.pictures = pictures_among(app.get_subcommand("run")->remaining());
  if (app.got_subcommand("run")) return finish_run(std::move(run), raw, after_dashes);
  if (app.got_subcommand("export")) return finish_export(std::move(exported), raw_export);
  if (app.got_subcommand("check")) return check;
  if (app.got_subcommand("doctor")) return doctor;
  return tokens;
}

}  // namespace samlet::cli
