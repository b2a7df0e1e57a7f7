// Folders of sam3-onnx v0.3.0: nothing but the graphs' own declarations says what they are.
#include <array>
#include <system_error>
#include <vector>

#include "models/sam3/contract.h"
#include "models/sam3/declarations.h"
#include "models/sam3/folder_layouts.h"
#include "models/sam3/text_encoder.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLayoutName = "sam3-onnx v0.3.0";
constexpr const char* kKind = "a graph of sam3-onnx v0.3.0";

constexpr std::array kImageInputs{Expected{v030::kImage, Wanted::kUInt8, 3}};
constexpr std::array kImageOutputs{
    Expected{v030::kPosition2, Wanted::kFloat, 4}, Expected{v030::kFeatures0, Wanted::kFloat, 4},
    Expected{v030::kFeatures1, Wanted::kFloat, 4}, Expected{v030::kFeatures2, Wanted::kFloat, 4}};
constexpr std::array kLanguageInputs{Expected{v030::kTokens, Wanted::kInt64, 2}};
constexpr std::array kLanguageOutputs{Expected{v030::kTextMask, Wanted::kBool, 2},
                                      Expected{v030::kTextMemory, Wanted::kFloat, 3}};
constexpr std::array kDecoderInputs{
    Expected{v030::kPosition2, Wanted::kFloat, 4},   Expected{v030::kFeatures0, Wanted::kFloat, 4},
    Expected{v030::kFeatures1, Wanted::kFloat, 4},   Expected{v030::kFeatures2, Wanted::kFloat, 4},
    Expected{v030::kLanguageMask, Wanted::kBool, 2}, Expected{v030::kLanguageFeatures, Wanted::kFloat, 3},
    Expected{v030::kBoxCoords, Wanted::kFloat, 3},   Expected{v030::kBoxLabels, Wanted::kInt64, 2},
    Expected{v030::kBoxMasks, Wanted::kBool, 2}};
constexpr std::array kDecoderOutputs{Expected{v030::kBoxes, Wanted::kFloat, 2},
                                     Expected{v030::kScores, Wanted::kFloat, 1},
                                     Expected{v030::kMasks, Wanted::kFloat, 4}};

void require_belonging_together(const GraphFile& image, const GraphFile& language, const GraphFile& decoder) {
  for (const auto name : {v030::kPosition2, v030::kFeatures0, v030::kFeatures1, v030::kFeatures2}) {
    require_fits(image, name, decoder, name);
  }
  require_fits(language, v030::kTextMask, decoder, v030::kLanguageMask);
  require_fits(language, v030::kTextMemory, decoder, v030::kLanguageFeatures);
}

int image_side(const GraphFile& image) {
  const Shape& shape = input_of(image, v030::kImage).shape;  // [3, S, S]
  if (shape[0] != 3 || shape[1] <= 0 || shape[1] != shape[2] || shape[1] > kMaxSide) {
    refuse_graph(image, "the input 'image' was expected to be [3, S, S] with a fixed S");
  }
  return static_cast<int>(shape[1]);
}

std::optional<std::size_t> box_slots(const GraphFile& decoder) {
  const std::int64_t slots = input_of(decoder, v030::kBoxCoords).shape[0];  // [N, 1, 4]
  if (slots == 0) refuse_graph(decoder, "'box_coords' has no slot");
  return slots < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(slots));
}

/// The full one, also when it is missing, which is said when it is read; and the LiteText ones that are
/// there.
std::vector<TextEncoder> text_encoders_in(const fs::path& folder) {
  std::vector<TextEncoder> found{{"full", folder / kLanguageEncoderFile, 0}};
  for (const char* size : {"s0", "s1", "l"}) {
    const fs::path graph = folder / (std::string("sam3_litetext_") + size + "_language_encoder.onnx");
    std::error_code ignored;
    if (fs::exists(graph, ignored)) found.push_back({text_encoder_name(graph), graph, 0});
  }
  return found;
}

}  // namespace

Folder open_v030(const fs::path& folder, const std::string& text_encoder) {
  const GraphFile image = read_graph(folder / kImageEncoderFile, kKind, kImageInputs, kImageOutputs);
  Folder opened;
  opened.layout = Layout::kSam3OnnxV030;
  opened.path = folder;
  opened.info.name = folder_name(folder);
  opened.text_encoder = choose_text_encoder(text_encoder, text_encoders_in(folder), opened.info.name);
  const GraphFile language = read_graph(opened.text_encoder.graph, kKind, kLanguageInputs, kLanguageOutputs);
  const GraphFile decoder = read_graph(folder / kDecoderFile, kKind, kDecoderInputs, kDecoderOutputs);
  require_belonging_together(image, language, decoder);
  opened.info.family = kFamily;
  opened.info.layout = kLayoutName;
  opened.info.precision = "fp32";
  opened.info.text_encoder = opened.text_encoder.name;
  opened.info.image_side = image_side(image);
  opened.info.context = opened.text_encoder.context;
  opened.info.max_boxes = box_slots(decoder);
  opened.info.min_threshold = v030::kBakedThreshold;
  return opened;
}

}  // namespace samlet::sam3
