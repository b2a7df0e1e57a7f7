// What an ONNX file says of itself, read without ONNX Runtime and without touching its weights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libs/tensor/tensor.h"

namespace samlet::ort {

/// An input or output as the file declares it. -1 is a dimension without a fixed value; no dtype means one
/// that samlet has no use for (string, complex, sequence).
struct DeclaredValue {
  std::string name;
  std::optional<DType> dtype;
  Shape shape;
};

/// A piece of an external data file that an initializer lies in.
struct ExternalFile {
  std::string location;   ///< As written in the model, relative to its folder.
  std::uint64_t end = 0;  ///< One past the last byte that any tensor needs.
};

struct ModelFile {
  std::int64_t ir_version = 0;
  std::int64_t opset = 0;  ///< Of the default domain.
  std::string producer;
  std::vector<DeclaredValue> inputs;  ///< Without initializers.
  std::vector<DeclaredValue> outputs;
  std::map<std::string, std::string> metadata;
  std::vector<ExternalFile> external;  ///< One row a file, sorted by location.
};

/// Parses the bytes of an .onnx file. Bounds-checked; views nothing after it returns.
/// Errors: kModelDamaged when the bytes are not an ONNX model. Thread-safe.
[[nodiscard]] ModelFile parse_model_file(std::span<const std::uint8_t> bytes);

/// Maps and parses the file, then checks its external data: each file must lie in the model's folder (no
/// "..", no absolute path, no link that leaves it except a hub cache's blob store), exist, and be long
/// enough. Errors: kModelMissing ("sam3_decoder.onnx needs sam3_decoder.onnx.data beside it"), kModelDamaged
/// (wanted and found size, or a location outside the folder).
[[nodiscard]] ModelFile read_model_file(const std::filesystem::path& path);

}  // namespace samlet::ort
