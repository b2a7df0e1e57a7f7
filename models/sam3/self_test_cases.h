// The inputs of the self-test, and one graph's trial.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libs/ort/session.h"
#include "models/sam3/folder.h"
#include "models/sam3/foreign.h"

namespace samlet::sam3 {

/// A named tensor that several runs share: made up here, or given by a graph.
struct SharedTensor {
  std::string name;
  std::shared_ptr<const Tensor> tensor;
  std::shared_ptr<const ort::Value> value;

  [[nodiscard]] TensorView view() const { return tensor ? tensor->view() : value->view(); }
  [[nodiscard]] ort::Feed feed() const { return {name, value.get(), tensor.get()}; }
  [[nodiscard]] SharedTensor as(std::string_view other_name) const {
    return {std::string(other_name), tensor, value};
  }
};
using SharedTensors = std::vector<SharedTensor>;

/// The one of that name. Errors: kInternal.
[[nodiscard]] const SharedTensor& named(const SharedTensors& tensors, std::string_view name);

/// A graph's inputs, and what is changed about them one after another.
struct Trial {
  std::filesystem::path graph;
  bool is_image_encoder = false;
  SharedTensors base;
  /// Each takes the place of the input of its name.
  SharedTensors changes;
  std::vector<std::string> outputs;
  /// Outputs that nothing moves: positions, the numbers of prompts.
  std::set<std::string> constant_outputs;
};

/// What a trial gave: the outputs of the base inputs, and those of the last change.
struct TrialOutputs {
  SharedTensors base;
  SharedTensors changed;
};

/// A prompt that ran beside another one; `row` is which it was.
struct BatchTrial {
  Trial trial;  ///< two prompts, no changes
  std::size_t row = 1;
  SharedTensors alone;  ///< the outputs it gave alone
};

/// Runs the trials that the walk asks for.
class TrialRunner {
 public:
  virtual ~TrialRunner() = default;
  virtual TrialOutputs run(const Trial& trial) = 0;
  /// Gives the outputs of both prompts.
  virtual SharedTensors run_batch(const BatchTrial& trial) = 0;
  /// Runs the trial's own inputs only, to find something out; nothing when this runner finds nothing out.
  virtual std::optional<SharedTensors> probe(const Trial& /*trial*/) { return std::nullopt; }
  /// Is told what was found out.
  virtual void found(const Fact& /*fact*/) {}
};

/// walk_graphs of a folder of mapped graphs.
void walk_v050(const Folder& folder, TrialRunner& runner);

/// Walks through all graphs of a folder, in order: each needs what the one before gave.
void walk_graphs(const Folder& folder, TrialRunner& runner);

/// The phrases of the self-test: of different length, so that the other moves features and padding.
inline constexpr std::string_view kTestPhrase = "red circle";
inline constexpr std::string_view kOtherTestPhrase = "a small blue star";

/// Numbers from a seed, the same on every machine: u8 [3, side, side], and f32 in -4..4.
[[nodiscard]] Tensor noise_image(std::int64_t side, std::uint64_t seed);
[[nodiscard]] Tensor noise_logits(Shape shape, std::uint64_t seed);

}  // namespace samlet::sam3
