// Folders of samlet's own export, contract version 1.
#include <algorithm>
#include <array>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "models/sam3/contract.h"
#include "models/sam3/declarations.h"
#include "models/sam3/folder_layouts.h"
#include "models/sam3/text_encoder.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKind = "a graph of samlet's contract version 1";
constexpr std::int64_t kAny = -1;

constexpr std::array kImageInputs{Expected{v1::kImage, Wanted::kUInt8, 3}};
constexpr std::array kImageOutputs{
    Expected{v1::kFeatures2, Wanted::kFeature, 4}, Expected{v1::kFusionEmbed, Wanted::kFeature, 3},
    Expected{v1::kMaskFeatures0, Wanted::kFeature, 4}, Expected{v1::kMaskFeatures1, Wanted::kFeature, 4}};
constexpr std::array kPointFeatures{Expected{v1::kPointFeatures0, Wanted::kFeature, 4},
                                    Expected{v1::kPointFeatures1, Wanted::kFeature, 4},
                                    Expected{v1::kPointEmbed, Wanted::kFeature, 4}};
constexpr std::array kLanguageInputs{Expected{v1::kTokens, Wanted::kInt64, 2}};
constexpr std::array kLanguageOutputs{Expected{v1::kLanguageFeatures, Wanted::kFeature, 3},
                                      Expected{v1::kLanguageMask, Wanted::kBool, 2}};
constexpr std::array kDecoderInputs{Expected{v1::kFeatures2, Wanted::kFeature, 4},
                                    Expected{v1::kFusionEmbed, Wanted::kFeature, 3},
                                    Expected{v1::kMaskFeatures0, Wanted::kFeature, 4},
                                    Expected{v1::kMaskFeatures1, Wanted::kFeature, 4},
                                    Expected{v1::kLanguageFeatures, Wanted::kFeature, 3},
                                    Expected{v1::kLanguageMask, Wanted::kBool, 2},
                                    Expected{v1::kBoxCoords, Wanted::kFloat, 3},
                                    Expected{v1::kBoxLabels, Wanted::kInt64, 2},
                                    Expected{v1::kBoxMasks, Wanted::kBool, 2},
                                    Expected{v1::kScoreThreshold, Wanted::kFloat, 0}};
/// The static form has all but the threshold, which is the last.
constexpr auto kStaticDecoderInputs = std::span(kDecoderInputs).first(kDecoderInputs.size() - 1);
constexpr std::array kDynamicOutputs{
    Expected{v1::kBoxes, Wanted::kFloat, 2}, Expected{v1::kScores, Wanted::kFloat, 1},
    Expected{v1::kMaskLogits, Wanted::kFloat, 3}, Expected{v1::kPromptIndex, Wanted::kInt64, 1},
    Expected{v1::kPresence, Wanted::kFloat, 1}};
constexpr std::array kStaticOutputs{
    Expected{v1::kBoxes, Wanted::kFloat, 3}, Expected{v1::kScores, Wanted::kFloat, 2},
    Expected{v1::kMaskLogits, Wanted::kFloat, 4}, Expected{v1::kPresence, Wanted::kFloat, 1}};
constexpr std::array kPointInputs{
    Expected{v1::kPointFeatures0, Wanted::kFeature, 4}, Expected{v1::kPointFeatures1, Wanted::kFeature, 4},
    Expected{v1::kPointEmbed, Wanted::kFeature, 4},     Expected{v1::kPointCoords, Wanted::kFloat, 3},
    Expected{v1::kPointLabels, Wanted::kInt64, 2},      Expected{v1::kMaskInput, Wanted::kFloat, 4},
    Expected{v1::kHasMask, Wanted::kFloat, 1}};
constexpr std::array kPointOutputs{Expected{v1::kMaskLogits, Wanted::kFloat, 4},
                                   Expected{v1::kIou, Wanted::kFloat, 2},
                                   Expected{v1::kObjectScore, Wanted::kFloat, 1}};

/// What one run of the decoder holds grows with its prompts. At the released size, g = 72, it is 0.8 GB and
/// 0.28 GB for each further prompt (measured on ONNX Runtime 1.32's CPU, every query kept), so that 8
/// take 2.7 GB, half of what the image encoder needed before. Activations follow the number of cells.
std::size_t prompts_per_call(const ManifestSizes& sizes) {
  constexpr std::int64_t kMost = 8;
  constexpr std::int64_t kCells = kMost * 72 * 72;
  return static_cast<std::size_t>(std::clamp<std::int64_t>(kCells / (sizes.grid * sizes.grid), 1, kMost));
}

