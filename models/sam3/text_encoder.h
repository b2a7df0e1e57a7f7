// Which text encoder `--text-encoder` and ModelOptions::text_encoder mean.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "models/sam3/folder.h"

namespace samlet::sam3 {

/// The one that `wanted` names: empty = the first of `available`; a name, with or without "litetext-"; a path
/// (with a '/', or ending in .onnx) of a graph, or of a samlet folder, of which its first LiteText encoder is
/// taken, or its first at all, or of a folder without model.json, of which sam3_language_encoder.onnx is
/// taken, or the only sam3_*language_encoder.onnx. `of` is the folder's name for messages. Errors:
/// kModelUnsupported naming those there are; kModelMissing when the path leads nowhere; those of reading
/// another folder or graph.
[[nodiscard]] TextEncoder choose_text_encoder(const std::string& wanted,
                                              std::span<const TextEncoder> available, std::string_view of);

/// "litetext-s0" for "sam3_litetext_s0_language_encoder.onnx", "full" for "sam3_language_encoder.onnx", the
/// stem for others.
[[nodiscard]] std::string text_encoder_name(const std::filesystem::path& graph);

/// Tokens that a language graph takes, from its declaration ([B, C] with a fixed C). Errors: those of
/// ort::read_model_file, kModelUnsupported.
[[nodiscard]] std::size_t context_of(const std::filesystem::path& graph);

}  // namespace samlet::sam3
