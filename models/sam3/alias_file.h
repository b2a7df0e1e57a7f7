// A user's alias file (--aliases FILE): names of tensors, and facts that cannot be read from a graph.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/sam3/aliases.h"

namespace samlet::sam3 {

/// What is said of one graph.
struct GraphAliases {
  std::optional<std::string> file;                          ///< Its name in the folder.
  std::map<std::string, std::string, std::less<>> inputs;   ///< role -> tensor
  std::map<std::string, std::string, std::less<>> outputs;  ///< role -> tensor
};

/// A fact and the words it may have.
struct KnownFact {
  std::string_view name;
  std::span<const std::string_view> words;
};

// The facts. What each means when it is not stated: docs/model-folders.md.
inline constexpr std::string_view kFactMasks = "masks";                 // probabilities, logits
inline constexpr std::string_view kFactScores = "scores";               // probabilities, logits
inline constexpr std::string_view kFactPresence = "presence";           // probabilities, logits
inline constexpr std::string_view kFactClosingPoint = "closing_point";  // inside, outside, ignored
inline constexpr std::string_view kFactBoxLayout = "box_layout";        // boxes_first, prompt_first
inline constexpr std::string_view kFactBoxCoords = "box_coords";        // cxcywh, xyxy
inline constexpr std::string_view kFactBoxes = "boxes";                 // xyxy, cxcywh
inline constexpr std::string_view kFactPixels = "pixels";               // normalized, unit, bytes
/// A number from 0 (nothing is left out) to 1.
inline constexpr std::string_view kFactThreshold = "threshold_in_graph";

[[nodiscard]] std::span<const KnownFact> known_facts() noexcept;

struct AliasFile {
  std::array<GraphAliases, kGraphKinds.size()> graphs;
  std::map<std::string, std::string, std::less<>> facts;  ///< those with words
  std::optional<double> threshold_in_graph;

  [[nodiscard]] const GraphAliases& of(GraphKind kind) const {
    return graphs[static_cast<std::size_t>(kind)];
  }
  /// The word for the fact; empty when nothing is said.
  [[nodiscard]] std::string_view fact(std::string_view name) const;
};

/// Reads the text; nothing in it is trusted. `name` is said in errors. Errors: kUsage for all that is wrong:
/// no JSON, a key twice, a key, role or word that is not known (naming the nearest that is), a tensor that is
/// named for two roles, a text that is too long. Thread-safe.
[[nodiscard]] AliasFile parse_alias_file(std::string_view text, std::string_view name);

/// parse_alias_file of a file. Errors: also kNotFound, kIo (more than 64 KiB).
[[nodiscard]] AliasFile read_alias_file(const std::filesystem::path& path);

}  // namespace samlet::sam3
