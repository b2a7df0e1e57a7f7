#include "models/sam3/arch/ledger.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "models/sam3/arch/name_pattern.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

using checkpoint::TensorInfo;
using Op = Recipe::Op;

/// Lines of an error: all tensors of any SAM 3; only a hostile file has more.
constexpr std::size_t kMaxLines = 4000;

LazyTensor zeros(const Shape& shape) {
  const std::size_t count = element_count(shape).value_or(0);
  return {shape, [count](const LazyTensor::Sink& sink) {
            const std::vector<float> piece(std::min<std::size_t>(count, 65536));
            for (std::size_t done = 0; done < count;) {
              const std::size_t size = std::min(piece.size(), count - done);
              sink({piece.data(), size});
              done += size;
            }
          }};
}

/// `count` values from `begin` on, under another shape.
LazyTensor part_of(const LazyTensor& tensor, std::size_t begin, Shape shape) {
  const std::size_t count = element_count(shape).value_or(0);
  return {std::move(shape), [tensor, begin, count](const LazyTensor::Sink& sink) {
            std::size_t at = 0;
            tensor.stream([&](std::span<const float> piece) {
              const std::size_t from = std::clamp(begin, at, at + piece.size());
              const std::size_t to = std::clamp(begin + count, at, at + piece.size());
              if (from < to) sink(piece.subspan(from - at, to - from));
              at += piece.size();
            });
          }};
}

LazyTensor stack(std::vector<LazyTensor> parts, const Shape& shape) {
  return {shape, [parts = std::move(parts)](const LazyTensor::Sink& sink) {
            for (const LazyTensor& part : parts) part.stream(sink);
          }};
}

std::optional<Shape> stacked_shape(const std::vector<const TensorInfo*>& parts) {
  Shape shape = parts[0]->shape;
  if (shape.empty()) return std::nullopt;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const Shape& other = parts[i]->shape;
    if (other.size() != shape.size() || !std::equal(shape.begin() + 1, shape.end(), other.begin() + 1)) {
      return std::nullopt;
    }
    shape[0] += other[0];
  }
  return shape;
}

bool holds_floats(const TensorInfo& info) {
  if (!info.type.dtype) return false;
  return *info.type.dtype == DType::kFloat32 || *info.type.dtype == DType::kFloat16 ||
         *info.type.dtype == DType::kBFloat16 || *info.type.dtype == DType::kFloat64;
}

std::vector<std::string> printed(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::string& name : names) result.push_back(printable(name));
  return result;
}

}  // namespace

/// Empty when a part is missing. Copies of each other need not all be there.
std::vector<const TensorInfo*> Ledger::parts_of(const Recipe& recipe) const {
  std::vector<const TensorInfo*> parts;
  for (const std::string& name : recipe.stored) {
    const TensorInfo* const info = checkpoint_.find(name);
    if (info != nullptr) parts.push_back(info);
  }
  if (recipe.op != Op::kEither && parts.size() != recipe.stored.size()) parts.clear();
  return parts;
}

std::optional<Shape> Ledger::shape_of(const Recipe& recipe) const {
  const auto parts = parts_of(recipe);
  if (parts.empty()) return std::nullopt;
  Shape shape = parts[0]->shape;
  switch (recipe.op) {
    case Op::kStack:
      return stacked_shape(parts);
    case Op::kDropFirstRow:
      if (shape.size() != 3 || shape[0] != 1 || shape[1] < 1) return std::nullopt;
      --shape[1];
      return shape;
    case Op::kRow:
      if (shape.empty() || recipe.row < 0 || recipe.row >= shape[0]) return std::nullopt;
      shape[0] = 1;
      return shape;
    default:
      return shape;
  }
}

/// What is wrong with the stored tensors of a recipe that are all there; empty when nothing is.
std::string Ledger::fault_in(const Recipe& recipe, const Shape& wanted) const {
  const auto parts = parts_of(recipe);
  for (const TensorInfo* part : parts) {
    if (!holds_floats(*part))
      return fmt::format("'{}' holds {} values", printable(part->name), part->type.name);
    if (recipe.op == Op::kEither && part->shape != wanted) {
      return fmt::format("'{}' has the shape {} instead of {}", printable(part->name), to_string(part->shape),
                         to_string(wanted));
    }
  }
  if (shape_of(recipe) == wanted) return "";
  std::vector<std::string> shapes;
  for (const TensorInfo* part : parts) shapes.push_back(to_string(part->shape));
  return fmt::format("{} of shape {} give{} no {}", fmt::join(printed(recipe.stored), ", "),
                     fmt::join(shapes, ", "), parts.size() == 1 ? "s" : "", to_string(wanted));
}

