#include "models/sam3/mapping.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

std::vector<MappedTensor> unmapped(const std::vector<ort::DeclaredValue>& values) {
  std::vector<MappedTensor> tensors;
  for (const ort::DeclaredValue& value : values) tensors.push_back({value, nullptr, How::kName, false});
  return tensors;
}

const MappedTensor* with_role(const std::vector<MappedTensor>& tensors, std::string_view role) {
  const auto at = std::find_if(tensors.begin(), tensors.end(), [&](const MappedTensor& tensor) {
    return tensor.role != nullptr && tensor.role->name == role;
  });
  return at == tensors.end() ? nullptr : &*at;
}

std::string names_of(const std::vector<const Role*>& roles) {
  std::vector<std::string_view> names;
  for (const Role* role : roles) names.push_back(role->name);
  return fmt::format("{}", fmt::join(names, " or "));
}

void give(MappedTensor& tensor, const Role* role, How how) {
  tensor.role = role;
  tensor.how = how;
  tensor.used = true;
}

}  // namespace

std::string_view words_for(How how) noexcept {
  switch (how) {
    case How::kName:
      return "by its name";
    case How::kTable:
      return "by the alias table";
    case How::kFile:
      return "by the alias file";
    case How::kSameName:
      return "by its name in the other graph";
    case How::kShape:
      return "by its type and shape";
  }
  return "";
}

const MappedTensor* MappedGraph::input(std::string_view role) const noexcept {
  return with_role(inputs, role);
}

const MappedTensor* MappedGraph::output(std::string_view role) const noexcept {
  return with_role(outputs, role);
}

std::string describe(const MappedTensor& tensor) {
  if (!tensor.used) return describe(tensor.value) + ": nothing known";
  return fmt::format("{}: {}, {}", describe(tensor.value),
                     tensor.role == nullptr ? std::string_view("passed on") : tensor.role->name,
                     words_for(tensor.how));
}

std::string describe(std::span<const MappedTensor> tensors) {
  std::vector<std::string> parts;
  for (const MappedTensor& tensor : tensors) parts.push_back(describe(tensor));
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, "; "));
}

bool may_be(const Shape& a, const Shape& b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](std::int64_t x, std::int64_t y) { return x < 0 || y < 0 || x == y; });
}

void refuse_mapping(const MappedGraph& graph, const std::string& what) {
  throw Error(
      ErrorCode::kModelUnsupported,
      fmt::format(
          "'{}' cannot be run as the {} of SAM 3: {}; it takes {}; it gives {}. Say in a JSON file what its "
          "tensors are for, and give it with --aliases FILE, or export or download the model again",
          path_to_utf8(graph.file.path), name_of(graph.kind), what, describe(graph.inputs),
          describe(graph.outputs)));
}

Mapper::Mapper(GraphFile file, GraphKind kind, const AliasFile* aliases) : aliases_(aliases) {
  graph_.kind = kind;
  graph_.inputs = unmapped(file.file.inputs);
  graph_.outputs = unmapped(file.file.outputs);
  graph_.file = std::move(file);
}

bool Mapper::is_open(const Role& role) {
  return role.graph == graph_.kind && with_role(side(role.direction), role.name) == nullptr;
}

void Mapper::by_file(const Role& role) {
  if (aliases_ == nullptr) return;
  const GraphAliases& said = aliases_->of(graph_.kind);
  const auto& names = role.direction == Direction::kInput ? said.inputs : said.outputs;
  const auto name = names.find(role.name);
  if (name == names.end()) return;
  Tensors& tensors = side(role.direction);
  const auto at = std::find_if(tensors.begin(), tensors.end(),
                               [&](const MappedTensor& tensor) { return tensor.value.name == name->second; });
  if (at == tensors.end()) {
    problems_.push_back(fmt::format("the alias file says that '{}' is {}, but there is no such {}",
                                    printable(name->second), role.name,
                                    role.direction == Direction::kInput ? "input" : "output"));
  } else if (!role.fits(at->value)) {
    problems_.push_back(
        fmt::format("the alias file says that {} is {}, which has another type or number of dimensions",
                    sam3::describe(at->value), role.name));
  } else {
    give(*at, &role, How::kFile);
  }
}

void Mapper::by_table(const Role& role) {
  std::vector<MappedTensor*> hits;
  for (MappedTensor& tensor : side(role.direction)) {
    if (!tensor.used && role.is_also(tensor.value.name) && role.fits(tensor.value)) hits.push_back(&tensor);
  }
  if (hits.size() == 1) give(*hits.front(), &role, How::kTable);
  if (hits.size() > 1) {
    problems_.push_back(fmt::format("'{}' and '{}' both have a name for {}", printable(hits[0]->value.name),
                                    printable(hits[1]->value.name), role.name));
  }
}

