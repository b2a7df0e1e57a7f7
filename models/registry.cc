#include "models/registry.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/ort/model_file.h"
#include "models/sam3/check.h"
#include "models/sam3/folder.h"
#include "models/sam3/pipeline.h"
#include "samlet/error.h"

namespace samlet {
namespace {

namespace fs = std::filesystem;

std::unique_ptr<Segmenter> open_sam3(const fs::path& folder, const ModelOptions& options) {
  return sam3::make_segmenter(sam3::open_folder(folder, options.text_encoder, options.aliases), options);
}

constexpr std::array kFamilies{
    Family{"sam3", sam3::recognises, open_sam3, sam3::check_folder},
};

/// The graphs of a folder that no family claims, by name.
std::vector<fs::path> graphs_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    if (entry.path().extension() == ".onnx") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// "'encoder.onnx' takes 'x' f32 [1, 3, 1024, 1024]", so that a SAM 1 or 2 folder is told by what it is.
std::string describe_graph(const fs::path& path) {
  const ort::ModelFile file = ort::read_model_file(path);
  std::string inputs;
  for (const ort::DeclaredValue& input : file.inputs) {
    inputs += fmt::format("{}'{}' {} {}", inputs.empty() ? "" : ", ", input.name,
                          input.dtype ? name_of(*input.dtype) : "(other type)", to_string(input.shape));
  }
  return fmt::format(
      "its '{}' takes {}, but a SAM 3 image encoder (sam3_image_encoder.onnx) takes 'image' u8 [3, S, S]",
      path_to_utf8(path.filename()), inputs.empty() ? "nothing" : inputs);
}

[[noreturn]] void refuse_folder(const fs::path& folder) {
  const auto graphs = graphs_in(folder);
  const std::string name = path_to_utf8(folder);
  if (graphs.empty()) {
    throw Error(
        ErrorCode::kModelMissing,
        fmt::format(
            "'{}' holds no model: there is no sam3_image_encoder.onnx in it. Give the folder that holds the "
            "SAM 3 graphs",
            name));
  }
  throw Error(ErrorCode::kModelUnsupported,
              fmt::format("'{}' is not a SAM 3 export: {}", name, describe_graph(graphs.front())));
}

void require_folder(const fs::path& folder) {
  std::error_code failed;
  const fs::file_status status = fs::status(folder, failed);
  if (!fs::exists(status)) {
    throw Error(ErrorCode::kModelMissing,
                fmt::format("the model folder '{}' does not exist; check the path", path_to_utf8(folder)));
  }
  if (!fs::is_directory(status)) {
    throw Error(
        ErrorCode::kModelMissing,
        fmt::format("'{}' is a file; give the folder that holds the SAM 3 graphs", path_to_utf8(folder)));
  }
}

/// Who gives an alias file says that the folder is of SAM 3, whatever its files are called. Errors:
/// kModelMissing and kModelUnsupported for a folder that no family claims.
const Family& family_of(const fs::path& folder, const fs::path& aliases) {
  require_folder(folder);
  if (!aliases.empty()) return kFamilies.front();
  for (const Family& family : kFamilies) {
    if (family.recognises(folder)) return family;
  }
  refuse_folder(folder);
}

}  // namespace

std::span<const Family> families() noexcept {
  return kFamilies;
}

std::unique_ptr<ConceptSegmenter> open_concept_segmenter(const fs::path& folder,
                                                         const ModelOptions& options) {
  return open_segmenter(folder, options);
}

std::unique_ptr<Segmenter> open_segmenter(const fs::path& folder, const ModelOptions& options) {
  (void)ort::device_from_name(options.device);
  return family_of(folder, options.aliases).open(folder, options);
}

void check_model_folder(const fs::path& folder, const FolderCheckOptions& options) {
  if (!options.compare_device.empty()) (void)ort::device_from_name(options.compare_device);
  family_of(folder, options.model.aliases).check(folder, options);
}

}  // namespace samlet
