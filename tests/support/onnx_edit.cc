#include "tests/support/onnx_edit.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>

namespace samlet::test {
namespace {

using protozero::pbf_reader;
using protozero::pbf_writer;

// Field numbers of onnx.proto.
constexpr protozero::pbf_tag_type kModelGraph = 7;
constexpr protozero::pbf_tag_type kNode = 1;
constexpr protozero::pbf_tag_type kInitializer = 5;
constexpr protozero::pbf_tag_type kInput = 11;
constexpr protozero::pbf_tag_type kOutput = 12;
constexpr protozero::pbf_tag_type kName = 1;
constexpr protozero::pbf_tag_type kType = 2;

std::string text(const protozero::data_view& view) {
  return {view.data(), view.size()};
}

/// Copies the field at which the reader stands.
void copy_field(pbf_reader& from, pbf_writer& to) {
  const auto tag = from.tag();  // the reader forgets it with the value
  switch (from.wire_type()) {
    case protozero::pbf_wire_type::varint:
      to.add_uint64(tag, from.get_uint64());
      break;
    case protozero::pbf_wire_type::length_delimited:
      to.add_bytes(tag, from.get_view());
      break;
    default:
      throw std::runtime_error("an ONNX field of a type that no ONNX field has");
  }
}

std::string type_of(OnnxType type, const std::vector<std::int64_t>& shape) {
  std::string bytes;
  pbf_writer whole(bytes);
  pbf_writer tensor(whole, 1);
  tensor.add_int32(1, static_cast<std::int32_t>(type));
  pbf_writer dims(tensor, 2);
  for (std::size_t i = 0; i < shape.size(); ++i) {
    pbf_writer dim(dims, 1);
    if (shape[i] < 0) {
      dim.add_string(2, std::string(i + 1, 'd'));
    } else {
      dim.add_int64(1, shape[i]);
    }
  }
  dims.commit();
  tensor.commit();
  return bytes;
}

std::string node_bytes(const OnnxNode& node) {
  constexpr std::int32_t kIsNumber = 2;
  constexpr std::int32_t kIsList = 7;
  std::string bytes;
  pbf_writer writer(bytes);
  for (const std::string& input : node.inputs) writer.add_string(1, input);
  for (const std::string& output : node.outputs) writer.add_string(2, output);
  writer.add_string(4, node.op);
  for (const auto& [name, values] : node.lists) {
    pbf_writer attribute(writer, 5);
    attribute.add_string(1, name);
    for (const std::int64_t value : values) attribute.add_int64(8, value);
    attribute.add_int32(20, kIsList);
  }
  for (const auto& [name, value] : node.numbers) {
    pbf_writer attribute(writer, 5);
    attribute.add_string(1, name);
    attribute.add_int64(3, value);
    attribute.add_int32(20, kIsNumber);
  }
  return bytes;
}

template <typename T>
void add_initializer(std::string& graph, const std::string& name, OnnxType type, const std::vector<T>& values,
                     const std::vector<std::int64_t>& shape) {
  pbf_writer writer(graph);
  pbf_writer tensor(writer, kInitializer);
  for (const std::int64_t dim : shape) tensor.add_int64(1, dim);
  tensor.add_int32(2, static_cast<std::int32_t>(type));
  tensor.add_string(8, name);
  tensor.add_bytes(9, reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

}  // namespace

OnnxEdit::OnnxEdit(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  read(bytes);
}

void OnnxEdit::read(std::string_view bytes) {
  pbf_reader reader(bytes.data(), bytes.size());
  pbf_writer model(model_);
  while (reader.next()) {
    if (reader.tag() == kModelGraph) {
      read_graph(text(reader.get_view()));
    } else {
      copy_field(reader, model);
    }
  }
}

void OnnxEdit::read_graph(std::string_view bytes) {
  pbf_reader reader(bytes.data(), bytes.size());
  pbf_writer graph(graph_);
  while (reader.next()) {
    if (reader.tag() == kNode) {
      nodes_.push_back(text(reader.get_view()));
    } else if (reader.tag() == kInput || reader.tag() == kOutput) {
      auto& values = reader.tag() == kInput ? inputs_ : outputs_;
      Value& value = values.emplace_back();
      pbf_reader info = reader.get_message();
      while (info.next()) {
        if (info.tag() == kName) {
          value.name = info.get_string();
        } else if (info.tag() == kType) {
          value.type = text(info.get_view());
        } else {
          info.skip();
        }
      }
    } else {
      copy_field(reader, graph);
    }
  }
}

OnnxEdit::Value OnnxEdit::take(std::vector<Value>& values, std::string_view name) {
  const auto at = std::find_if(values.begin(), values.end(), [&](const Value& v) { return v.name == name; });
  if (at == values.end()) throw std::runtime_error("the graph has no '" + std::string(name) + "'");
  Value value = *at;
  values.erase(at);
  return value;
}

OnnxEdit& OnnxEdit::rename_input(std::string_view from, const std::string& to) {
  const Value value = take(inputs_, from);
  inputs_.push_back({to, value.type});
  return before({"Identity", {to}, {value.name}});
}

OnnxEdit& OnnxEdit::rename_output(std::string_view from, const std::string& to) {
  const Value value = take(outputs_, from);
  outputs_.push_back({to, value.type});
  return after({"Identity", {value.name}, {to}});
}

OnnxEdit& OnnxEdit::drop_input(std::string_view name) {
  take(inputs_, name);
  return *this;
}

OnnxEdit& OnnxEdit::drop_output(std::string_view name) {
  take(outputs_, name);
  return *this;
}

OnnxEdit& OnnxEdit::add_input(const std::string& name, OnnxType type,
                              const std::vector<std::int64_t>& shape) {
  inputs_.push_back({name, type_of(type, shape)});
  return *this;
}

OnnxEdit& OnnxEdit::add_output(const std::string& name, OnnxType type,
                               const std::vector<std::int64_t>& shape) {
  outputs_.push_back({name, type_of(type, shape)});
  return *this;
}

OnnxEdit& OnnxEdit::before(const OnnxNode& node) {
  first_nodes_.push_back(node_bytes(node));
  return *this;
}

OnnxEdit& OnnxEdit::after(const OnnxNode& node) {
  nodes_.push_back(node_bytes(node));
  return *this;
}

OnnxEdit& OnnxEdit::floats(const std::string& name, const std::vector<float>& values,
                           const std::vector<std::int64_t>& shape) {
  add_initializer(graph_, name, OnnxType::kFloat, values, shape);
  return *this;
}

OnnxEdit& OnnxEdit::integers(const std::string& name, const std::vector<std::int64_t>& values,
                             const std::vector<std::int64_t>& shape) {
  add_initializer(graph_, name, OnnxType::kInt64, values, shape);
  return *this;
}

void OnnxEdit::save(const std::filesystem::path& file) const {
  std::string graph;
  pbf_writer writer(graph);
  for (const auto* nodes : {&first_nodes_, &nodes_}) {
    for (const std::string& node : *nodes) writer.add_bytes(kNode, node);
  }
  for (const auto& [field, values] : {std::pair{kInput, &inputs_}, std::pair{kOutput, &outputs_}}) {
    for (const Value& value : *values) {
      pbf_writer info(writer, field);
      info.add_string(kName, value.name);
      info.add_bytes(kType, value.type);
    }
  }
  graph += graph_;
  std::string model = model_;
  pbf_writer(model).add_bytes(kModelGraph, graph);
  std::ofstream(file, std::ios::binary) << model;
}

}  // namespace samlet::test