/// What a graph reads beside itself must be a file that the manifest answers for.
void require_known_data(const GraphFile& graph, const Manifest& manifest) {
  for (const ort::ExternalFile& external : graph.file.external) {
    if (manifest.files.contains(external.location)) continue;
    throw Error(ErrorCode::kModelDamaged,
                fmt::format("'{}' needs '{}', which {} does not name; export or download the model again",
                            path_to_utf8(graph.path), printable(external.location), kManifestFile));
  }
}

/// The other graphs' features follow from this one's, with which they must fit.
void require_precision(const GraphFile& image, const Manifest& manifest) {
  const DType wanted = manifest.precision == "fp16" ? DType::kFloat16 : DType::kFloat32;
  for (const Expected& feature : kImageOutputs) {
    const ort::DeclaredValue& value = output_of(image, feature.name);
    if (value.dtype == wanted) continue;
    refuse_graph(image, fmt::format("{} was expected to be {}, because {} says {}", describe(value),
                                    name_of(wanted), kManifestFile, manifest.precision));
  }
}

std::vector<TextEncoder> text_encoders_of(const fs::path& folder, const Manifest& manifest) {
  std::vector<TextEncoder> found;
  for (const ManifestTextEncoder& e : manifest.text_encoders) {
    found.push_back({e.name, folder / e.file, static_cast<std::size_t>(e.context)});
  }
  return found;
}

void require_graph(const fs::path& folder, const Manifest& manifest, std::string_view name) {
  if (manifest.graphs.contains(std::string(name))) return;
  throw Error(ErrorCode::kModelUnsupported,
              fmt::format("the model '{}' has no {}, so it cannot find what a phrase or box means; export it "
                          "from a whole checkpoint",
                          path_to_utf8(folder), name));
}

/// A number of slots that the graph fixes; none when any number goes.
std::optional<std::size_t> fixed(const GraphFile& graph, std::string_view input, std::size_t axis) {
  const std::int64_t slots = input_of(graph, input).shape[axis];
  if (slots == 0) refuse_graph(graph, fmt::format("'{}' has no slot", input));
  return slots < 0 ? std::nullopt : std::optional(static_cast<std::size_t>(slots));
}

}  // namespace

GraphFile read_v1_image_encoder(const fs::path& folder, const Manifest& manifest) {
  GraphFile graph = read_graph(folder / kImageEncoderFile, kKind, kImageInputs, kImageOutputs);
  require_known_data(graph, manifest);
  const ManifestSizes& s = manifest.sizes;
  require_shape(graph, input_of(graph, v1::kImage), {3, s.image, s.image});
  require_shape(graph, output_of(graph, v1::kFeatures2), {1, s.width, s.grid, s.grid});
  require_shape(graph, output_of(graph, v1::kFusionEmbed), {1, s.grid * s.grid, s.width});
  require_shape(graph, output_of(graph, v1::kMaskFeatures0), {1, s.width, s.mask, s.mask});
  require_shape(graph, output_of(graph, v1::kMaskFeatures1), {1, s.width, 2 * s.grid, 2 * s.grid});
  require_precision(graph, manifest);
  return graph;
}

GraphFile read_v1_language_encoder(const fs::path& path, const Manifest& manifest) {
  GraphFile graph = read_graph(path, kKind, kLanguageInputs, kLanguageOutputs);
  const std::int64_t rows = output_of(graph, v1::kLanguageMask).shape[1];
  require_shape(graph, output_of(graph, v1::kLanguageFeatures), {kAny, rows, manifest.sizes.width});
  return graph;
}

GraphFile read_v1_decoder(const fs::path& folder, const Manifest& manifest) {
  const bool dynamic = manifest.decoder == DecoderForm::kDynamic;
  GraphFile graph = read_graph(folder / kDecoderFile, kKind,
                               dynamic ? std::span<const Expected>(kDecoderInputs) : kStaticDecoderInputs,
                               dynamic ? std::span<const Expected>(kDynamicOutputs) : kStaticOutputs);
  require_known_data(graph, manifest);
  const std::int64_t side = manifest.sizes.mask;
  const std::int64_t queries = manifest.sizes.queries;
  require_shape(graph, output_of(graph, v1::kMaskLogits),
                dynamic ? Shape{kAny, side, side} : Shape{kAny, queries, side, side});
  require_shape(graph, output_of(graph, v1::kBoxes), dynamic ? Shape{kAny, 4} : Shape{kAny, queries, 4});
  require_shape(graph, input_of(graph, v1::kBoxCoords), {kAny, kAny, 4});
  const auto batch = fixed(graph, v1::kLanguageMask, 0);
  if (batch && *batch != 1) {
    refuse_graph(graph, fmt::format("it takes {} prompts a call, neither one nor any number", *batch));
  }
  return graph;
}

