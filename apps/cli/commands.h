// What the command line says, as plain structs, and one function a command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "apps/cli/terminal.h"
#include "libs/engine/selection.h"
#include "samlet/cancel.h"
#include "samlet/export.h"
#include "samlet/image.h"
#include "samlet/prompt.h"

namespace samlet::cli {

struct RunArguments {
  std::string model;
  std::vector<std::string> pictures;  ///< As given; at least one.
  std::vector<std::string> texts;
  std::vector<ExemplarBox> boxes;   ///< Pixels, or fractions when `normalized`; every text gets all of them.
  std::vector<ObjectPoint> points;  ///< Of one object; with a text or a box they choose among what is found.
  std::vector<Box> object_boxes;    ///< Without points each is an object of its own.
  std::vector<ObjectPrompt> objects;  ///< Whole objects (--object), in their order.
  SelectionOptions selection;
  double threshold = 0.5;
  std::string out;           ///< Empty = default names (none when `json`).
  std::string text_encoder;  ///< Empty = the folder's first; a name or a path.
  std::string aliases;       ///< An alias file; empty = none.
  std::string device = "auto";
  int threads = 0;
  std::uint64_t max_pixels = DecodeOptions{}.max_pixels;
  std::string runtime_library;
  Verbosity verbosity = Verbosity::kNormal;
  bool all_masks = false;
  bool normalized = false;  ///< Points and boxes are fractions of the picture.
  bool json = false;
  bool overwrite = false;
};

struct ExportArguments {
  ExportOptions options;  ///< What the command line says; the runtime, token and sinks come later.
  std::string name;       ///< Instead of a folder: a name in the model store.
  std::string runtime_library;
  Verbosity verbosity = Verbosity::kNormal;
};

struct CheckArguments {
  std::string model;
  std::vector<std::string> explained;  ///< Pictures to explain instead of checking a model.
  std::string device;                  ///< Compared with the CPU; empty = none.
  std::string against;                 ///< Another model, compared on `images` with `texts`; empty = none.
  std::vector<std::string> images;     ///< Files and folders.
  std::vector<std::string> texts;      ///< Empty = a few common words.
  std::string aliases;                 ///< An alias file for `model`; empty = none.
  bool json = false;
  std::uint64_t max_pixels = DecodeOptions{}.max_pixels;
  int threads = 0;
  std::string runtime_library;
  Verbosity verbosity = Verbosity::kNormal;
};

struct DoctorArguments {
  std::string runtime_library;
  Verbosity verbosity = Verbosity::kNormal;
};

struct TokensArguments {
  std::string text;
  std::size_t context = 32;
};

/// `--help` and `--version`: words to print on standard output, nothing else to do.
struct PrintArguments {
  std::string text;
};

using Arguments = std::variant<PrintArguments, RunArguments, CheckArguments, ExportArguments, DoctorArguments,
                               TokensArguments>;

/// Reads the command line. Errors: kUsage, kPromptInvalid (a box that is not four numbers).
[[nodiscard]] Arguments parse_arguments(int argc, const char* const* argv);

/// The commands. They return the exit code of a run that went as far as it could, or throw samlet::Error.
[[nodiscard]] int run(const RunArguments& arguments, Terminal& terminal, const CancelToken& cancel);
[[nodiscard]] int export_checkpoint(const ExportArguments& arguments, Terminal& terminal,
                                    const CancelToken& cancel);
[[nodiscard]] int check(const CheckArguments& arguments, Terminal& terminal, const CancelToken& cancel);
[[nodiscard]] int doctor(const DoctorArguments& arguments, Terminal& terminal);
[[nodiscard]] int tokens(const TokensArguments& arguments, Terminal& terminal);

}  // namespace samlet::cli
