#include "libs/ort/graph_flow.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet::ort {
namespace {

using protozero::pbf_reader;

// Field numbers of onnx.proto, as in model_file.cc.
constexpr protozero::pbf_tag_type kModelGraph = 7;
constexpr protozero::pbf_tag_type kGraphNode = 1;
constexpr protozero::pbf_tag_type kGraphInitializer = 5;
constexpr protozero::pbf_tag_type kGraphInput = 11;
constexpr protozero::pbf_tag_type kNodeInput = 1;
constexpr protozero::pbf_tag_type kNodeOutput = 2;
constexpr protozero::pbf_tag_type kNodeOperator = 4;
constexpr protozero::pbf_tag_type kNodeAttribute = 5;
constexpr protozero::pbf_tag_type kAttributeTensor = 5;
constexpr protozero::pbf_tag_type kTensorDims = 1;
constexpr protozero::pbf_tag_type kTensorName = 8;
constexpr protozero::pbf_tag_type kInfoName = 1;

/// Constants of more elements than this are learned: an embedding, not a scale or an offset.
constexpr std::uint64_t kMostPlain = 4;

struct Node {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::uint64_t constant_elements = 1;  ///< of a tensor among its attributes
};

struct Graph {
  std::vector<Node> nodes;
  std::map<std::string, std::uint64_t> constants;  ///< name -> elements
  std::set<std::string> inputs;
};

/// As in model_file.cc: a length beyond what is there must not be cut to 32 bits first.
bool next(pbf_reader& reader) {
  if (!reader.next()) return false;
  if (reader.wire_type() != protozero::pbf_wire_type::length_delimited) return true;
  const protozero::data_view rest = reader.data();
  const char* at = rest.data();
  const char* const end = rest.data() + rest.size();
  const std::uint64_t length = protozero::decode_varint(&at, end);
  if (length > static_cast<std::uint64_t>(end - at)) throw protozero::end_of_buffer_exception();
  return true;
}

bool is_message(const pbf_reader& reader, protozero::pbf_tag_type tag) {
  return reader.tag_and_type() == protozero::tag_and_type(tag, protozero::pbf_wire_type::length_delimited);
}

/// Whether a tensor has few elements or many is all that is asked, so the product stops growing early.
std::uint64_t times(std::uint64_t elements, std::int64_t dimension) {
  constexpr std::uint64_t kMany = 1U << 20U;
  return std::min(kMany, elements) *
         std::min(kMany, static_cast<std::uint64_t>(std::max<std::int64_t>(0, dimension)));
}

std::pair<std::string, std::uint64_t> read_tensor(pbf_reader tensor) {
  std::pair<std::string, std::uint64_t> result{"", 1};
  while (next(tensor)) {
    if (is_message(tensor, kTensorName)) {
      result.first = tensor.get_string();
    } else if (tensor.tag_and_type() ==
               protozero::tag_and_type(kTensorDims, protozero::pbf_wire_type::varint)) {
      result.second = times(result.second, tensor.get_int64());
    } else if (is_message(tensor, kTensorDims)) {
      for (const std::int64_t dimension : tensor.get_packed_int64())
        result.second = times(result.second, dimension);
    } else {
      tensor.skip();
    }
  }
  return result;
}

Node read_node(pbf_reader reader) {
  Node node;
  while (next(reader)) {
    if (is_message(reader, kNodeInput)) {
      node.inputs.push_back(reader.get_string());
    } else if (is_message(reader, kNodeOutput)) {
      node.outputs.push_back(reader.get_string());
    } else if (is_message(reader, kNodeOperator)) {
      node.op = reader.get_string();
    } else if (is_message(reader, kNodeAttribute)) {
      pbf_reader attribute = reader.get_message();
      while (next(attribute)) {
        if (is_message(attribute, kAttributeTensor)) {
          node.constant_elements =
              std::max(node.constant_elements, read_tensor(attribute.get_message()).second);
        } else {
          attribute.skip();
        }
      }
    } else {
      reader.skip();
    }
  }
  return node;
}

void read_graph(pbf_reader reader, Graph& graph) {
  while (next(reader)) {
    if (is_message(reader, kGraphNode)) {
      graph.nodes.push_back(read_node(reader.get_message()));
    } else if (is_message(reader, kGraphInitializer)) {
      graph.constants.insert(read_tensor(reader.get_message()));
    } else if (is_message(reader, kGraphInput)) {
      pbf_reader info = reader.get_message();
      while (next(info)) {
        if (is_message(info, kInfoName)) {
          graph.inputs.insert(info.get_string());
        } else {
          info.skip();
        }
      }
    } else {
      reader.skip();
    }
  }
}

Graph read_model(std::span<const std::uint8_t> bytes) {
  Graph graph;
  try {
    pbf_reader model(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    while (next(model)) {
      if (is_message(model, kModelGraph)) {
        read_graph(model.get_message(), graph);
      } else {
        model.skip();
      }
    }
  } catch (const protozero::exception& error) {
    throw Error(ErrorCode::kModelDamaged,
                fmt::format("it is not an ONNX model, or cut ({}); export or download the model again",
                            error.what()));
  }
  for (const auto& [name, elements] : graph.constants) graph.inputs.erase(name);
  return graph;
}

/// Does the same with every number, or puts them elsewhere.
bool is_plain(std::string_view op) {
  constexpr std::array<std::string_view, 25> kPlain{"Abs",
                                                    "Add",
                                                    "And",
                                                    "Cast",
                                                    "Clip",
                                                    "Concat",
                                                    "Cos",
                                                    "Div",
                                                    "Equal",
                                                    "Greater",
                                                    "GreaterOrEqual",
                                                    "Identity",
                                                    "Less",
                                                    "LessOrEqual",
                                                    "Max",
                                                    "Min",
                                                    "Mul",
                                                    "Neg",
                                                    "Not",
                                                    "Or",
                                                    "Sin",
                                                    "Sub",
                                                    "Transpose",
                                                    "Where",
                                                    "Xor"};
  return std::find(kPlain.begin(), kPlain.end(), op) != kPlain.end();
}

/// Only moves numbers about, by what its further inputs say.
bool only_moves(std::string_view op) {
  constexpr std::array<std::string_view, 8> kMoving{"Expand", "Flatten", "Reshape", "Slice",
                                                    "Split",  "Squeeze", "Tile",    "Unsqueeze"};
  return std::find(kMoving.begin(), kMoving.end(), op) != kMoving.end();
}

/// One walk in the order of the nodes, which ONNX demands to be the order of their work.
class Flow {
 public:
  Flow(const Graph& graph, std::string_view input) : constants_(graph.constants), varies_(graph.inputs) {
    if (varies_.contains(std::string(input))) followed_.insert(std::string(input));
  }

  /// Gives whether the node joins what is followed with a constant.
  bool step(const Node& node) {
    const Inputs in = look_at(node);
    if (in.follows && ((node.op == "Concat" && in.has_constant) || node.op == "Pad")) return true;
    // How large something is says nothing of what is in it.
    const bool only_size = node.op == "Shape" || node.op == "Size";
    const bool plain = only_moves(node.op) || (is_plain(node.op) && in.elements <= kMostPlain);
    for (const std::string& name : node.outputs) {
      if (in.varies && !only_size) {
        varies_.insert(name);
        if (plain && in.follows && in.follows_all) followed_.insert(name);
      } else {
        constants_[name] = only_size ? 1 : in.elements;
      }
    }
    return false;
  }

 private:
  struct Inputs {
    bool follows = false;
    bool follows_all = true;  ///< that varies: what was mixed with another input is no longer ours
    bool varies = false;
    bool has_constant = false;
    std::uint64_t elements = 1;  ///< of the largest constant
  };

  [[nodiscard]] Inputs look_at(const Node& node) const {
    Inputs in;
    in.elements = node.constant_elements;
    for (const std::string& name : node.inputs) {
      if (name.empty()) continue;
      if (!varies_.contains(name)) {
        in.has_constant = true;
        const auto at = constants_.find(name);
        if (at != constants_.end()) in.elements = std::max(in.elements, at->second);
        continue;
      }
      const bool followed = followed_.contains(name);
      in.varies = true;
      in.follows = in.follows || followed;
      in.follows_all = in.follows_all && followed;
    }
    return in;
  }

  std::map<std::string, std::uint64_t> constants_;
  std::set<std::string> varies_;
  std::set<std::string> followed_;
};

}  // namespace

bool joins_constant(std::span<const std::uint8_t> bytes, std::string_view input) {
  const Graph graph = read_model(bytes);
  Flow flow(graph, input);
  return std::any_of(graph.nodes.begin(), graph.nodes.end(),
                     [&](const Node& node) { return flow.step(node); });
}

bool joins_constant(const std::filesystem::path& path, std::string_view input) {
  const MappedFile mapped(path);
  return joins_constant(mapped.bytes(), input);
}

}  // namespace samlet::ort
