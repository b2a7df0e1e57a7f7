#include "models/sam3/self_test.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/file.h"
#include "models/sam3/contract.h"
#include "models/sam3/figures.h"
#include "models/sam3/graph_runner.h"
#include "models/sam3/self_test_cases.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

/// Outputs that are nearly nothing are compared as if they were this large.
constexpr double kLeastScale = 0.05;
/// Anything a changed input does is larger than the rounding of a sum made in another order.
constexpr double kMoved = 1e-6;

std::string file_name(const std::filesystem::path& graph) {
  return path_to_utf8(graph.filename());
}

SharedTensors run_once(GraphRunner& runner, const Trial& trial, const SharedTensors& inputs,
                       const CancelToken& cancel) {
  std::vector<ort::Feed> feeds;
  for (const SharedTensor& input : inputs) feeds.push_back(input.feed());
  SharedTensors outputs;
  std::size_t i = 0;
  for (ort::Value& value : runner.run(trial.graph, trial.is_image_encoder, feeds, trial.outputs, cancel)) {
    outputs.push_back({trial.outputs[i++], nullptr, std::make_shared<const ort::Value>(std::move(value))});
  }
  return outputs;
}

bool moved(const TensorView& before, const TensorView& after) {
  const auto apart = difference(after, before);
  return !apart || *apart > kMoved;
}

/// The part of an output of two prompts that belongs to one of them; nothing when it is not made of rows.
std::optional<TensorView> part_of(const SharedTensor& output, const SharedTensors& outputs, std::size_t row) {
  const TensorView all = output.view();
  if (all.shape().empty()) return std::nullopt;
  const auto index = std::find_if(outputs.begin(), outputs.end(),
                                  [](const SharedTensor& t) { return t.name == v1::kPromptIndex; });
  std::size_t begin = row;
  std::size_t end = row + 1;
  // Instances say whose they are; everything else has one row a prompt.
  if (index != outputs.end() && output.name != v1::kPresence) {
    const TensorView prompts = index->view();
    const auto numbers = prompts.as<std::int64_t>();
    const auto [first, last] =
        std::equal_range(numbers.begin(), numbers.end(), static_cast<std::int64_t>(row));
    begin = static_cast<std::size_t>(first - numbers.begin());
    end = static_cast<std::size_t>(last - numbers.begin());
  }
  Shape shape = all.shape();
  const auto rows = static_cast<std::size_t>(shape[0]);
  if (end > rows) return std::nullopt;
  shape[0] = static_cast<std::int64_t>(end - begin);
  const std::size_t stride = rows == 0 ? 0 : all.bytes().size() / rows;
  return TensorView(all.dtype(), std::move(shape),
                    all.bytes().subspan(begin * stride, (end - begin) * stride));
}

/// Runs trials and notes what is wrong.
class Tester final : public TrialRunner {
 public:
  Tester(const Folder& folder, const SelfTestOptions& options)
      : options_(options),
        runner_(options.model, folder.manifest ? folder.manifest->minimum_runtime : std::string()),
        tolerance_(figure_tolerance(folder.info.precision)) {}

  TrialOutputs run(const Trial& trial) override {
    const std::string graph = file_name(trial.graph);
    if (options_.step) options_.step(graph);
    TrialOutputs outputs;
    outputs.base = run_once(runner_, trial, trial.base, options_.cancel);
    note_figures(graph, trial, outputs.base);
    if (trial.changes.empty()) report_.unjudged.insert(graph);
    std::set<std::string> still(trial.outputs.begin(), trial.outputs.end());
    for (const SharedTensor& change : trial.changes) {
      SharedTensors inputs = trial.base;
      for (SharedTensor& input : inputs) {
        if (input.name == change.name) input = change;
      }
      outputs.changed = run_once(runner_, trial, inputs, options_.cancel);
      note_moves(graph, change.name, outputs, still);
    }
    if (trial.is_image_encoder) {
      runner_.close(trial.graph);  // its features are all that the others need
      note_places(graph, trial, outputs);
    }
    for (const std::string& output : trial.constant_outputs) still.erase(output);
    for (const std::string& output : still) {
      if (!trial.changes.empty()) fault(graph, fmt::format("its output '{}' is always the same", output));
    }
    return outputs;
  }

  SharedTensors run_batch(const BatchTrial& batch) override {
    const std::string graph = file_name(batch.trial.graph);
    SharedTensors outputs = run_once(runner_, batch.trial, batch.trial.base, options_.cancel);
    for (const SharedTensor& output : outputs) {
      if (output.name == v1::kPromptIndex) continue;
      const auto part = part_of(output, outputs, batch.row);
      const auto apart =
          part ? difference(*part, named(batch.alone, output.name).view(), kLeastScale) : std::nullopt;
      if (!apart || *apart > tolerance_) {
        fault(graph, fmt::format("a prompt among others does not give what it gives alone (output '{}')",
                                 output.name));
      }
    }
    return outputs;
  }

  std::optional<SharedTensors> probe(const Trial& trial) override {
    return run_once(runner_, trial, trial.base, options_.cancel);
  }

  void found(const Fact& fact) override { report_.facts.push_back(fact); }

