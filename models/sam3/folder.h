// What a model folder is, read from its files alone.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/sam3/manifest.h"
#include "samlet/segmenter.h"

namespace samlet::sam3 {

/// The layouts whose graphs samlet tells apart.
enum class Layout {
  kSam3OnnxV030,  ///< sam3-onnx v0.3.0: three graphs, threshold baked in, mask probabilities.
  kSam3OnnxV050,  ///< No model.json, and graphs of other names: sam3-onnx v0.5.0 and what is like it.
  kSamletV1,      ///< samlet's own export, contract version 1.
};

struct ForeignModel;

/// A graph that turns phrases into features.
struct TextEncoder {
  std::string name;             ///< "full", "litetext-s0", or the file's stem where it says nothing
  std::filesystem::path graph;  ///< Its file, which may lie in another folder.
  std::size_t context = 0;      ///< Tokens a phrase may have.
};

/// A folder that was recognised and whose graphs fit together.
struct Folder {
  Layout layout = Layout::kSam3OnnxV030;
  std::filesystem::path path;
  ModelInfo info;
  TextEncoder text_encoder;                     ///< The one in use.
  std::optional<Manifest> manifest;             ///< Of layouts that have one.
  std::shared_ptr<const ForeignModel> foreign;  ///< Of kSam3OnnxV050.
  std::size_t prompts_per_call = 1;             ///< The most that one run of the decoder is given.
};

/// True when the folder looks like SAM 3 at all (one of its graphs or a manifest is there), for the registry.
/// Errors: kIo when the folder may not be looked into.
[[nodiscard]] bool recognises(const std::filesystem::path& folder);

/// Reads the declarations of the graphs and the sizes of the files, never the weights. `text_encoder` is that
/// of ModelOptions, `aliases` an alias file or empty. Errors: kModelMissing (a graph or its .data is not
/// there), kModelDamaged (cut or swapped files, graphs that do not belong together), kModelUnsupported (a
/// layout we do not run, no such text encoder); of the alias file kUsage, kNotFound, kIo. Thread-safe.
[[nodiscard]] Folder open_folder(const std::filesystem::path& folder, const std::string& text_encoder = {},
                                 const std::filesystem::path& aliases = {});

}  // namespace samlet::sam3
