// Keeps account of a checkpoint's tensors: which were used, which were asked for in vain, which nobody asked
// for.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libs/checkpoint/checkpoint.h"
#include "libs/tensor/lazy_tensor.h"
#include "models/sam3/arch/recipe.h"

namespace samlet::sam3 {

/// Not thread-safe; the tensors it gave are.
class Ledger {
 public:
  /// `model` is what the checkpoint should be ("SAM 3"), for errors. Errors: those of Checkpoint.
  Ledger(const std::filesystem::path& path, std::string_view model) : checkpoint_(path), model_(model) {}

  [[nodiscard]] const checkpoint::Checkpoint& checkpoint() const noexcept { return checkpoint_; }

  /// The tensor that the recipe makes, which must have that shape; `name` is what the caller calls it. What
  /// is wrong is noted, and zeros stand in.
  [[nodiscard]] LazyTensor take(const std::string& name, const Recipe& recipe, const Shape& shape);
  /// The shape of what the recipe makes; nothing when a part is missing or does not suit it.
  [[nodiscard]] std::optional<Shape> shape_of(const Recipe& recipe) const;

  /// Tensors whose stored names fit the pattern need not be used. The first group that fits gives the reason.
  void allow_unused(const std::string& pattern, std::string reason);
  /// The same for names that no pattern tells; `label` stands for them.
  void allow_unused(std::string label, std::string reason, std::function<bool(std::string_view)> holds);
  /// As Weights::unused and Weights::require_all_accounted.
  [[nodiscard]] std::vector<std::string> unused() const;
  void require_all_accounted() const;

 private:
  struct Group {
    std::string label;
    std::string reason;
    std::function<bool(std::string_view)> holds;
  };

  [[nodiscard]] std::vector<const checkpoint::TensorInfo*> parts_of(const Recipe& recipe) const;
  [[nodiscard]] std::string fault_in(const Recipe& recipe, const Shape& wanted) const;
  [[nodiscard]] LazyTensor make(const Recipe& recipe, const Shape& shape) const;
  [[nodiscard]] const Group* group_of(std::string_view stored) const;

  checkpoint::Checkpoint checkpoint_;
  std::string model_;
  std::vector<Group> groups_;
  std::set<std::string, std::less<>> used_;       // by stored name
  std::map<std::string, std::string> missing_;    // by asked name: a line
  std::map<std::string, std::string> misshapen_;  // by asked name: a line
};

}  // namespace samlet::sam3
