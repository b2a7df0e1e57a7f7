// What the tensors of a SAM 3 folder are for, and the names they may have: a table for folders whose names
// are not those of a contract.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "libs/ort/model_file.h"

namespace samlet::sam3 {

enum class GraphKind { kImageEncoder, kLanguageEncoder, kDecoder, kPointDecoder };
inline constexpr std::array kGraphKinds{GraphKind::kImageEncoder, GraphKind::kLanguageEncoder,
                                        GraphKind::kDecoder, GraphKind::kPointDecoder};

/// "image_encoder", "language_encoder", "decoder", "point_decoder": as in an alias file.
[[nodiscard]] std::string_view name_of(GraphKind kind) noexcept;

/// File names that the graph may have, the usual one first.
[[nodiscard]] std::span<const std::string_view> files_of(GraphKind kind) noexcept;

enum class Direction { kInput, kOutput };

/// Element types that samlet can fill or read for a role.
enum class Accepted {
  kPixels,    ///< u8, f32
  kFeature,   ///< f32, f16
  kNumbers,   ///< f32
  kIndices,   ///< i64, i32
  kLabels,    ///< i64, i32, f32
  kFlags,     ///< bool
  kSwitches,  ///< bool, i64, i32, f32
};

/// What one tensor of one graph is for.
struct Role {
  GraphKind graph = GraphKind::kDecoder;
  Direction direction = Direction::kInput;
  std::string_view
      name;  ///< That of sam3-onnx v0.3.0, else of samlet's own contract; the key in an alias file.
  Accepted accepted = Accepted::kNumbers;
  std::size_t least_rank = 0;
  std::size_t most_rank = 0;
  bool needed = false;      ///< The graph cannot be used without it.
  bool by_shape = true;     ///< May be guessed when nothing else fits.
  std::string_view others;  ///< Other names, with blanks between them.

  /// The type and the number of dimensions are those of the role.
  [[nodiscard]] bool fits(const ort::DeclaredValue& value) const noexcept;
  /// True for one of `others`.
  [[nodiscard]] bool is_also(std::string_view tensor) const noexcept;
};

/// All roles. No name stands for two roles of the same side of a graph.
[[nodiscard]] std::span<const Role> roles() noexcept;

/// The role of that name; none = nullptr.
[[nodiscard]] const Role* find_role(GraphKind graph, Direction direction, std::string_view name) noexcept;

}  // namespace samlet::sam3
