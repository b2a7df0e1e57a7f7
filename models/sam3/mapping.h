// Which tensor of a graph has which role, for graphs whose names are not those of a contract.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/sam3/alias_file.h"
#include "models/sam3/aliases.h"
#include "models/sam3/declarations.h"

namespace samlet::sam3 {

/// How a role was found.
enum class How {
  kName,      ///< The tensor has the role's own name.
  kTable,     ///< One of the names of aliases.h.
  kFile,      ///< By the alias file.
  kSameName,  ///< The graph that makes or takes it has a tensor of the same name.
  kShape,     ///< The only one left of the right type and shape.
};

/// "by its name", "by the alias table", ...
[[nodiscard]] std::string_view words_for(How how) noexcept;

/// A tensor with its role; without one (`role` is null) it is passed on or not looked at.
struct MappedTensor {
  ort::DeclaredValue value;
  const Role* role = nullptr;
  How how = How::kName;
  bool used = false;
};

/// A graph file with what its tensors are for.
struct MappedGraph {
  GraphKind kind = GraphKind::kDecoder;
  GraphFile file;
  std::vector<MappedTensor> inputs;
  std::vector<MappedTensor> outputs;

  /// The tensor of that role; none = nullptr.
  [[nodiscard]] const MappedTensor* input(std::string_view role) const noexcept;
  [[nodiscard]] const MappedTensor* output(std::string_view role) const noexcept;
};

/// Whether a tensor has the shape of a role, as far as others that are known tell. Asked after type and rank.
using ShapeRule = std::function<bool(const Role& role, const MappedGraph& graph, const MappedTensor& tensor)>;

/// Maps the tensors of one graph step by step. What goes wrong is gathered and said by `finish`.
class Mapper {
 public:
  /// `aliases` may be null.
  Mapper(GraphFile file, GraphKind kind, const AliasFile* aliases);

  /// By the alias file, by name, by the alias table; for inputs and outputs.
  void by_names();
  /// Inputs that have the name, and may have the type and shape, of what `maker` gives are passed on.
  void pass_on(const MappedGraph& maker);
  /// Roles that only one tensor can have, where that tensor can have no other. Of the outputs only roles that
  /// are needed, or named by `wanted`.
  void by_shape(const ShapeRule& rule, std::span<const std::string_view> wanted = {});
  /// Outputs that have the name of an input with a role of `taker` have the same role.
  void by_taker(const MappedGraph& taker);
  [[nodiscard]] const MappedGraph& graph() const noexcept { return graph_; }

  /// Refuses a graph that is quite another one before others are looked at: as `finish`, for inputs only.
  void require_inputs(const ShapeRule& rule);
  /// The graph, with all inputs and all needed outputs mapped. Errors: kModelUnsupported listing every
  /// tensor, what it was taken for, and what is missing; kUsage for an alias file that does not fit.
  [[nodiscard]] MappedGraph finish(const ShapeRule& rule);

 private:
  using Tensors = std::vector<MappedTensor>;
  [[nodiscard]] Tensors& side(Direction direction) {
    return direction == Direction::kInput ? graph_.inputs : graph_.outputs;
  }
  void by_file(const Role& role);
  void by_table(const Role& role);
  [[nodiscard]] bool is_open(const Role& role);
  void note_missing(Direction direction, const ShapeRule& rule);
  bool by_shape_once(Direction direction, const ShapeRule& rule, std::span<const std::string_view> wanted);
  [[nodiscard]] std::vector<const Role*> open_roles(Direction direction, const MappedTensor& tensor,
                                                    const ShapeRule& rule);

  MappedGraph graph_;
  const AliasFile* aliases_;
  std::vector<std::string> problems_;
};

/// kModelUnsupported: what is wrong, every tensor with what it was taken for, and the way out.
[[noreturn]] void refuse_mapping(const MappedGraph& graph, const std::string& what);

/// "'boxes_in' f32 [1, 1, 4]: box_coords, by the alias table"
[[nodiscard]] std::string describe(const MappedTensor& tensor);

/// All of them, with semicolons between.
[[nodiscard]] std::string describe(std::span<const MappedTensor> tensors);

/// Dimensions agree wherever both say a number.
[[nodiscard]] bool may_be(const Shape& a, const Shape& b) noexcept;

}  // namespace samlet::sam3