  SelfTestReport finish() {
    report_.test.runtime = runner_.runtime_version();
    return std::move(report_);
  }

 private:
  void fault(const std::string& graph, std::string what) {
    report_.faults.push_back({graph, std::move(what)});
  }

  void note_figures(const std::string& graph, const Trial& trial, const SharedTensors& outputs) {
    for (const SharedTensor& output : outputs) {
      const TensorView view = output.view();
      if (!is_finite(view)) {
        fault(graph, fmt::format("its output '{}' has numbers that are not finite", output.name));
        continue;
      }
      if (view.count() == 0 && !trial.changes.empty())
        fault(graph,
              fmt::format("its output '{}' is empty although nothing was to be left out", output.name));
      report_.test.figures[graph][output.name] = figures_of(view);
    }
  }

  void note_moves(const std::string& graph, const std::string& input, const TrialOutputs& outputs,
                  std::set<std::string>& still) {
    bool any = false;
    for (const SharedTensor& output : outputs.base) {
      if (!moved(output.view(), named(outputs.changed, output.name).view())) continue;
      any = true;
      still.erase(output.name);
    }
    if (!any) fault(graph, fmt::format("its input '{}' changes nothing", input));
  }

  void note_places(const std::string& graph, const Trial& trial, const TrialOutputs& outputs) {
    for (const SharedTensor& output : outputs.base) {
      if (trial.constant_outputs.contains(output.name)) continue;
      const std::size_t equal = equal_places(output.view(), named(outputs.changed, output.name).view());
      if (equal > 0)
        fault(graph,
              fmt::format("{} places of its output '{}' are the same for every picture", equal, output.name));
    }
  }

  const SelfTestOptions& options_;
  GraphRunner runner_;
  double tolerance_;
  SelfTestReport report_;
};

ModelOptions on_device(const ModelOptions& options, std::string device) {
  ModelOptions changed = options;
  changed.device = std::move(device);
  return changed;
}

/// Runs each trial's own inputs on the CPU and on the device, both times with the CPU's features.
class DeviceComparer final : public TrialRunner {
 public:
  DeviceComparer(const Folder& folder, const SelfTestOptions& options)
      : options_(options),
        cpu_(on_device(options.model, "cpu"), minimum(folder)),
        device_(options.model, minimum(folder)),
        bound_(folder.info.precision == "fp32" ? kSingleBound : kHalfBound) {}

  TrialOutputs run(const Trial& trial) override {
    const std::string graph = file_name(trial.graph);
    if (options_.step) options_.step(graph);
    const SharedTensors expected = run_once(cpu_, trial, trial.base, options_.cancel);
    if (trial.is_image_encoder) cpu_.close(trial.graph);
    const SharedTensors found = run_once(device_, trial, trial.base, options_.cancel);
    if (trial.is_image_encoder) device_.close(trial.graph);
    for (const SharedTensor& output : expected) {
      const auto apart = difference(named(found, output.name).view(), output.view(), kLeastScale);
      differences_.push_back(
          {graph, output.name, apart.value_or(std::numeric_limits<double>::infinity()), bound_});
    }
    return {expected, expected};
  }

  SharedTensors run_batch(const BatchTrial& batch) override {
    return run_once(cpu_, batch.trial, batch.trial.base, options_.cancel);
  }

  std::vector<DeviceDifference> finish() { return std::move(differences_); }

 private:
  // GPUs multiply f32 matrices in TF32 (10 bits) unless told otherwise, and sum in another order.
  static constexpr double kSingleBound = 0.01;
  static constexpr double kHalfBound = 0.05;

  static std::string minimum(const Folder& folder) {
    return folder.manifest ? folder.manifest->minimum_runtime : std::string();
  }

  const SelfTestOptions& options_;
  GraphRunner cpu_;
  GraphRunner device_;
  double bound_;
  std::vector<DeviceDifference> differences_;
};

}  // namespace

double figure_tolerance(const std::string& precision) {
  return precision == "fp32" ? 1e-3 : 2e-2;
}

SelfTestReport run_self_test(const std::filesystem::path& folder, const SelfTestOptions& options) {
  const Folder opened = open_folder(folder, {}, options.model.aliases);
  Tester tester(opened, options);
  walk_graphs(opened, tester);
  return tester.finish();
}

ManifestSelfTest require_self_test(const std::filesystem::path& folder, const SelfTestOptions& options) {
  SelfTestReport report = run_self_test(folder, options);
  if (report.faults.empty()) return std::move(report.test);
  std::vector<std::string> sentences;
  for (const SelfTestFault& fault : report.faults)
    sentences.push_back(fmt::format("'{}': {}", fault.graph, fault.what));
  throw Error(ErrorCode::kModelDamaged, fmt::format("the graphs in '{}' do not pass their self-test: {}",
                                                    path_to_utf8(folder), fmt::join(sentences, "; ")));
}

std::vector<DeviceDifference> compare_device(const std::filesystem::path& folder,
                                             const SelfTestOptions& options) {
  const Folder opened = open_folder(folder, {}, options.model.aliases);
  DeviceComparer comparer(opened, options);
  walk_graphs(opened, comparer);
  return comparer.finish();
}

}  // namespace samlet::sam3
