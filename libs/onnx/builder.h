// A graph that is being built: nodes in the order in which they run, weights by reference, names made unique.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "libs/onnx/value.h"
#include "libs/tensor/lazy_tensor.h"

namespace samlet::onnx {

class Body;

/// A node's attribute. A graph attribute (the body of a Loop) is shared, not copied.
struct Attribute {
  std::string name;
  std::variant<std::int64_t, float, std::string, std::vector<std::int64_t>, std::vector<float>,
               std::shared_ptr<const Body>>
      value;
};

struct Node {
  std::string op_type;
  std::string domain;  ///< Empty = ONNX's own operators.
  std::string name;
  std::string base;                 ///< The name without the number that makes it unique.
  std::vector<std::string> inputs;  ///< Empty = an optional input that is left out.
  std::vector<std::string> outputs;
  std::vector<Attribute> attributes;
};

/// A constant of the graph: weights that are made when they are written, or a few values that are there
/// already.
struct Initializer {
  std::string name;
  std::string base;               ///< As of a node.
  DType dtype = DType::kFloat32;  ///< As written; lazy floats may be written as f16.
  Shape shape;
  std::variant<LazyTensor, std::vector<std::uint8_t>> values;  ///< Bytes are little-endian.

  /// Bytes as written.
  [[nodiscard]] std::size_t byte_size() const;
};

/// Nodes with the names of what goes in and out: the whole of a graph without its constants, or the body of a
/// Loop.
class Body {
 public:
  std::vector<Value> inputs;
  std::vector<Value> outputs;
  std::vector<Node> nodes;
};

/// What a node gives: element type and dimensions of one output.
struct Result {
  DType dtype = DType::kFloat32;
  Dimensions dimensions;
};

/// Builds one graph. Its constants live in the outermost graph. Values are plain names, so nothing dangles,
/// but a value of a subgraph means nothing outside of it. Not thread-safe.
class Builder {
 public:
  explicit Builder(std::string name) : name_(std::move(name)) {}
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  /// Declares an input of the graph. Errors: kInternal for a name that is taken.
  Value input(std::string_view name, DType dtype, Dimensions dimensions);
  /// Makes a value an output under the given name, which must be free.
  void output(std::string_view name, const Value& value);

  /// Adds a node and returns its outputs. Errors: kInternal never; what does not fit is found by the helpers
  /// of ops.h.
  std::vector<Value> node(std::string_view op_type, std::span<const Value> inputs,
                          std::vector<Attribute> attributes, std::span<const Result> results);
  /// The usual case of one output. A Value without a name stands for an optional input that is left out.
  Value node(std::string_view op_type, std::initializer_list<Value> inputs, std::vector<Attribute> attributes,
             Result result);

  /// A weight, written as `dtype` (f32 or f16). The name should be the checkpoint's; a second weight of the
  /// same name gets a number. The same LazyTensor given twice is two weights.
  Value weight(std::string_view name, LazyTensor tensor, DType dtype = DType::kFloat32);
  /// Small constants; equal ones are stored once. Errors: kInternal when the values do not fill the shape.
  Value constant(const std::vector<std::int64_t>& values, Shape shape);
  Value constant(const std::vector<float>& values, Shape shape);
  Value constant(const std::vector<bool>& values, Shape shape);
  Value scalar(float value) { return constant(std::vector<float>{value}, {}); }
  Value scalar(std::int64_t value) { return constant(std::vector<std::int64_t>{value}, {}); }
  Value indices(const std::vector<std::int64_t>& values);

  /// Prefix of the names of the nodes that follow, until it is set again ("vit/block_03").
  void set_section(std::string section) { section_ = std::move(section); }

  /// The builder of a subgraph, which may use all values of this one. This one must outlive it, and nothing
  /// may be added here while it is in use.
  [[nodiscard]] std::unique_ptr<Builder> subgraph(std::string name);
  /// A Loop over `trips` (i64, scalar) rounds; `body` has inputs (round i64 [], condition bool [], state) and
  /// outputs (condition, state). Returns the state after the last round, with the given dimensions.
  Value loop(const Value& trips, const Value& state, std::unique_ptr<Builder> body, Dimensions dimensions);

  /// Adds to the count of floating point operations (2 for a multiply-add); symbols count as 1.
  void count_flops(double flops) { *flops_ += flops; }
  [[nodiscard]] double flops() const noexcept { return *flops_; }

  [[nodiscard]] const Body& body() const noexcept { return body_; }
  [[nodiscard]] const std::vector<Initializer>& initializers() const noexcept { return root().initializers_; }

 private:
  [[nodiscard]] Builder& root() noexcept { return parent_ == nullptr ? *this : parent_->root(); }
  [[nodiscard]] const Builder& root() const noexcept { return parent_ == nullptr ? *this : parent_->root(); }
  std::string unique(std::string wanted);
  Value constant_bytes(std::string_view kind, DType dtype, std::vector<std::uint8_t> bytes, Shape shape);
  void rename(const std::string& from, const std::string& to);

  std::string name_;
  Builder* parent_ = nullptr;
  Body body_;
  std::vector<Initializer> initializers_;
  std::map<std::string, int, std::less<>> names_;  // how often each was wanted
  std::map<std::pair<std::string, std::vector<std::uint8_t>>, Value> constants_;
  std::string section_;
  double own_flops_ = 0;
  double* flops_ = &own_flops_;
};

}  // namespace samlet::onnx