LazyTensor Ledger::make(const Recipe& recipe, const Shape& shape) const {
  const auto parts = parts_of(recipe);
  LazyTensor first = checkpoint_.tensor(parts[0]->name);
  switch (recipe.op) {
    case Op::kStack: {
      std::vector<LazyTensor> tensors;
      tensors.reserve(parts.size());
      for (const TensorInfo* part : parts) tensors.push_back(checkpoint_.tensor(part->name));
      return stack(std::move(tensors), shape);
    }
    case Op::kDropFirstRow:
      return part_of(first, static_cast<std::size_t>(shape[2]), shape);
    case Op::kRow:
      return part_of(first, static_cast<std::size_t>(recipe.row) * element_count(shape).value_or(0), shape);
    default:
      return first;
  }
}

LazyTensor Ledger::take(const std::string& name, const Recipe& recipe, const Shape& shape) {
  for (const std::string& stored : recipe.stored) used_.insert(stored);
  if (parts_of(recipe).empty()) {
    const bool other_name = !recipe.stored.empty() && recipe.stored != std::vector{name};
    missing_[name] =
        other_name ? fmt::format("{} (stored as {})", name, fmt::join(recipe.stored, ", ")) : name;
    return zeros(shape);
  }
  const std::string fault = fault_in(recipe, shape);
  if (fault.empty()) return make(recipe, shape);
  misshapen_[name] = recipe.stored == std::vector{name} ? fault : fmt::format("{}: {}", name, fault);
  return zeros(shape);
}

void Ledger::allow_unused(const std::string& pattern, std::string reason) {
  allow_unused(pattern, std::move(reason),
               [pattern](std::string_view name) { return match_name(pattern, name).has_value(); });
}

void Ledger::allow_unused(std::string label, std::string reason,
                          std::function<bool(std::string_view)> holds) {
  groups_.push_back({std::move(label), std::move(reason), std::move(holds)});
}

const Ledger::Group* Ledger::group_of(std::string_view stored) const {
  const auto it =
      std::find_if(groups_.begin(), groups_.end(), [&](const Group& group) { return group.holds(stored); });
  return it == groups_.end() ? nullptr : &*it;
}

std::vector<std::string> Ledger::unused() const {
  std::map<const Group*, std::size_t> counts;
  for (const TensorInfo& tensor : checkpoint_.tensors()) {
    const Group* const group = used_.contains(tensor.name) ? nullptr : group_of(tensor.name);
    if (group != nullptr) ++counts[group];
  }
  std::vector<std::string> lines;
  for (const Group& group : groups_) {
    const auto it = counts.find(&group);
    if (it != counts.end())
      lines.push_back(fmt::format("{}: {} ({})", group.label, group.reason, it->second));
  }
  return lines;
}

void Ledger::require_all_accounted() const {
  std::vector<std::string> lines;
  for (const auto& [name, line] : missing_) lines.push_back("missing: " + line);
  for (const auto& [name, line] : misshapen_) lines.push_back("wrong: " + line);
  std::size_t unexpected = 0;
  for (const TensorInfo& tensor : checkpoint_.tensors()) {
    if (used_.contains(tensor.name) || group_of(tensor.name) != nullptr) continue;
    lines.push_back(fmt::format("unexpected: {} {}", printable(tensor.name), to_string(tensor.shape)));
    ++unexpected;
  }
  if (lines.empty()) return;
  std::string message =
      fmt::format("'{}' is not the {} that samlet knows: {} tensors are missing, {} wrong, {} unexpected",
                  path_to_utf8(checkpoint_.path()), model_, missing_.size(), misshapen_.size(), unexpected);
  for (std::size_t i = 0; i < lines.size() && i < kMaxLines; ++i) message += "\n  " + lines[i];
  if (lines.size() > kMaxLines) message += fmt::format("\n  and {} more", lines.size() - kMaxLines);
  throw Error(ErrorCode::kModelDamaged, message);
}

}  // namespace samlet::sam3
