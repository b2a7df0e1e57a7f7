// The only writer of protobuf: ONNX's messages by field number (onnx.proto of ONNX 1.15), in the order of
// their numbers except that weights come last in the graph, so that everything else is known before the first
// of them is made.
#include "libs/onnx/writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <protozero/pbf_writer.hpp>

#include "libs/tensor/half.h"
#include "samlet/error.h"

namespace samlet::onnx {
namespace {

using protozero::pbf_writer;

// NOLINTBEGIN(readability-identifier-naming): field numbers, grouped by their message
namespace model_field {
enum : protozero::pbf_tag_type {
  kIrVersion = 1,
  kProducer = 2,
  kProducerVersion = 3,
  kGraph = 7,
  kOperatorSet = 8,
  kMetadata = 14
};
}
namespace set_field {
enum : protozero::pbf_tag_type { kDomain = 1, kVersion = 2 };
}
namespace entry_field {
enum : protozero::pbf_tag_type { kKey = 1, kValue = 2 };
}
namespace graph_field {
enum : protozero::pbf_tag_type { kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12 };
}
namespace node_field {
enum : protozero::pbf_tag_type {
  kInput = 1,
  kOutput = 2,
  kName = 3,
  kOpType = 4,
  kAttribute = 5,
  kDomain = 7
};
}
namespace attribute_field {
enum : protozero::pbf_tag_type {
  kName = 1,
  kFloat = 2,
  kInt = 3,
  kString = 4,
  kGraph = 6,
  kFloats = 7,
  kInts = 8,
  kType = 20
};
}
namespace tensor_field {
enum : protozero::pbf_tag_type {
  kDims = 1,
  kType = 2,
  kName = 8,
  kRawData = 9,
  kExternal = 13,
  kLocation = 14
};
}
namespace value_field {
enum : protozero::pbf_tag_type { kName = 1, kType = 2 };
}
namespace type_field {
enum : protozero::pbf_tag_type { kTensor = 1 };
}
namespace tensor_type_field {
enum : protozero::pbf_tag_type { kElement = 1, kShape = 2 };
}
namespace shape_field {
enum : protozero::pbf_tag_type { kDimension = 1 };
}
namespace dimension_field {
enum : protozero::pbf_tag_type { kSize = 1, kSymbol = 2 };
}
// NOLINTEND(readability-identifier-naming)

// AttributeProto.AttributeType
enum AttributeType : std::int32_t {
  kTypeFloat = 1,
  kTypeInt = 2,
  kTypeString = 3,
  kTypeGraph = 5,
  kTypeFloats = 6,
  kTypeInts = 7
};

/// Offsets in the data file are multiples of this, so that a runtime can map a weight (one page on all
/// systems but a few); small ones only need the alignment of the widest vector load.
constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kVector = 64;
constexpr std::uint64_t kMostModelBytes = (std::uint64_t{1} << 31) - 1;

void write_body(pbf_writer& graph, const Body& body, const std::string& name);

void write_attribute(pbf_writer& message, const Attribute& attribute) {
  message.add_string(attribute_field::kName, attribute.name);
  std::int32_t type = 0;
  if (const auto* f = std::get_if<float>(&attribute.value)) {
    message.add_float(attribute_field::kFloat, *f);
    type = kTypeFloat;
  } else if (const auto* i = std::get_if<std::int64_t>(&attribute.value)) {
    message.add_int64(attribute_field::kInt, *i);
    type = kTypeInt;
  } else if (const auto* s = std::get_if<std::string>(&attribute.value)) {
    message.add_bytes(attribute_field::kString, *s);
    type = kTypeString;
  } else if (const auto* body = std::get_if<std::shared_ptr<const Body>>(&attribute.value)) {
    pbf_writer graph(message, attribute_field::kGraph);
    write_body(graph, **body, attribute.name);
    type = kTypeGraph;
  } else if (const auto* floats = std::get_if<std::vector<float>>(&attribute.value)) {
    for (const float value : *floats) message.add_float(attribute_field::kFloats, value);
    type = kTypeFloats;
  } else if (const auto* ints = std::get_if<std::vector<std::int64_t>>(&attribute.value)) {
    for (const std::int64_t value : *ints) message.add_int64(attribute_field::kInts, value);
    type = kTypeInts;
  }
  message.add_enum(attribute_field::kType, type);
}

void write_node(pbf_writer& message, const Node& node) {
  for (const std::string& input : node.inputs) message.add_string(node_field::kInput, input);
  for (const std::string& output : node.outputs) message.add_string(node_field::kOutput, output);
  message.add_string(node_field::kName, node.name);
  message.add_string(node_field::kOpType, node.op_type);
  for (const Attribute& attribute : node.attributes) {
    pbf_writer below(message, node_field::kAttribute);
    write_attribute(below, attribute);
  }
  if (!node.domain.empty()) message.add_string(node_field::kDomain, node.domain);
}

void write_value(pbf_writer& message, const Value& value) {
  message.add_string(value_field::kName, value.name);
  pbf_writer type(message, value_field::kType);
  pbf_writer tensor(type, type_field::kTensor);
  tensor.add_enum(tensor_type_field::kElement, onnx_data_type(value.dtype));
  // By way of a string: a scalar's shape is an empty message, which a nested writer would leave out.
  std::string bytes;
  pbf_writer shape(bytes);
  for (const Dimension& d : value.dimensions) {
    pbf_writer dimension(shape, shape_field::kDimension);
    if (d.is_fixed()) {
      dimension.add_int64(dimension_field::kSize, d.size());
    } else {
      dimension.add_string(dimension_field::kSymbol, d.symbol());
    }
  }
  tensor.add_message(tensor_type_field::kShape, bytes);
}

void write_body(pbf_writer& graph, const Body& body, const std::string& name) {
  for (const Node& node : body.nodes) {
    pbf_writer message(graph, graph_field::kNode);
    write_node(message, node);
  }
  graph.add_string(graph_field::kName, name);
  for (const Value& value : body.inputs) {
    pbf_writer message(graph, graph_field::kInput);
    write_value(message, value);
  }
  for (const Value& value : body.outputs) {
    pbf_writer message(graph, graph_field::kOutput);
    write_value(message, value);
  }
}

void write_entry(pbf_writer& parent, protozero::pbf_tag_type field, const std::string& key,
                 const std::string& value) {
  pbf_writer entry(parent, field);
  entry.add_string(entry_field::kKey, key);
  entry.add_string(entry_field::kValue, value);
}

std::string tensor_head(const Initializer& initializer) {
  std::string bytes;
  pbf_writer tensor(bytes);
  for (const std::int64_t d : initializer.shape) tensor.add_int64(tensor_field::kDims, d);
  tensor.add_enum(tensor_field::kType, onnx_data_type(initializer.dtype));
  tensor.add_string(tensor_field::kName, initializer.name);
  return bytes;
}

void add_location(std::string& head, const std::string& file, std::uint64_t offset, std::uint64_t length) {
  pbf_writer tensor(head);
  write_entry(tensor, tensor_field::kExternal, "location", file);
  write_entry(tensor, tensor_field::kExternal, "offset", std::to_string(offset));
  write_entry(tensor, tensor_field::kExternal, "length", std::to_string(length));
  tensor.add_enum(tensor_field::kLocation, 1);  // EXTERNAL
}

std::uint64_t varint_size(std::uint64_t value) {
  std::uint64_t bytes = 1;
  for (; value >= 0x80; value >>= 7) ++bytes;
  return bytes;
}

/// The tag of a field of bytes, then their number.
std::string opening(std::uint64_t field, std::uint64_t length) {
  std::string text;
  const auto put = [&](std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text += static_cast<char>((value & 0x7F) | 0x80);
    text += static_cast<char>(value);
  };
  put((field << 3) | 2);
  put(length);
  return text;
}

std::uint64_t opening_size(std::uint64_t field, std::uint64_t length) {
  return varint_size((field << 3) | 2) + varint_size(length);
}

void give(const ByteSink& sink, const std::string& text) {
  sink({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

void require_finite(std::span<const float> values, const Initializer& initializer) {
  // A sum would miss nothing and vectorise: x * 0 is NaN for what is not finite.
  float sum = 0;
  for (const float value : values) sum += value * 0.0F;
  if (sum == 0.0F) return;
  throw Error(
      ErrorCode::kModelDamaged,
      fmt::format("the weight '{}' has values that are not finite numbers; download the checkpoint again",
                  initializer.name));
}

void give_as_half(std::span<const float> values, const Initializer& initializer, const ByteSink& sink) {
  constexpr std::size_t kPiece = 1 << 16;
  constexpr float kMostHalf = 65504;
  std::vector<std::uint16_t> halves;
  while (!values.empty()) {
    const auto piece = values.first(std::min(kPiece, values.size()));
    values = values.subspan(piece.size());
    halves.clear();
    for (const float value : piece) {
      if (std::fabs(value) > kMostHalf) {
        throw Error(
            ErrorCode::kModelUnsupported,
            fmt::format("the weight '{}' holds {}, which half precision cannot; export with --precision fp32",
                        initializer.name, value));
      }
      halves.push_back(float_to_half(value));
    }
    sink({reinterpret_cast<const std::uint8_t*>(halves.data()), halves.size() * sizeof(std::uint16_t)});
  }
}

void give_values(const Initializer& initializer, const ByteSink& sink) {
  if (const auto* bytes = std::get_if<std::vector<std::uint8_t>>(&initializer.values)) {
    sink(*bytes);
    return;
  }
  std::get<LazyTensor>(initializer.values).stream([&](std::span<const float> values) {
    require_finite(values, initializer);
    if (initializer.dtype == DType::kFloat16) {
      give_as_half(values, initializer, sink);
    } else {
      sink({reinterpret_cast<const std::uint8_t*>(values.data()), values.size_bytes()});
    }
  });
}

std::uint64_t aligned(std::uint64_t offset, std::uint64_t bytes) {
  const std::uint64_t unit = bytes >= kPage ? kPage : kVector;
  return (offset + unit - 1) / unit * unit;
}

std::string before_graph(const ModelHeader& header) {
  std::string bytes;
  pbf_writer model(bytes);
  model.add_int64(model_field::kIrVersion, header.ir_version);
  model.add_string(model_field::kProducer, "samlet");
  model.add_string(model_field::kProducerVersion, header.producer_version);
  {
    pbf_writer set(model, model_field::kOperatorSet);
    set.add_string(set_field::kDomain, "");
    set.add_int64(set_field::kVersion, header.operator_set);
  }
  for (const auto& [key, value] : header.metadata) write_entry(model, model_field::kMetadata, key, value);
  return bytes;
}

}  // namespace

ModelWriter::ModelWriter(const Builder& builder, const ModelHeader& header, const std::string& data_file)
    : graph_(canonical(builder)), before_graph_(before_graph(header)) {
  pbf_writer graph(graph_head_);
  write_body(graph, graph_.body, builder.name());
  std::uint64_t graph_bytes = graph_head_.size();
  for (const Initializer& initializer : graph_.initializers) {
    Placed placed{&initializer, tensor_head(initializer), 0, false};
    const std::uint64_t bytes = initializer.byte_size();
    placed.external = !data_file.empty() && bytes >= kExternalBytes;
    std::uint64_t message = 0;
    if (placed.external) {
      placed.offset = aligned(data_bytes_, bytes);
      data_bytes_ = placed.offset + bytes;
      add_location(placed.head, data_file, placed.offset, bytes);
      message = placed.head.size();
    } else {
      message = placed.head.size() + opening_size(tensor_field::kRawData, bytes) + bytes;
    }
    graph_bytes += opening_size(graph_field::kInitializer, message) + message;
    placed_.push_back(std::move(placed));
  }
  graph_bytes_ = graph_bytes;
  model_bytes_ = before_graph_.size() + opening_size(model_field::kGraph, graph_bytes) + graph_bytes;
  if (model_bytes_ > kMostModelBytes) {
    throw Error(ErrorCode::kInternal,
                fmt::format("the graph '{}' needs a data file beside it", builder.name()));
  }
}

void ModelWriter::write_model(const ByteSink& sink) const {
  give(sink, before_graph_);
  give(sink, opening(model_field::kGraph, graph_bytes_));
  give(sink, graph_head_);
  for (const Placed& placed : placed_) {
    const std::uint64_t bytes = placed.initializer->byte_size();
    const std::string raw = placed.external ? "" : opening(tensor_field::kRawData, bytes);
    const std::uint64_t message = placed.head.size() + raw.size() + (placed.external ? 0 : bytes);
    give(sink, opening(graph_field::kInitializer, message));
    give(sink, placed.head);
    if (placed.external) continue;
    give(sink, raw);
    give_values(*placed.initializer, sink);
  }
}

void ModelWriter::write_data(const ByteSink& sink) const {
  const std::vector<std::uint8_t> zeros(kPage, 0);
  std::uint64_t position = 0;
  for (const Placed& placed : placed_) {
    if (!placed.external) continue;
    sink(std::span(zeros).first(static_cast<std::size_t>(placed.offset - position)));
    give_values(*placed.initializer, sink);
    position = placed.offset + placed.initializer->byte_size();
  }
}

}  // namespace samlet::onnx
