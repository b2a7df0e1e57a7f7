// The operators that move elements about and compute nothing.
#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "libs/onnx/ops.h"
#include "samlet/error.h"

namespace samlet::onnx {
namespace {

[[noreturn]] void refuse(std::string_view op, const Value& x, const std::string& what) {
  throw Error(ErrorCode::kInternal,
              fmt::format("{} of '{}' {}: {}", op, x.name, to_string(x.dimensions), what));
}

bool all_fixed(const Dimensions& dimensions) {
  return std::all_of(dimensions.begin(), dimensions.end(), [](const Dimension& d) { return d.is_fixed(); });
}

}  // namespace

Value cast(Builder& g, const Value& x, DType dtype) {
  if (x.dtype == dtype) return x;
  return g.node("Cast", {x}, {{"to", std::int64_t{onnx_data_type(dtype)}}}, {dtype, x.dimensions});
}

Value reshape(Builder& g, const Value& x, const Dimensions& dimensions) {
  if (x.dimensions == dimensions) return x;
  // 0 copies the dimension at the same place, -1 (once) is worked out from the rest.
  std::vector<std::int64_t> target;
  int inferred = 0;
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    const Dimension& d = dimensions[i];
    const bool kept = !d.is_fixed() && i < x.rank() && x.dimensions[i] == d;
    if (!d.is_fixed() && !kept) ++inferred;
    const std::int64_t varying = kept ? 0 : -1;
    target.push_back(d.is_fixed() ? d.size() : varying);
  }
  const bool same_count = !all_fixed(dimensions) || !all_fixed(x.dimensions) ||
                          count_at_one(dimensions) == count_at_one(x.dimensions);
  if (inferred > 1 || !same_count) refuse("Reshape", x, fmt::format("to {}", to_string(dimensions)));
  return g.node("Reshape", {x, g.indices(target)}, {}, {x.dtype, dimensions});
}

Value transpose(Builder& g, const Value& x, std::vector<std::int64_t> permutation) {
  if (permutation.size() != x.rank()) refuse("Transpose", x, "the permutation has another length");
  Dimensions dimensions;
  for (const std::int64_t axis : permutation) dimensions.push_back(x.dimension(static_cast<int>(axis)));
  return g.node("Transpose", {x}, {{"perm", std::move(permutation)}}, {x.dtype, std::move(dimensions)});
}

Value unsqueeze(Builder& g, const Value& x, const std::vector<std::int64_t>& axes) {
  Dimensions dimensions = x.dimensions;
  for (const std::int64_t axis : axes) {  // in ascending order, as all callers give them
    if (axis < 0 || axis > static_cast<std::int64_t>(dimensions.size()))
      refuse("Unsqueeze", x, "no such axis");
    dimensions.insert(dimensions.begin() + axis, Dimension(1));
  }
  return g.node("Unsqueeze", {x, g.indices(axes)}, {}, {x.dtype, std::move(dimensions)});
}

Value squeeze(Builder& g, const Value& x, const std::vector<std::int64_t>& axes) {
  Dimensions dimensions;
  for (std::size_t i = 0; i < x.rank(); ++i) {
    const bool dropped = std::any_of(
        axes.begin(), axes.end(), [&](std::int64_t axis) { return x.index_of(static_cast<int>(axis)) == i; });
    if (!dropped) dimensions.push_back(x.dimensions[i]);
    if (dropped && !(x.dimensions[i] == Dimension(1))) refuse("Squeeze", x, "a dropped axis is not 1");
  }
  return g.node("Squeeze", {x, g.indices(axes)}, {}, {x.dtype, std::move(dimensions)});
}

Value concat(Builder& g, std::span<const Value> parts, int axis, const Dimension& total) {
  const Value& first = parts.front();
  const std::size_t at = first.index_of(axis);
  Dimensions dimensions = first.dimensions;
  std::int64_t sum = 0;
  bool known = true;
  for (const Value& part : parts) {
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
      const bool fits = part.rank() == first.rank() && (i == at || part.dimensions[i] == dimensions[i]);
      if (!fits || part.dtype != first.dtype)
        refuse("Concat", part, "does not fit to " + to_string(first.dimensions));
    }
    known = known && part.dimensions[at].is_fixed();
    sum += part.dimensions[at].size();
  }
  if (!known && total.is_fixed())
    refuse("Concat", first, "a part varies along the axis, and nothing names the sum");
  dimensions[at] = known ? Dimension(sum) : total;
  const Result result{first.dtype, std::move(dimensions)};
  return g.node("Concat", parts, {{"axis", std::int64_t{axis}}}, std::span<const Result>(&result, 1)).front();
}

Value concat(Builder& g, std::initializer_list<Value> parts, int axis, const Dimension& total) {
  return concat(g, std::span<const Value>(parts.begin(), parts.size()), axis, total);
}

std::vector<Value> split(Builder& g, const Value& x, int axis, const std::vector<std::int64_t>& sizes) {
  const std::size_t at = x.index_of(axis);
  std::vector<Result> results;
  std::int64_t sum = 0;
  for (const std::int64_t size : sizes) {
    Dimensions dimensions = x.dimensions;
    dimensions[at] = Dimension(size);
    results.push_back({x.dtype, std::move(dimensions)});
    sum += size;
  }
  if (sum != x.size(axis)) refuse("Split", x, "the parts do not add up");
  const std::vector<Value> inputs{x, g.indices(sizes)};
  return g.node("Split", inputs, {{"axis", std::int64_t{axis}}}, results);
}

Value slice(Builder& g, const Value& x, int axis, std::int64_t begin, std::int64_t end) {
  Dimensions dimensions = x.dimensions;
  dimensions[x.index_of(axis)] = Dimension(end - begin);
  return g.node("Slice", {x, g.indices({begin}), g.indices({end}), g.indices({axis})}, {},
                {x.dtype, std::move(dimensions)});
}

Value gather(Builder& g, const Value& x, const Value& indices, int axis) {
  const std::size_t at = x.index_of(axis);
  Dimensions dimensions(x.dimensions.begin(), x.dimensions.begin() + static_cast<std::ptrdiff_t>(at));
  dimensions.insert(dimensions.end(), indices.dimensions.begin(), indices.dimensions.end());
  dimensions.insert(dimensions.end(), x.dimensions.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                    x.dimensions.end());
  return g.node("Gather", {x, indices}, {{"axis", std::int64_t{axis}}}, {x.dtype, std::move(dimensions)});
}

Value gather_nd(Builder& g, const Value& x, const Value& indices) {
  Dimensions dimensions{indices.dimension(0)};
  for (auto i = static_cast<std::size_t>(indices.size(1)); i < x.rank(); ++i) {
    dimensions.push_back(x.dimensions[i]);
  }
  return g.node("GatherND", {x, indices}, {}, {x.dtype, std::move(dimensions)});
}

Value nonzero(Builder& g, const Value& x, const char* symbol) {
  return g.node("NonZero", {x}, {}, {DType::kInt64, {static_cast<std::int64_t>(x.rank()), symbol}});
}

Value size_of_dimension(Builder& g, const Value& x, int axis) {
  const auto at = static_cast<std::int64_t>(x.index_of(axis));
  return g.node("Shape", {x}, {{"end", at + 1}, {"start", at}}, {DType::kInt64, {1}});
}

Value expand(Builder& g, const Value& x, const Value& shape, Dimensions dimensions) {
  return g.node("Expand", {x, shape}, {}, {x.dtype, std::move(dimensions)});
}

}  // namespace samlet::onnx