void Mapper::by_names() {
  for (const Role& role : roles()) {
    if (role.graph == graph_.kind) by_file(role);
  }
  for (const Role& role : roles()) {
    if (!is_open(role)) continue;
    for (MappedTensor& tensor : side(role.direction)) {
      if (!tensor.used && tensor.value.name == role.name && role.fits(tensor.value))
        give(tensor, &role, How::kName);
    }
  }
  for (const Role& role : roles()) {
    if (is_open(role)) by_table(role);
  }
}

void Mapper::pass_on(const MappedGraph& maker) {
  for (MappedTensor& tensor : graph_.inputs) {
    const auto made =
        std::find_if(maker.outputs.begin(), maker.outputs.end(), [&](const MappedTensor& output) {
          return output.value.name == tensor.value.name && output.value.dtype == tensor.value.dtype &&
                 may_be(output.value.shape, tensor.value.shape);
        });
    if (!tensor.used && made != maker.outputs.end()) give(tensor, nullptr, How::kSameName);
  }
}

void Mapper::by_taker(const MappedGraph& taker) {
  for (const MappedTensor& input : taker.inputs) {
    if (input.role == nullptr) continue;
    const Role* role = find_role(graph_.kind, Direction::kOutput, input.role->name);
    if (role == nullptr || !is_open(*role)) continue;
    for (MappedTensor& output : graph_.outputs) {
      if (!output.used && output.value.name == input.value.name && role->fits(output.value))
        give(output, role, How::kSameName);
    }
  }
}

std::vector<const Role*> Mapper::open_roles(Direction direction, const MappedTensor& tensor,
                                            const ShapeRule& rule) {
  std::vector<const Role*> open;
  for (const Role& role : roles()) {
    if (role.direction == direction && role.by_shape && is_open(role) && role.fits(tensor.value) &&
        rule(role, graph_, tensor))
      open.push_back(&role);
  }
  return open;
}

bool Mapper::by_shape_once(Direction direction, const ShapeRule& rule,
                           std::span<const std::string_view> wanted) {
  Tensors& tensors = side(direction);
  // An input must be filled, so each can have any role; of what a graph gives, much is of no use to us.
  const auto is_wanted = [&](const Role* role) {
    return direction == Direction::kInput || role->needed ||
           std::find(wanted.begin(), wanted.end(), role->name) != wanted.end();
  };
  for (MappedTensor& tensor : tensors) {
    if (tensor.used) continue;
    std::vector<const Role*> open = open_roles(direction, tensor, rule);
    std::erase_if(open, [&](const Role* role) { return !is_wanted(role); });
    if (open.size() != 1) continue;
    const auto rivals = std::count_if(tensors.begin(), tensors.end(), [&](const MappedTensor& other) {
      return !other.used && open.front()->fits(other.value) && rule(*open.front(), graph_, other);
    });
    if (rivals != 1) continue;
    give(tensor, open.front(), How::kShape);
    return true;
  }
  return false;
}

void Mapper::by_shape(const ShapeRule& rule, std::span<const std::string_view> wanted) {
  // What is found may leave only one place for another.
  while (by_shape_once(Direction::kInput, rule, wanted) || by_shape_once(Direction::kOutput, rule, wanted)) {
  }
}

void Mapper::note_missing(Direction direction, const ShapeRule& rule) {
  for (const Role& role : roles()) {
    if (role.direction != direction || !role.needed || !is_open(role)) continue;
    std::vector<std::string> candidates;
    for (const MappedTensor& tensor : side(direction)) {
      if (!tensor.used && role.fits(tensor.value) && rule(role, graph_, tensor))
        candidates.push_back(fmt::format("'{}'", printable(tensor.value.name)));
    }
    problems_.push_back(candidates.size() < 2
                            ? fmt::format("nothing was found for {}", role.name)
                            : fmt::format("{} might each be {}", fmt::join(candidates, ", "), role.name));
  }
}

void Mapper::require_inputs(const ShapeRule& rule) {
  note_missing(Direction::kInput, rule);
  for (const MappedTensor& tensor : graph_.inputs) {
    if (tensor.used) continue;
    const auto open = open_roles(Direction::kInput, tensor, rule);
    problems_.push_back(
        open.empty() ? fmt::format("the input {} fits no role", sam3::describe(tensor.value))
                     : fmt::format("the input {} might be {}", sam3::describe(tensor.value), names_of(open)));
  }
  if (!problems_.empty()) refuse_mapping(graph_, fmt::format("{}", fmt::join(problems_, "; ")));
}

MappedGraph Mapper::finish(const ShapeRule& rule) {
  note_missing(Direction::kOutput, rule);
  require_inputs(rule);
  return std::move(graph_);
}

}  // namespace samlet::sam3
