// The weights of a SAM3-LiteText text encoder: a student of MobileCLIP's family in the place of SAM 3's own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "libs/nn/weight_source.h"

namespace samlet::sam3 {

enum class LiteTextVariant { kS0, kS1, kL };

/// "s0", "s1", "l"
[[nodiscard]] std::string_view name_of(LiteTextVariant variant) noexcept;

/// The released values of s0, s1 and l stand behind each.
struct LiteTextDimensions {
  LiteTextVariant variant = LiteTextVariant::kS0;
  std::int64_t width = 0;       ///< 512, 512, 768
  std::int64_t mlp = 0;         ///< 4 * width
  std::int64_t layers = 0;      ///< 6, 12, 12: blocks of both kinds
  std::int64_t heads = 0;       ///< 8, 8, 12
  std::int64_t kernel = 0;      ///< 11, of the convolutions along the text; 0 without RepMixer blocks
  std::int64_t rows = 0;        ///< 16, 32 or 77, of the position table
  std::int64_t vocabulary = 0;  ///< 49408
  std::int64_t output = 0;      ///< D of the detector, 256
  std::vector<std::int64_t> repmixer_blocks;  ///< 0 and 5 of s0; all others are transformers
};

/// The student's tensors by their published names without "detector.backbone.language_backbone.":
/// "encoder.transformer.0.layer_scale", "projector.weight". Not thread-safe; the tensors it gave are.
class LiteTextWeights : public nn::WeightSource {
 public:
  /// Opens a checkpoint of the student alone or a whole one with a student in it, the authors' or
  /// transformers'. A config.json beside the file, where there is one, tells the attention heads. Errors: as
  /// Weights::open; kModelUnsupported also when the checkpoint has SAM 3's own text encoder or none.
  static std::unique_ptr<LiteTextWeights> open(const std::filesystem::path& path);

  [[nodiscard]] virtual const LiteTextDimensions& dimensions() const noexcept = 0;
  [[nodiscard]] virtual const std::filesystem::path& path() const noexcept = 0;
  /// As in Weights.
  [[nodiscard]] virtual const std::vector<std::filesystem::path>& files() const noexcept = 0;
  [[nodiscard]] virtual std::vector<std::string> unused() const = 0;
  virtual void require_all_accounted() const = 0;
};

}  // namespace samlet::sam3
