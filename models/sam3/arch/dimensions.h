// Every number of the architecture, read from a checkpoint's tensors and, where they do not say, its
// config.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "models/sam3/arch/weights.h"

namespace samlet::sam3 {

/// The released model's value stands behind each.
struct VisionDimensions {
  std::int64_t image = 0;                   ///< S, side of the picture, 1008
  std::int64_t patch = 0;                   ///< 14
  std::int64_t pretrain_grid = 0;           ///< side of the stored position table, 24
  std::int64_t window = 0;                  ///< side of an attention window in patches, 24
  std::int64_t width = 0;                   ///< C, 1024
  std::int64_t mlp = 0;                     ///< 4736
  std::int64_t depth = 0;                   ///< 32
  std::int64_t heads = 0;                   ///< 16
  std::vector<std::int64_t> global_blocks;  ///< 7, 15, 23, 31

  [[nodiscard]] std::int64_t grid() const noexcept { return image / patch; }  ///< g, 72
};

/// All 0 when the checkpoint has no text encoder of SAM 3's own: a student takes its place.
struct TextDimensions {
  std::int64_t width = 0;       ///< 1024
  std::int64_t mlp = 0;         ///< 4096
  std::int64_t layers = 0;      ///< 24
  std::int64_t heads = 0;       ///< 16
  std::int64_t context = 0;     ///< 32
  std::int64_t vocabulary = 0;  ///< 49408
};

struct DetectorDimensions {
  std::int64_t width = 0;            ///< D, 256
  std::int64_t heads = 0;            ///< 8
  std::int64_t ffn = 0;              ///< 2048
  std::int64_t geometry_layers = 0;  ///< 3
  std::int64_t fusion_layers = 0;    ///< 6
  std::int64_t decoder_layers = 0;   ///< 6
  std::int64_t queries = 0;          ///< 200
  std::int64_t roi = 0;              ///< 7
};

struct PointDimensions {
  std::int64_t mlp = 0;         ///< 2048
  std::int64_t iou_hidden = 0;  ///< 256
  std::int64_t heads = 0;       ///< 8
  bool iou_sigmoid = true;      ///< false in SAM 3.1, whose head regresses the value itself
};

struct Dimensions {
  VisionDimensions vision;
  TextDimensions text;
  DetectorDimensions detector;
  /// None when the checkpoint has no tracker (a Sam3Model file): no point decoder is written then.
  std::optional<PointDimensions> point;
};

/// Reads them. `config` is a transformers config.json or empty; without one, numbers that no tensor tells
/// (attention heads; window and global blocks when the rotary tables are not in the file) are those of the
/// released model, and are refused when they do not divide the widths. Errors: kModelDamaged (a tensor that a
/// number is read from is missing, or numbers that contradict each other), kModelUnsupported (sides or widths
/// the graphs cannot have).
[[nodiscard]] Dimensions read_dimensions(const Weights& weights, const std::filesystem::path& config);

}  // namespace samlet::sam3
