#include "models/sam3/folder.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/file.h"
#include "libs/ort/model_file.h"
#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;
using ort::DeclaredValue;
using ort::ModelFile;

struct Expected {
  std::string_view name;
  DType dtype;
  std::size_t rank;
};

constexpr std::array kImageInputs{Expected{v030::kImage, DType::kUInt8, 3}};
constexpr std::array kImageOutputs{
    Expected{v030::kPosition2, DType::kFloat32, 4}, Expected{v030::kFeatures0, DType::kFloat32, 4},
    Expected{v030::kFeatures1, DType::kFloat32, 4}, Expected{v030::kFeatures2, DType::kFloat32, 4}};
constexpr std::array kLanguageInputs{Expected{v030::kTokens, DType::kInt64, 2}};
constexpr std::array kLanguageOutputs{Expected{v030::kTextMask, DType::kBool, 2},
                                      Expected{v030::kTextMemory, DType::kFloat32, 3}};
constexpr std::array kDecoderInputs{
    Expected{v030::kPosition2, DType::kFloat32, 4}, Expected{v030::kFeatures0, DType::kFloat32, 4},
    Expected{v030::kFeatures1, DType::kFloat32, 4}, Expected{v030::kFeatures2, DType::kFloat32, 4},
    Expected{v030::kLanguageMask, DType::kBool, 2}, Expected{v030::kLanguageFeatures, DType::kFloat32, 3},
    Expected{v030::kBoxCoords, DType::kFloat32, 3}, Expected{v030::kBoxLabels, DType::kInt64, 2},
    Expected{v030::kBoxMasks, DType::kBool, 2}};
constexpr std::array kDecoderOutputs{Expected{v030::kBoxes, DType::kFloat32, 2},
                                     Expected{v030::kScores, DType::kFloat32, 1},
                                     Expected{v030::kMasks, DType::kFloat32, 4}};

std::string describe(const DeclaredValue& value) {
  return fmt::format("'{}' {} {}", value.name, value.dtype ? name_of(*value.dtype) : "(other type)",
                     to_string(value.shape));
}

