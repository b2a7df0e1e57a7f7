#include "models/sam3/check.h"

#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "models/sam3/contract.h"
#include "models/sam3/figures.h"
#include "models/sam3/folder_layouts.h"
#include "models/sam3/foreign.h"
#include "models/sam3/self_test.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

/// True for what is wrong with the folder, and not with the machine.
bool blames_the_folder(ErrorCode code) {
  switch (code) {
    case ErrorCode::kModelMissing:
    case ErrorCode::kModelDamaged:
    case ErrorCode::kModelUnsupported:
    case ErrorCode::kInternal:
      return true;
    default:
      return false;
  }
}

class FolderChecker {
 public:
  FolderChecker(const fs::path& folder, const FolderCheckOptions& options)
      : folder_(folder), options_(options) {}

  void run() {
    std::error_code ignored;
    if (fs::exists(fs::symlink_status(folder_ / kManifestFile, ignored))) {
      manifest_ = read_manifest(folder_);
      if (!check_files(folder_, *manifest_, options_)) {
        leave_out("contract, self-test", "the files");
        return;
      }
    } else {
      say("files", "all", CheckStatus::kNote,
          fmt::format("there is no {}, so contents cannot be checked", kManifestFile));
    }
    check_contract();
    if (!sound_) {
      leave_out("self-test", "the contract");
      return;
    }
    self_test();
    if (!options_.compare_device.empty()) device();
  }

 private:
  void say(const char* part, const std::string& subject, CheckStatus status, std::string message,
           std::vector<std::pair<std::string, double>> numbers = {}) {
    sound_ = sound_ && status != CheckStatus::kFailed;
    if (options_.found) options_.found({part, subject, status, std::move(message), std::move(numbers)});
  }

  void leave_out(const char* parts, const char* because) {
    say("self-test", parts, CheckStatus::kNote, fmt::format("left out, because {} failed", because));
  }

  /// Runs one look at the folder; what it refuses becomes a failed line. An empty `passed` says nothing.
  void look(const char* part, const std::string& subject, const std::string& passed,
            const std::function<void()>& call) {
    try {
      call();
      if (!passed.empty()) say(part, subject, CheckStatus::kPassed, passed);
    } catch (const Error& error) {
      if (!blames_the_folder(error.code())) throw;
      say(part, subject, CheckStatus::kFailed, error.what());
    }
  }

  void check_contract() {
    if (!manifest_) {
      look("contract", "all graphs", "", [&] {
        const Folder opened = open_folder(folder_, {}, options_.model.aliases);
        if (opened.foreign) {
          tell_mapping(*opened.foreign);
        } else {
          say("contract", "all graphs", CheckStatus::kPassed,
              "inputs and outputs are those of sam3-onnx v0.3.0 and fit together");
        }
      });
      return;
    }
    const Manifest& m = *manifest_;
    const std::string passed = fmt::format("inputs and outputs are those of contract {}", v1::kVersion);
    look("contract", std::string(kImageEncoderFile), passed,
         [&] { (void)read_v1_image_encoder(folder_, m); });
    for (const ManifestTextEncoder& encoder : m.text_encoders) {
      look("contract", encoder.file, passed, [&] { (void)open_v1(folder_, encoder.name); });
    }
    look("contract", std::string(kDecoderFile), passed, [&] { (void)read_v1_decoder(folder_, m); });
    if (m.graphs.contains(std::string(kPointDecoderFile))) {
      look("contract", std::string(kPointDecoderFile), passed, [&] {
        require_v1_point_decoder_fits(read_v1_image_encoder(folder_, m), read_v1_point_decoder(folder_, m));
      });
    }
  }

  /// What each tensor was taken for, and what is known beside.
  void tell_mapping(const ForeignModel& model) {
    for (const MappedGraph* graph :
         {&model.image, &model.language, &model.decoder, model.points ? &*model.points : nullptr}) {
      if (graph == nullptr) continue;
      for (const MappedTensor& input : graph->inputs)
        say("contract", graph->file.name(), CheckStatus::kNote, "takes " + describe(input));
      for (const MappedTensor& output : graph->outputs)
        say("contract", graph->file.name(), CheckStatus::kNote, "gives " + describe(output));
    }
    tell_facts("contract", model.facts);
    if (model.has_bad_points)
      say("contract", std::string(kPointDecoderFile), CheckStatus::kFailed, model.no_points);
    say("contract", "all graphs", CheckStatus::kPassed,
        model.points ? "every input has a role, and the graphs fit together"
                     : "every input for text and boxes has a role, and the graphs fit together");
  }

  void tell_facts(const char* part, const std::vector<Fact>& facts) {
    for (const Fact& fact : facts)
      say(part, fact.name, CheckStatus::kNote, fmt::format("{} ({})", fact.value, fact.whence));
  }

  [[nodiscard]] SelfTestOptions test_options(const std::string& device) const {
    SelfTestOptions test{options_.model, options_.cancel, options_.step};
    test.model.device = device;
    return test;
  }

  void self_test() {
    look("self-test", "all graphs", "", [&] {
      const SelfTestReport report = run_self_test(folder_, test_options("cpu"));
      std::map<std::string, std::vector<std::string>> wrong;
      for (const SelfTestFault& fault : report.faults) wrong[fault.graph].push_back(fault.what);
      for (const auto& [graph, outputs] : report.test.figures) {
        tell_graph(graph, wrong[graph], outputs.size(), !report.unjudged.contains(graph));
      }
      compare_figures(report.test.figures);
      tell_facts("self-test", report.facts);
    });
  }

  void tell_graph(const std::string& graph, const std::vector<std::string>& wrong, std::size_t outputs,
                  bool judged) {
    for (const std::string& what : wrong) say("self-test", graph, CheckStatus::kFailed, what);
    if (wrong.empty()) {
      say("self-test", graph, CheckStatus::kPassed,
          fmt::format(
              "its {} outputs are finite{}", outputs,
              judged ? ", and every input matters" : "; whether its inputs matter cannot be seen here"));
    }
  }

  void compare_figures(const SelfTestFigures& found) {
    if (!manifest_) return;
    if (!manifest_->self_test) {
      say("self-test", "figures", CheckStatus::kNote,
          "the export was not checked, so there are none to compare");
      return;
    }
    const double tolerance = figure_tolerance(manifest_->precision);
    const auto sentences = figure_differences(manifest_->self_test->figures, found, tolerance);
    for (const std::string& sentence : sentences) say("self-test", "figures", CheckStatus::kFailed, sentence);
    if (sentences.empty()) {
      say("self-test", "figures", CheckStatus::kPassed,
          fmt::format("means, deviations and magnitudes are those of the export within {:g}", tolerance));
    }
  }

  void device() {
    look("device", options_.compare_device, "", [&] {
      for (const DeviceDifference& row : compare_device(folder_, test_options(options_.compare_device))) {
        const bool within = row.difference <= row.bound;
        say("device", fmt::format("{} {}", row.graph, row.output),
            within ? CheckStatus::kPassed : CheckStatus::kFailed,
            fmt::format("differs from the CPU's by {:.2g}, {:g} is allowed", row.difference, row.bound),
            {{"difference", row.difference}, {"bound", row.bound}});
      }
    });
  }

  const fs::path& folder_;
  const FolderCheckOptions& options_;
  std::optional<Manifest> manifest_;
  bool sound_ = true;
};

}  // namespace

void check_folder(const fs::path& folder, const FolderCheckOptions& options) {
  FolderChecker(folder, options).run();
}

}  // namespace samlet::sam3