GraphFile read_v1_point_decoder(const fs::path& folder, const Manifest& manifest) {
  GraphFile graph = read_graph(folder / kPointDecoderFile, kKind, kPointInputs, kPointOutputs);
  require_known_data(graph, manifest);
  const std::int64_t side = manifest.sizes.mask;
  require_shape(graph, output_of(graph, v1::kMaskLogits), {kAny, 4, side, side});
  require_shape(graph, input_of(graph, v1::kMaskInput), {kAny, 1, side, side});
  require_shape(graph, output_of(graph, v1::kIou), {kAny, 4});
  return graph;
}

void require_v1_decoder_fits(const GraphFile& image, const GraphFile& language, const GraphFile& decoder) {
  for (const Expected& feature : kImageOutputs) require_fits(image, feature.name, decoder, feature.name);
  for (const Expected& feature : kLanguageOutputs)
    require_fits(language, feature.name, decoder, feature.name);
}

void require_v1_point_decoder_fits(const GraphFile& image, const GraphFile& decoder) {
  for (const Expected& feature : kPointFeatures) require_fits(image, feature.name, decoder, feature.name);
}

void require_files(const fs::path& folder, const Manifest& manifest) {
  for (const auto& [name, file] : manifest.files) {
    const fs::path path = folder / name;
    std::error_code failed;
    if (!fs::exists(path, failed)) {
      throw Error(ErrorCode::kModelMissing,
                  fmt::format("'{}' is not there, but belongs to the model by its {}; export or download it "
                              "again",
                              path_to_utf8(path), kManifestFile));
    }
    const bool regular = fs::is_regular_file(path, failed);
    const std::uintmax_t size = regular ? fs::file_size(path, failed) : 0;
    if (!regular || failed || size != file.bytes) {
      throw Error(ErrorCode::kModelDamaged,
                  fmt::format("'{}' {}, {} bytes are said by its {}; it is cut, or belongs to another model. "
                              "Export or download the model again",
                              path_to_utf8(path),
                              regular ? fmt::format("has {} bytes", size) : "is not a regular file",
                              file.bytes, kManifestFile));
    }
  }
}

Folder open_v1(const fs::path& folder, const std::string& text_encoder) {
  Folder opened;
  opened.layout = Layout::kSamletV1;
  opened.path = folder;
  const Manifest& manifest = opened.manifest.emplace(read_manifest(folder));
  require_files(folder, manifest);
  require_graph(folder, manifest, kImageEncoderFile);
  require_graph(folder, manifest, kDecoderFile);
  ModelInfo& info = opened.info;
  info.name = manifest.name.empty() ? folder_name(folder) : manifest.name;
  opened.text_encoder = choose_text_encoder(text_encoder, text_encoders_of(folder, manifest), info.name);
  const GraphFile image = read_v1_image_encoder(folder, manifest);
  const GraphFile language = read_v1_language_encoder(opened.text_encoder.graph, manifest);
  const GraphFile decoder = read_v1_decoder(folder, manifest);
  require_v1_decoder_fits(image, language, decoder);
  require_shape(language, input_of(language, v1::kTokens),
                {kAny, static_cast<std::int64_t>(opened.text_encoder.context)});
  info.family = kFamily;
  info.layout = fmt::format("samlet v{}", v1::kVersion);
  info.sha256 = checkpoint_hash(manifest);
  info.precision = manifest.precision;
  info.text_encoder = opened.text_encoder.name;
  info.image_side = static_cast<int>(manifest.sizes.image);
  info.context = opened.text_encoder.context;
  info.max_boxes = fixed(decoder, v1::kBoxMasks, 1);
  info.min_threshold = 0;
  const bool one_by_one = fixed(decoder, v1::kLanguageMask, 0) || fixed(language, v1::kTokens, 0);
  opened.prompts_per_call = one_by_one ? 1 : prompts_per_call(manifest.sizes);
  return opened;
}

}  // namespace samlet::sam3
