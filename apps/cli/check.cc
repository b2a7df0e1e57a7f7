#include <algorithm>
#include <array>
#include <cctype>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/check_json.h"
#include "apps/cli/commands.h"
#include "apps/cli/model_argument.h"
#include "libs/base/file.h"
#include "libs/engine/compare_models.h"
#include "models/registry.h"
#include "samlet/error.h"
#include "samlet/segmenter.h"

namespace samlet::cli {
namespace {

namespace fs = std::filesystem;

/// What is asked of two models when nothing else is said: things that are in many photos.
constexpr std::array kCommonWords{"person", "dog", "car", "tree", "chair"};

bool is_picture_name(const fs::path& path) {
  std::string suffix = path.extension().native();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return suffix == ".jpg" || suffix == ".jpeg" || suffix == ".png";
}

/// Files as they are, folders as the pictures in them. Errors: kNotFound, kUsage.
std::vector<fs::path> pictures_of(const std::vector<std::string>& named) {
  std::vector<fs::path> pictures;
  for (const std::string& name : named) {
    const fs::path path = path_from_utf8(name);
    std::error_code failed;
    if (!fs::is_directory(path, failed)) {
      if (!fs::exists(path, failed))
        throw Error(ErrorCode::kNotFound,
                    fmt::format("'{}' does not exist; check the path", path_to_utf8(path)));
      pictures.push_back(path);
      continue;
    }
    const std::size_t before = pictures.size();
    for (const auto& entry : fs::directory_iterator(path, failed)) {
      if (is_picture_name(entry.path())) pictures.push_back(entry.path());
    }
    std::sort(pictures.begin() + static_cast<std::ptrdiff_t>(before), pictures.end());
    if (pictures.size() == before) {
      throw Error(ErrorCode::kNotFound,
                  fmt::format("there is no .jpg or .png in '{}'; name pictures", path_to_utf8(path)));
    }
  }
  return pictures;
}

void require_sense(const CheckArguments& arguments) {
  if (!arguments.against.empty() && arguments.images.empty()) {
    throw Error(ErrorCode::kUsage, "--against compares on pictures; give --images FILE_OR_FOLDER");
  }
  if (arguments.against.empty() && !(arguments.images.empty() && arguments.texts.empty())) {
    throw Error(ErrorCode::kUsage, "--images and --text belong to --against FOLDER");
  }
}

const char* word_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::kPassed:
      return "ok";
    case CheckStatus::kFailed:
      return "FAILED";
    case CheckStatus::kNote:
      return "note";
  }
  return "";
}

class Checker {
 public:
  Checker(const CheckArguments& arguments, Terminal& terminal, const CancelToken& cancel)
      : arguments_(arguments), terminal_(terminal), cancel_(cancel) {}

  void run() {
    require_sense(arguments_);
    const ModelArgument model = resolve_model(arguments_.model);
    const std::vector<fs::path> pictures = pictures_of(arguments_.images);
    FolderCheckOptions options;
    options.model = model_options("cpu", arguments_.threads, arguments_.runtime_library, terminal_);
    options.compare_device = arguments_.device;
    options.cancel = cancel_;
    options.found = [this](const CheckLine& line) { take(line); };
    options.step = [this](std::string_view what) { terminal_.step(fmt::format("checking {} ...", what)); };
    check_model_folder(model.folder, options);
    // What is damaged would only be compared to find that out once more.
    if (!arguments_.against.empty() && failed_ == 0) compare(model, pictures, options);
    finish();
  }

 private:
  void take(const CheckLine& line) {
    if (line.status == CheckStatus::kFailed) ++failed_;
    lines_.push_back(line);
    if (arguments_.json) return;
    if (arguments_.verbosity == Verbosity::kQuiet && line.status != CheckStatus::kFailed) return;
    terminal_.print(
        fmt::format("{:<7} {:<10} {}: {}\n", word_of(line.status), line.part, line.subject, line.message));
  }

  std::unique_ptr<ConceptSegmenter> open(const ModelArgument& model) {
    // The device that was asked about is the one to compare on.
    ModelOptions options = model_options(arguments_.device.empty() ? "cpu" : arguments_.device,
                                         arguments_.threads, arguments_.runtime_library, terminal_);
    options.text_encoder = model.text_encoder;
    return open_concept_segmenter(model.folder, options);
  }

  void compare(const ModelArgument& model, const std::vector<fs::path>& pictures,
               const FolderCheckOptions& options) {
    const auto first = open(model);
    const auto second = open(resolve_model(arguments_.against));
    CompareOptions compare{pictures, arguments_.texts, cancel_, options.found, options.step};
    if (compare.phrases.empty()) compare.phrases.assign(kCommonWords.begin(), kCommonWords.end());
    compare_models(*first, *second, compare);
  }

  void finish() {
    terminal_.clear_step();
    if (arguments_.json) terminal_.print(check_json(lines_, arguments_.model) + "\n");
    const auto looked_at = std::count_if(lines_.begin(), lines_.end(), [](const CheckLine& line) {
      return line.status != CheckStatus::kNote;
    });
    if (failed_ > 0) {
      throw Error(ErrorCode::kModelDamaged,
                  fmt::format("{} of {} checks of '{}' failed; export or download what is named above again",
                              failed_, looked_at, arguments_.model));
    }
    if (!arguments_.json && arguments_.verbosity != Verbosity::kQuiet)
      terminal_.print(fmt::format("all {} checks passed\n", looked_at));
  }

  const CheckArguments& arguments_;
  Terminal& terminal_;
  const CancelToken& cancel_;
  std::vector<CheckLine> lines_;
  std::size_t failed_ = 0;
};

}  // namespace

int check(const CheckArguments& arguments, Terminal& terminal, const CancelToken& cancel) {
  terminal.set_verbosity(arguments.verbosity);
  terminal.require_output(false);
  Checker(arguments, terminal, cancel).run();
  return 0;
}

}  // namespace samlet::cli
