// The weights of one checkpoint under the names of Meta's sam3.pt, whatever layout the file has.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libs/nn/weight_source.h"

namespace samlet::sam3 {

/// Where the names of a checkpoint come from.
enum class CheckpointLayout {
  kMeta,          ///< sam3.pt: detector.*, tracker.*
  kMeta31,        ///< sam3.1_multiplex.pt: tracker.model.*, interactive_convs
  kTransformers,  ///< Sam3VideoModel or Sam3Model safetensors
};

/// Parts that a caller may have no use for.
enum class Part {
  kTextEncoder,   ///< when another one takes its place
  kPointDecoder,  ///< with its neck and whatever else belongs to the tracker
};

/// The weights of a checkpoint, mapped, by Meta's names ("detector.transformer.decoder.norm.weight").
/// One name differs: "...trunk.pos_embed" is given without the row of the class token, [1, 24*24, C].
/// Not thread-safe; the tensors it gave are.
class Weights : public nn::WeightSource {
 public:
  /// Opens a .pt or .safetensors file, a .safetensors.index.json, or a folder that holds one of them.
  /// Errors: kNotFound, kIo; kModelMissing (a folder without a checkpoint, a shard that is not there);
  /// kModelDamaged (not a checkpoint, cut); kModelUnsupported (a checkpoint of another model, naming what it
  /// looks like; several checkpoints in a folder).
  static std::unique_ptr<Weights> open(const std::filesystem::path& path);

  [[nodiscard]] virtual CheckpointLayout layout() const noexcept = 0;
  /// The file that was opened: the checkpoint of a folder, the index of shards.
  [[nodiscard]] virtual const std::filesystem::path& path() const noexcept = 0;
  /// The files that were opened, for hashing: one, or the shards in order.
  [[nodiscard]] virtual const std::vector<std::filesystem::path>& files() const noexcept = 0;

  // From nn::WeightSource: get(name, shape) notes a missing or misshapen tensor and gives zeros instead;
  // shape_of(name) is what the file has, or nothing. Asking for a tensor marks it as used.

  /// The tensors of a part need not be used.
  virtual void leave_out(Part part, std::string_view reason) = 0;

  /// Tensors that are in the file, are unused on purpose, and why; one line a group ("detector...freqs_cis:
  /// recomputed (32)").
  [[nodiscard]] virtual std::vector<std::string> unused() const = 0;

  /// Throws one kModelDamaged that lists every missing, misshapen and unexpected tensor that there is.
  virtual void require_all_accounted() const = 0;
};

}  // namespace samlet::sam3