std::string describe(std::span<const DeclaredValue> values) {
  if (values.empty()) return "nothing";
  std::vector<std::string> parts;
  for (const DeclaredValue& value : values) parts.push_back(describe(value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// One graph of the folder: its declarations, and words to speak about it.
struct Graph {
  fs::path path;
  ModelFile file;

  [[nodiscard]] std::string name() const { return path_to_utf8(path.filename()); }
};

[[noreturn]] void refuse_graph(const Graph& graph, const std::string& what) {
  throw Error(
      ErrorCode::kModelUnsupported,
      fmt::format(
          "'{}' is not a graph of sam3-onnx v0.3.0: {}. It takes {} and gives {}. Folders of that version "
          "are the ones samlet runs today",
          path_to_utf8(graph.path), what, describe(graph.file.inputs), describe(graph.file.outputs)));
}

const DeclaredValue& find(const Graph& graph, std::span<const DeclaredValue> values, std::string_view name) {
  const auto at =
      std::find_if(values.begin(), values.end(), [&](const DeclaredValue& v) { return v.name == name; });
  if (at == values.end()) refuse_graph(graph, fmt::format("there is no '{}'", name));
  return *at;
}

void require(const Graph& graph, std::span<const DeclaredValue> values, std::span<const Expected> wanted) {
  for (const Expected& w : wanted) {
    const DeclaredValue& found = find(graph, values, w.name);
    if (found.dtype != w.dtype || found.shape.size() != w.rank) {
      refuse_graph(graph, fmt::format("{} was expected to be {} with {} dimensions", describe(found),
                                      name_of(w.dtype), w.rank));
    }
  }
}

/// An input that we would not know how to fill makes a graph another one.
void require_no_other_inputs(const Graph& graph, std::span<const Expected> known) {
  for (const DeclaredValue& input : graph.file.inputs) {
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](const Expected& e) { return e.name == input.name; });
    if (!is_known) refuse_graph(graph, fmt::format("the input {} is unknown", describe(input)));
  }
}

Graph read_graph(const fs::path& folder, std::string_view name, std::span<const Expected> inputs,
                 std::span<const Expected> outputs) {
  Graph graph{folder / name, {}};
  graph.file = ort::read_model_file(graph.path);
  require(graph, graph.file.inputs, inputs);
  require(graph, graph.file.outputs, outputs);
  require_no_other_inputs(graph, inputs);
  return graph;
}

/// Two declarations of one tensor must agree wherever both say a number.
void require_same_shape(const Graph& producer, const DeclaredValue& made, const Graph& consumer,
                        const DeclaredValue& taken) {
  bool same = made.shape.size() == taken.shape.size();
  for (std::size_t i = 0; same && i < made.shape.size(); ++i) {
    const bool both_fixed = made.shape[i] >= 0 && taken.shape[i] >= 0;
    same = !both_fixed || made.shape[i] == taken.shape[i];
  }
  if (!same) {
    throw Error(
        ErrorCode::kModelDamaged,
        fmt::format(
            "'{}' and '{}' do not belong together: the first gives {}, the second takes {}. Copy all files "
            "of one export into one folder",
            producer.name(), consumer.name(), describe(made), describe(taken)));
  }
}

void require_belonging_together(const Graph& image, const Graph& language, const Graph& decoder) {
  for (const std::string_view name :
       {v030::kPosition2, v030::kFeatures0, v030::kFeatures1, v030::kFeatures2}) {
    require_same_shape(image, find(image, image.file.outputs, name), decoder,
                       find(decoder, decoder.file.inputs, name));
  }
  require_same_shape(language, find(language, language.file.outputs, v030::kTextMask), decoder,
                     find(decoder, decoder.file.inputs, v030::kLanguageMask));
  require_same_shape(language, find(language, language.file.outputs, v030::kTextMemory), decoder,
                     find(decoder, decoder.file.inputs, v030::kLanguageFeatures));
}

/// The longest side and phrase a graph may declare. The released model has 1008 and 32; the bounds only keep
/// a damaged file from asking for gigabytes.
constexpr std::int64_t kMaxSide = 8192;
constexpr std::int64_t kMaxContext = 4096;

int image_side(const Graph& image) {
  const Shape& shape = find(image, image.file.inputs, v030::kImage).shape;  // [3, S, S]
  if (shape[0] != 3 || shape[1] <= 0 || shape[1] != shape[2] || shape[1] > kMaxSide) {
    refuse_graph(image, "the input 'image' was expected to be [3, S, S] with a fixed S");
  }
  return static_cast<int>(shape[1]);
}

std::size_t context_length(const Graph& language) {
  const Shape& shape = find(language, language.file.inputs, v030::kTokens).shape;  // [1, C]
  if (shape[1] < 2 || shape[1] > kMaxContext) {
    refuse_graph(language, "the input 'tokens' was expected to be [1, C] with a fixed C");
  }
  return static_cast<std::size_t>(shape[1]);
}

std::optional<std::size_t> box_slots(const Graph& decoder) {
  const std::int64_t slots = find(decoder, decoder.file.inputs, v030::kBoxCoords).shape[0];  // [N, 1, 4]
  if (slots == 0) refuse_graph(decoder, "'box_coords' has no slot");
  return slots < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(slots));
}

/// The folder's own name, also for "." and "models/sam3/".
std::string folder_name(const fs::path& folder) {
  std::error_code failed;
  const fs::path absolute = fs::canonical(folder, failed);
  return path_to_utf8((failed ? folder : absolute).filename());
}

Folder open_v030(const fs::path& folder) {
  const Graph image = read_graph(folder, kImageEncoderFile, kImageInputs, kImageOutputs);
  const Graph language = read_graph(folder, kLanguageEncoderFile, kLanguageInputs, kLanguageOutputs);
  const Graph decoder = read_graph(folder, kDecoderFile, kDecoderInputs, kDecoderOutputs);
  require_belonging_together(image, language, decoder);

  Folder opened{Layout::kSam3OnnxV030, folder, {}};
  opened.info.name = folder_name(folder);
  opened.info.family = kFamily;
  opened.info.layout = "sam3-onnx v0.3.0";
  opened.info.precision = "fp32";
  opened.info.text_encoder = "full";
  opened.info.image_side = image_side(image);
  opened.info.context = context_length(language);
  opened.info.max_boxes = box_slots(decoder);
  opened.info.min_threshold = v030::kBakedThreshold;
  return opened;
}

bool is_file(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

}  // namespace

bool recognises(const fs::path& folder) {
  return is_file(folder / kManifestFile) || is_file(folder / kImageEncoderFile) ||
         is_file(folder / kDecoderFile) || is_file(folder / kLanguageEncoderFile);
}

Folder open_folder(const fs::path& folder) {
  if (is_file(folder / kManifestFile)) {
    throw Error(
        ErrorCode::kModelUnsupported,
        fmt::format(
            "'{}' holds a {}: it was written by a newer samlet, which this one cannot read. Update samlet, "
            "or use a folder of sam3-onnx v0.3.0",
            path_to_utf8(folder), kManifestFile));
  }
  return open_v030(folder);
}

}  // namespace samlet::sam3
