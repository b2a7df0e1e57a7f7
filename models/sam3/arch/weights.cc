#include "models/sam3/arch/weights.h"

#include <fmt/format.h>

#include "libs/base/file.h"
#include "models/sam3/arch/layout.h"
#include "models/sam3/arch/ledger.h"
#include "models/sam3/arch/names_sam31.h"
#include "models/sam3/arch/names_transformers.h"
#include "models/sam3/arch/unused.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

constexpr std::string_view kPositions = "detector.backbone.vision_backbone.trunk.pos_embed";

class CheckpointWeights final : public Weights {
 public:
  explicit CheckpointWeights(const std::filesystem::path& path) : ledger_(path, "SAM 3") {
    try {
      found_ = find_layout(ledger_.checkpoint().tensors());
    } catch (const Error& error) {
      throw error.with_context(fmt::format("'{}'", path_to_utf8(ledger_.checkpoint().path())));
    }
    for (const UnusedGroup& group : unused_groups(found_.layout)) {
      ledger_.allow_unused(stored_name(group.pattern), std::string(group.reason));
    }
  }

  [[nodiscard]] CheckpointLayout layout() const noexcept override { return found_.layout; }
  [[nodiscard]] const std::filesystem::path& path() const noexcept override {
    return ledger_.checkpoint().path();
  }
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const noexcept override {
    return ledger_.checkpoint().files();
  }

  [[nodiscard]] LazyTensor get(const std::string& name, const Shape& shape) override {
    return ledger_.take(name, recipe_for(name), shape);
  }
  [[nodiscard]] std::optional<Shape> shape_of(const std::string& name) const override {
    return ledger_.shape_of(recipe_for(name));
  }

  void leave_out(Part part, std::string_view reason) override {
    for (const std::string_view pattern : patterns_of(found_.layout, part)) {
      ledger_.allow_unused(stored_name(pattern), std::string(reason));
    }
  }
  [[nodiscard]] std::vector<std::string> unused() const override { return ledger_.unused(); }
  void require_all_accounted() const override { ledger_.require_all_accounted(); }

 private:
  [[nodiscard]] Recipe recipe_for(std::string_view name) const {
    Recipe recipe;
    if (found_.layout == CheckpointLayout::kTransformers) {
      recipe = transformers_recipe(name);
      for (std::string& stored : recipe.stored) stored = stored_name(stored);
      return recipe;
    }
    const std::string stored =
        found_.layout == CheckpointLayout::kMeta31 ? sam31_name(name) : std::string(name);
    if (!stored.empty()) recipe.stored = {stored};
    // transformers stores the table without the row of the class token.
    if (name == kPositions) recipe.op = Recipe::Op::kDropFirstRow;
    return recipe;
  }

  /// The names of a Sam3VideoModel, as this file has them.
  [[nodiscard]] std::string stored_name(std::string_view name) const {
    if (!found_.has_detector_prefix && name.starts_with(kDetectorModel))
      name.remove_prefix(kDetectorModel.size());
    return std::string(name);
  }

  Ledger ledger_;
  FoundLayout found_;
};

}  // namespace

std::unique_ptr<Weights> Weights::open(const std::filesystem::path& path) {
  return std::make_unique<CheckpointWeights>(path);
}

}  // namespace samlet::sam3
