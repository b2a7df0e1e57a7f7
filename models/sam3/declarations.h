// What a graph declares, compared with what a contract wants of it. Nothing is loaded.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "libs/ort/model_file.h"

namespace samlet::sam3 {

/// Element types a tensor may have.
enum class Wanted {
  kUInt8,
  kInt64,
  kBool,
  kFloat,    ///< f32
  kFeature,  ///< f32, or f16 in folders of that precision
};

/// One tensor of a contract.
struct Expected {
  std::string_view name;
  Wanted type;
  std::size_t rank;
};

/// One graph's file with its declarations, and words to speak about it.
struct GraphFile {
  std::filesystem::path path;
  std::string kind;  ///< "a graph of sam3-onnx v0.3.0", for messages
  ort::ModelFile file;

  [[nodiscard]] std::string name() const;
};

/// "'box_coords' f32 [1, 1, 4]"
[[nodiscard]] std::string describe(const ort::DeclaredValue& value);

/// kModelUnsupported: the file is not of its kind, and what it takes and gives instead.
[[noreturn]] void refuse_graph(const GraphFile& graph, const std::string& what);

/// Reads the file's declarations and compares them: every wanted input and output is there with type and
/// rank, and there is no further input, which nobody would fill. Further outputs do not matter. Errors: those
/// of ort::read_model_file, kModelUnsupported.
[[nodiscard]] GraphFile read_graph(const std::filesystem::path& path, std::string kind,
                                   std::span<const Expected> inputs, std::span<const Expected> outputs);

/// The declared input or output. Errors: kModelUnsupported when there is none.
[[nodiscard]] const ort::DeclaredValue& input_of(const GraphFile& graph, std::string_view name);
[[nodiscard]] const ort::DeclaredValue& output_of(const GraphFile& graph, std::string_view name);

/// What `producer` gives as `made` goes into `consumer` as `taken`: types must agree, and dimensions wherever
/// both say a number. Errors: kModelDamaged, that the two do not belong together.
void require_fits(const GraphFile& producer, std::string_view made, const GraphFile& consumer,
                  std::string_view taken);

/// The declared dimensions must be these, where -1 stands for any and a declared -1 fits all. Errors:
/// kModelUnsupported.
void require_shape(const GraphFile& graph, const ort::DeclaredValue& value, const Shape& wanted);

}  // namespace samlet::sam3
