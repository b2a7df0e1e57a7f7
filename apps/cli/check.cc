#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/check_json.h"
#include "apps/cli/commands.h"
#include "apps/cli/explain.h"
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
  constexpr std::array<std::string_view, 16> kSuffixes{".jpg",  ".jpeg", ".jpe",  ".png", ".webp", ".tif",
                                                       ".tiff", ".bmp",  ".gif",  ".ppm", ".pgm",  ".pbm",
                                                       ".pnm",  ".heic", ".heif", ".avif"};
  return std::find(kSuffixes.begin(), kSuffixes.end(), lower_case_suffix(path)) != kSuffixes.end();
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
      throw Error(
          ErrorCode::kNotFound,
          fmt::format("there is no picture in '{}' (by the names: .jpg, .png, .tif, ...); name pictures",
                      path_to_utf8(path)));
    }
  }
  return pictures;
}

void require_sense(const CheckArguments& arguments) {
  if (arguments.model.empty())
    throw Error(ErrorCode::kUsage,
                "no model was named; write: samlet check MODEL, or --image FILE for a picture");
  if (!arguments.against.empty() && arguments.images.empty()) {
    throw Error(ErrorCode::kUsage, "--against compares on pictures; give --images FILE_OR_FOLDER");
  }
  if (arguments.against.empty() && !(arguments.images.empty() && arguments.texts.empty())) {
    throw Error(ErrorCode::kUsage, "--images and --text belong to --against FOLDER");
  }
  const auto is_blank = [](const std::string& text) {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
  };
  if (std::any_of(arguments.texts.begin(), arguments.texts.end(), is_blank))
    throw Error(ErrorCode::kUsage, "--text is empty; name a thing, for example --text \"red car\"");
}

/// What can be seen of the other model without loading it, so that a slip is not said after a long check.
/// Errors: kModelMissing.
void require_other(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored)) {
    throw Error(ErrorCode::kModelMissing,
                fmt::format("'{}', named by --against, is no folder; check the path", path_to_utf8(folder)));
  }
  const auto known = families();
  const bool is_model = std::any_of(known.begin(), known.end(),
                                    [&](const Family& family) { return family.recognises(folder); });
  if (is_model) return;
  throw Error(ErrorCode::kModelMissing,
              fmt::format("'{}', named by --against, holds no SAM 3 graphs; give the folder of a model",
                          path_to_utf8(folder)));
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
    std::optional<ModelArgument> other;
    if (!arguments_.against.empty()) require_other(other.emplace(resolve_model(arguments_.against)).folder);
    const std::vector<fs::path> pictures = pictures_of(arguments_.images);
    for (const fs::path& picture : pictures) pictures_.insert(path_to_utf8(picture));
    FolderCheckOptions options;
    options.model = model_options("cpu", arguments_.threads, arguments_.runtime_library, terminal_);
    options.model.aliases = path_from_utf8(arguments_.aliases);
    options.compare_device = arguments_.device;
    options.cancel = cancel_;
    options.found = [this](const CheckLine& line) { take(line); };
    options.step = [this](std::string_view what) { terminal_.step(fmt::format("checking {} ...", what)); };
    check_model_folder(model.folder, options);
    // What is damaged would only be compared to find that out once more.
    if (other && failed_ == 0) compare(model, *other, pictures, options);
    finish();
  }

 private:
  /// Phrases on which two models differ have lines of their own, but are counted with their picture.
  [[nodiscard]] bool is_counted(const CheckLine& line) const {
    return line.part != "against" || line.subject == "all pictures" || pictures_.contains(line.subject);
  }

  void take(const CheckLine& line) {
    if (line.status != CheckStatus::kNote && is_counted(line)) {
      ++looked_at_;
      if (line.status == CheckStatus::kFailed) {
        ++failed_;
        failed_parts_.insert(line.part);
      }
    }
    lines_.push_back(line);
    if (arguments_.json) return;
    if (arguments_.verbosity == Verbosity::kQuiet && line.status != CheckStatus::kFailed) return;
    terminal_.print(
        fmt::format("{:<7} {:<10} {}: {}\n", word_of(line.status), line.part, line.subject, line.message));
  }

  std::unique_ptr<ConceptSegmenter> open(const ModelArgument& model, const std::string& aliases) {
    // The device that was asked about is the one to compare on.
    ModelOptions options = model_options(arguments_.device.empty() ? "cpu" : arguments_.device,
                                         arguments_.threads, arguments_.runtime_library, terminal_);
    options.text_encoder = model.text_encoder;
    options.aliases = path_from_utf8(aliases);
    return open_concept_segmenter(model.folder, options);
  }

  void compare(const ModelArgument& model, const ModelArgument& other, const std::vector<fs::path>& pictures,
               const FolderCheckOptions& options) {
    const auto first = open(model, arguments_.aliases);
    const auto second = open(other, {});
    CompareOptions compare{pictures, arguments_.texts, cancel_, options.found, options.step};
    if (compare.phrases.empty()) compare.phrases.assign(kCommonWords.begin(), kCommonWords.end());
    compare_models(*first, *second, compare);
  }

  /// A folder that is sound by itself need not be exported again.
  [[nodiscard]] std::string next_step() const {
    const std::set<std::string> against{"against"};
    const std::set<std::string> device{"device"};
    if (failed_parts_ == against) {
      return fmt::format(
          "the folder itself is sound, but the comparison with '{}' did not pass, as said above",
          arguments_.against);
    }
    if (failed_parts_ == device) {
      return fmt::format(
          "the folder itself is sound, but not what '{}' makes of it; run it on another device",
          arguments_.device);
    }
    return "export or download what is named above again";
  }

  /// A note about the files says that there are no hashes to compare with.
  [[nodiscard]] bool contents_checked() const {
    return std::none_of(lines_.begin(), lines_.end(), [](const CheckLine& line) {
      return line.status == CheckStatus::kNote && line.part == "files";
    });
  }

  void finish() {
    terminal_.clear_step();
    if (arguments_.json) terminal_.print(check_json(lines_, arguments_.model) + "\n");
    if (failed_ > 0) {
      throw Error(ErrorCode::kModelDamaged, fmt::format("{} of {} checks of '{}' failed; {}", failed_,
                                                        looked_at_, arguments_.model, next_step()));
    }
    if (!arguments_.json && arguments_.verbosity != Verbosity::kQuiet)
      terminal_.print(
          fmt::format("all {} checks passed{}\n", looked_at_,
                      contents_checked() ? "" : "; contents were not checked, for want of hashes"));
  }

  const CheckArguments& arguments_;
  Terminal& terminal_;
  const CancelToken& cancel_;
  std::vector<CheckLine> lines_;
  std::set<std::string> pictures_;  // as the comparison names them
  std::set<std::string> failed_parts_;
  std::size_t looked_at_ = 0;
  std::size_t failed_ = 0;
};

}  // namespace

int check(const CheckArguments& arguments, Terminal& terminal, const CancelToken& cancel) {
  terminal.set_verbosity(arguments.verbosity);
  terminal.require_output(false);
  if (!arguments.explained.empty()) return explain_pictures(arguments, terminal, cancel);
  Checker(arguments, terminal, cancel).run();
  return 0;
}

}  // namespace samlet::cli
