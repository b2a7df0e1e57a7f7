#include "libs/onnx/builder.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "samlet/error.h"

namespace samlet::onnx {
namespace {

static_assert(std::endian::native == std::endian::little,
              "ONNX stores little-endian; no other machine was tried");

template <typename T>
std::vector<std::uint8_t> bytes_of(std::span<const T> values) {
  std::vector<std::uint8_t> bytes(values.size_bytes());
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

bool replace_name(std::vector<std::string>& names, const std::string& from, const std::string& to) {
  bool found = false;
  for (std::string& name : names) {
    if (name != from) continue;
    name = to;
    found = true;
  }
  return found;
}

}  // namespace

std::size_t Initializer::byte_size() const {
  if (const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&values)) return bytes->size();
  return std::get<LazyTensor>(values).count() * size_of(dtype);
}

std::string Builder::unique(std::string wanted) {
  const int times = root().names_[wanted]++;
  if (times == 0) return wanted;
  return unique(fmt::format("{}_{}", wanted, times));
}

Value Builder::input(std::string_view name, DType dtype, Dimensions dimensions) {
  Value value{unique(std::string(name)), dtype, std::move(dimensions)};
  if (value.name != name) {
    throw Error(ErrorCode::kInternal, fmt::format("the input '{}' of '{}' is there twice", name, name_));
  }
  body_.inputs.push_back(value);
  return value;
}

void Builder::rename(const std::string& from, const std::string& to) {
  for (Node& node : body_.nodes) {
    replace_name(node.inputs, from, to);
    replace_name(node.outputs, from, to);
  }
}

void Builder::output(std::string_view name, const Value& value) {
  const auto made_by_node = [&](const Node& node) {
    return std::find(node.outputs.begin(), node.outputs.end(), value.name) != node.outputs.end();
  };
  const bool already_output = std::any_of(body_.outputs.begin(), body_.outputs.end(),
                                          [&](const Value& v) { return v.name == value.name; });
  // A body of a Loop that used the old name would not follow, so a value is renamed only where no body can
  // have it.
  const bool has_bodies =
      std::any_of(body_.nodes.begin(), body_.nodes.end(), [](const Node& n) { return n.op_type == "Loop"; });
  Value named = value;
  if (!already_output && !has_bodies && std::any_of(body_.nodes.begin(), body_.nodes.end(), made_by_node)) {
    named.name = unique(std::string(name));
    rename(value.name, named.name);
  } else {
    named.name = unique(std::string(name));
    body_.nodes.push_back({"Identity", "", named.name, named.name, {value.name}, {named.name}, {}});
  }
  if (named.name != name) {
    throw Error(ErrorCode::kInternal, fmt::format("the output '{}' of '{}' is there twice", name, name_));
  }
  body_.outputs.push_back(std::move(named));
}

std::vector<Value> Builder::node(std::string_view op_type, std::span<const Value> inputs,
                                 std::vector<Attribute> attributes, std::span<const Result> results) {
  Node node;
  node.op_type = op_type;
  node.base = fmt::format("{}{}{}", section_, section_.empty() ? "" : "/", op_type);
  node.name = unique(node.base);
  node.attributes = std::move(attributes);
  for (const Value& value : inputs) node.inputs.push_back(value.name);
  std::vector<Value> values;
  for (const Result& result : results) {
    values.push_back(
        {unique(results.size() == 1 ? node.name + ":0" : fmt::format("{}:{}", node.name, values.size())),
         result.dtype, result.dimensions});
    node.outputs.push_back(values.back().name);
  }
  body_.nodes.push_back(std::move(node));
  return values;
}

Value Builder::node(std::string_view op_type, std::initializer_list<Value> inputs,
                    std::vector<Attribute> attributes, Result result) {
  const std::span<const Value> given(inputs.begin(), inputs.size());
  return node(op_type, given, std::move(attributes), std::span<const Result>(&result, 1)).front();
}

Value Builder::weight(std::string_view name, LazyTensor tensor, DType dtype) {
  Builder& top = root();
  Initializer initializer{unique(std::string(name)), std::string(name), dtype, tensor.shape(),
                          std::move(tensor)};
  Value value{initializer.name, dtype, fixed(initializer.shape)};
  top.initializers_.push_back(std::move(initializer));
  return value;
}

Value Builder::constant_bytes(std::string_view kind, DType dtype, std::vector<std::uint8_t> bytes,
                              Shape shape) {
  const auto count = element_count(shape);
  if (!count || bytes.size() != *count * size_of(dtype)) {
    throw Error(ErrorCode::kInternal,
                fmt::format("a constant of {} bytes as {} {}", bytes.size(), kind, samlet::to_string(shape)));
  }
  Builder& top = root();
  auto key = std::pair(fmt::format("{} {}", kind, samlet::to_string(shape)), bytes);
  const auto known = top.constants_.find(key);
  if (known != top.constants_.end()) return known->second;
  const std::string base = fmt::format("constant/{}", kind);
  Initializer initializer{unique(base), base, dtype, std::move(shape), std::move(bytes)};
  Value value{initializer.name, dtype, fixed(initializer.shape)};
  top.initializers_.push_back(std::move(initializer));
  top.constants_.emplace(std::move(key), value);
  return value;
}

Value Builder::constant(const std::vector<std::int64_t>& values, Shape shape) {
  return constant_bytes("i64", DType::kInt64, bytes_of(std::span<const std::int64_t>(values)),
                        std::move(shape));
}

Value Builder::constant(const std::vector<float>& values, Shape shape) {
  return constant_bytes("f32", DType::kFloat32, bytes_of(std::span<const float>(values)), std::move(shape));
}

Value Builder::constant(const std::vector<bool>& values, Shape shape) {
  std::vector<std::uint8_t> bytes;
  for (const bool value : values) bytes.push_back(value ? 1 : 0);
  return constant_bytes("bool", DType::kBool, std::move(bytes), std::move(shape));
}

Value Builder::indices(const std::vector<std::int64_t>& values) {
  return constant(values, {static_cast<std::int64_t>(values.size())});
}

std::unique_ptr<Builder> Builder::subgraph(std::string name) {
  auto builder = std::make_unique<Builder>(std::move(name));
  builder->parent_ = this;
  builder->section_ = section_;
  builder->flops_ = flops_;
  return builder;
}

Value Builder::loop(const Value& trips, const Value& state, std::unique_ptr<Builder> body,
                    Dimensions dimensions) {
  auto shared = std::make_shared<const Body>(std::move(body->body_));
  return node("Loop", {trips, Value{}, state}, {{"body", std::move(shared)}},
              {state.dtype, std::move(dimensions)});
}

}  // namespace samlet::onnx
