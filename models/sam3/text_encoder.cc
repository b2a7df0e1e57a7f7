#include "models/sam3/text_encoder.h"

#include <algorithm>
#include <array>
#include <system_error>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "models/sam3/contract.h"
#include "models/sam3/declarations.h"
#include "models/sam3/folder_layouts.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLiteText = "litetext-";

bool looks_like_a_path(std::string_view wanted) {
  return wanted.find('/') != std::string_view::npos || wanted.ends_with(".onnx");
}

TextEncoder with_context(TextEncoder encoder) {
  if (encoder.context == 0) encoder.context = context_of(encoder.graph);
  return encoder;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(path, ignored));
}

/// A folder that says nothing of itself, such as one of sam3-onnx v0.3.0: its file names must do.
TextEncoder from_bare_folder(const fs::path& folder) {
  if (is_there(folder / kLanguageEncoderFile))
    return with_context({"full", folder / kLanguageEncoderFile, 0});
  std::vector<std::string> names;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string name = path_bytes(entry.path().filename());
    if (name.starts_with("sam3_") && name.ends_with("language_encoder.onnx")) names.push_back(name);
  }
  if (failed) {
    throw Error(ErrorCode::kIo,
                fmt::format("cannot read the folder '{}': {}", path_to_utf8(folder), failed.message()));
  }
  if (names.size() == 1) {
    const fs::path graph = folder / names.front();
    return with_context({text_encoder_name(graph), graph, 0});
  }
  std::sort(names.begin(), names.end());
  for (std::string& name : names) name = printable(name);
  throw Error(ErrorCode::kModelUnsupported,
              names.empty() ? fmt::format("'{}' holds no text encoder (sam3_language_encoder.onnx); name "
                                          "another folder",
                                          path_to_utf8(folder))
                            : fmt::format("'{}' holds several text encoders ({}); give the path of one",
                                          path_to_utf8(folder), fmt::join(names, ", ")));
}

/// Another folder; of samlet's export, it says itself what it has.
TextEncoder from_folder(const fs::path& folder) {
  if (!is_there(folder / kManifestFile)) return from_bare_folder(folder);
  const Manifest manifest = read_manifest(folder);
  const auto& encoders = manifest.text_encoders;
  if (encoders.empty()) {
    throw Error(ErrorCode::kModelUnsupported,
                fmt::format("'{}' holds no text encoder; name another folder", path_to_utf8(folder)));
  }
  auto at = std::find_if(encoders.begin(), encoders.end(),
                         [](const ManifestTextEncoder& e) { return e.name.starts_with(kLiteText); });
  if (at == encoders.end()) at = encoders.begin();
  return with_context({at->name, folder / at->file, static_cast<std::size_t>(at->context)});
}

TextEncoder from_path(const fs::path& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    throw Error(ErrorCode::kModelMissing,
                fmt::format("the text encoder '{}' does not exist; check the path", path_to_utf8(path)));
  }
  if (fs::is_directory(path, ignored)) return from_folder(path);
  return with_context({text_encoder_name(path), path, 0});
}

}  // namespace

TextEncoder choose_text_encoder(const std::string& wanted, std::span<const TextEncoder> available,
                                std::string_view of) {
  std::vector<std::string_view> names;
  for (const TextEncoder& encoder : available) {
    if (wanted.empty() || encoder.name == wanted || encoder.name == std::string(kLiteText) + wanted)
      return with_context(encoder);
    names.push_back(encoder.name);
  }
  if (looks_like_a_path(wanted)) return from_path(path_from_utf8(wanted));
  throw Error(ErrorCode::kModelUnsupported,
              fmt::format("the model '{}' has no text encoder{}; it has {}. A path of a language graph or of "
                          "a folder with one can be given too",
                          of, wanted.empty() ? "" : fmt::format(" '{}'", printable(wanted)),
                          names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

std::string text_encoder_name(const fs::path& graph) {
  const std::string file = path_to_utf8(graph.filename());
  if (file == kLanguageEncoderFile) return "full";
  constexpr std::string_view kBefore = "sam3_litetext_";
  constexpr std::string_view kAfter = "_language_encoder.onnx";
  if (file.starts_with(kBefore) && file.ends_with(kAfter) && file.size() > kBefore.size() + kAfter.size()) {
    const std::string size = file.substr(kBefore.size(), file.size() - kBefore.size() - kAfter.size());
    return std::string(kLiteText) + size;
  }
  return path_to_utf8(graph.stem());
}

std::size_t context_of(const fs::path& graph) {
  // The contracts agree in this input.
  constexpr std::array kInputs{Expected{v1::kTokens, Wanted::kInt64, 2}};
  const GraphFile file = read_graph(graph, "a language encoder", kInputs, {});
  const std::int64_t context = input_of(file, v1::kTokens).shape[1];
  if (context < 2 || context > kMaxContext)
    refuse_graph(file, "the input 'tokens' was expected to be [B, C] with a fixed C");
  return static_cast<std::size_t>(context);
}

}  // namespace samlet::sam3
