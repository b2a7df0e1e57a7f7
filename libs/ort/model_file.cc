#include "libs/ort/model_file.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

#include "libs/base/checked.h"
#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "samlet/error.h"

namespace samlet::ort {
namespace fs = std::filesystem;
namespace {

using protozero::pbf_reader;

// Field numbers of onnx.proto (ONNX 1.23, IR version 13); they never change.
namespace field {
enum Model : protozero::pbf_tag_type {
  kIrVersion = 1,
  kProducerName = 2,
  kModelGraph = 7,
  kOpsetImport = 8,
  kModelMetadata = 14,
  kFunctions = 25,
};
enum Opset : protozero::pbf_tag_type { kOpsetDomain = 1, kOpsetVersion = 2 };
enum Entry : protozero::pbf_tag_type { kKey = 1, kEntryValue = 2 };
enum Graph : protozero::pbf_tag_type {
  kGraphNode = 1,
  kInitializer = 5,
  kInput = 11,
  kOutput = 12,
  kSparseInitializer = 15,
};
enum Function : protozero::pbf_tag_type { kFunctionNode = 7, kFunctionAttribute = 11 };
enum Node : protozero::pbf_tag_type { kAttribute = 5 };
enum Attribute : protozero::pbf_tag_type {
  kTensor = 5,
  kSubgraph = 6,
  kTensors = 10,
  kSubgraphs = 11,
  kSparseTensor = 22,
  kSparseTensors = 23,
};
enum Info : protozero::pbf_tag_type { kInfoName = 1, kInfoType = 2 };
enum Type : protozero::pbf_tag_type { kTensorType = 1 };
enum TensorType : protozero::pbf_tag_type { kTypeElement = 1, kTypeShape = 2 };
enum ShapeOf : protozero::pbf_tag_type { kDimension = 1 };
enum Dimension : protozero::pbf_tag_type { kDimensionValue = 1 };
enum TensorOf : protozero::pbf_tag_type {
  kDims = 1,
  kDataType = 2,
  kTensorName = 8,
  kExternalData = 13,
  kDataLocation = 14
};
enum Sparse : protozero::pbf_tag_type { kSparseValues = 1, kSparseIndices = 2 };
}  // namespace field

/// Subgraphs in subgraphs (If, Loop, Scan): real models have two or three.
constexpr int kMaxDepth = 32;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kModelDamaged, fmt::format("{}; export or download the model again", what));
}

/// TensorProto.DataType; nothing for strings, complex numbers, and types packed below a byte.
std::optional<DType> dtype_of(std::int32_t data_type) {
  switch (data_type) {
    case 1:
      return DType::kFloat32;
    case 2:
      return DType::kUInt8;
    case 3:
      return DType::kInt8;
    case 4:
      return DType::kUInt16;
    case 5:
      return DType::kInt16;
    case 6:
      return DType::kInt32;
    case 7:
      return DType::kInt64;
    case 9:
      return DType::kBool;
    case 10:
      return DType::kFloat16;
    case 11:
      return DType::kFloat64;
    case 12:
      return DType::kUInt32;
    case 13:
      return DType::kUInt64;
    case 16:
      return DType::kBFloat16;
    default:
      return std::nullopt;
  }
}

/// A shape of more dimensions than this is no shape; the list is not even made.
constexpr std::size_t kMaxRank = 64;

/// What is gathered while walking. A message that occurs twice is merged, as protobuf demands: lists grow,
/// the last scalar wins.
struct Walk {
  ModelFile file;
  std::set<std::string> initializers;
  std::map<std::string, std::uint64_t> external;  // location -> end
  bool has_ir_version = false;
  bool has_graph = false;
};

/// Goes to the next field. protozero cuts lengths to 32 bits, so that one of 2^32 + 1 would pass as 1; it is
/// compared with what is there before that can happen.
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

/// The reader's getters take the wire type for granted, so each field is matched together with its type; one
/// of another type is skipped like an unknown field.
bool is_message(const pbf_reader& reader, protozero::pbf_tag_type tag) {
  return reader.tag_and_type() == protozero::tag_and_type(tag, protozero::pbf_wire_type::length_delimited);
}
bool is_varint(const pbf_reader& reader, protozero::pbf_tag_type tag) {
  return reader.tag_and_type() == protozero::tag_and_type(tag, protozero::pbf_wire_type::varint);
}

std::pair<std::string, std::string> read_entry(pbf_reader entry) {
  std::pair<std::string, std::string> result;
  while (next(entry)) {
    if (is_message(entry, field::kKey)) {
      result.first = entry.get_string();
    } else if (is_message(entry, field::kEntryValue)) {
      result.second = entry.get_string();
    } else {
      entry.skip();
    }
  }
  return result;
}

void add_dimension(Shape& shape, std::int64_t dimension) {
  if (shape.size() == kMaxRank) damaged(fmt::format("a tensor has more than {} dimensions", kMaxRank));
  shape.push_back(dimension);
}

/// A TensorProto without its weights.
struct TensorHead {
  std::string name;
  Shape dims;
  std::int32_t data_type = 0;
  bool is_external = false;
  std::map<std::string, std::string> external;
};

TensorHead read_tensor(pbf_reader tensor) {
  constexpr std::int32_t kExternal = 1;  // DataLocation.EXTERNAL
  TensorHead head;
  while (next(tensor)) {
    if (is_varint(tensor, field::kDims)) {
      add_dimension(head.dims, tensor.get_int64());
    } else if (is_message(tensor, field::kDims)) {
      for (const std::int64_t dimension : tensor.get_packed_int64()) add_dimension(head.dims, dimension);
    } else if (is_varint(tensor, field::kDataType)) {
      head.data_type = tensor.get_int32();
    } else if (is_message(tensor, field::kTensorName)) {
      head.name = tensor.get_string();
    } else if (is_message(tensor, field::kExternalData)) {
      auto [key, value] = read_entry(tensor.get_message());
      head.external[key] = std::move(value);
    } else if (is_varint(tensor, field::kDataLocation)) {
      head.is_external = tensor.get_int32() == kExternal;
    } else {
      tensor.skip();
    }
  }
  return head;
}

/// The value of "offset" or "length"; nothing when it is not there.
std::optional<std::uint64_t> external_number(const TensorHead& head, const std::string& key) {
  const auto entry = head.external.find(key);
  if (entry == head.external.end()) return std::nullopt;
  const std::string& text = entry->second;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    damaged(fmt::format("the external data of '{}' has the {} '{}', which is no number", printable(head.name),
                        key, printable(text)));
  }
  return value;
}

/// Bytes that the tensor's shape and type need; nothing for a type without whole bytes.
std::optional<std::uint64_t> bytes_needed(const TensorHead& head) {
  const auto dtype = dtype_of(head.data_type);
  if (!dtype) return std::nullopt;
  const auto count = element_count(head.dims);
  const auto bytes = count ? checked_mul(*count, size_of(*dtype)) : std::nullopt;
  if (!bytes) {
    damaged(fmt::format("'{}' has the impossible shape {}", printable(head.name), to_string(head.dims)));
  }
  return std::uint64_t{*bytes};
}

void note_external(Walk& walk, const TensorHead& head) {
  if (!head.is_external) return;
  const auto location = head.external.find("location");
  if (location == head.external.end() || location->second.empty()) {
    damaged(fmt::format("'{}' has external data without a file name", printable(head.name)));
  }
  const auto needed = bytes_needed(head);
  const auto length = external_number(head, "length");
  if (needed && length && *needed != *length) {
    damaged(fmt::format("the external data of '{}' has {} bytes, its shape {} needs {}", printable(head.name),
                        *length, to_string(head.dims), *needed));
  }
  const std::uint64_t offset = external_number(head, "offset").value_or(0);
  const auto end = checked_add(offset, length ? *length : needed.value_or(0));
  if (!end) damaged(fmt::format("the external data of '{}' ends beyond any file", printable(head.name)));
  std::uint64_t& file_end = walk.external[location->second];
  file_end = std::max(file_end, *end);
}

void note_sparse(Walk& walk, pbf_reader sparse, bool is_initializer) {
  while (next(sparse)) {
    if (is_message(sparse, field::kSparseValues)) {
      const TensorHead head = read_tensor(sparse.get_message());
      // The values' name is the initializer's.
      if (is_initializer) walk.initializers.insert(head.name);
      note_external(walk, head);
    } else if (is_message(sparse, field::kSparseIndices)) {
      note_external(walk, read_tensor(sparse.get_message()));
    } else {
      sparse.skip();
    }
  }
}

void walk_graph(Walk& walk, pbf_reader graph, int depth);

void walk_attribute(Walk& walk, pbf_reader attribute, int depth) {
  while (next(attribute)) {
    if (is_message(attribute, field::kTensor) || is_message(attribute, field::kTensors)) {
      note_external(walk, read_tensor(attribute.get_message()));
    } else if (is_message(attribute, field::kSparseTensor) || is_message(attribute, field::kSparseTensors)) {
      note_sparse(walk, attribute.get_message(), false);
    } else if (is_message(attribute, field::kSubgraph) || is_message(attribute, field::kSubgraphs)) {
      walk_graph(walk, attribute.get_message(), depth + 1);
    } else {
      attribute.skip();
    }
  }
}

void walk_node(Walk& walk, pbf_reader node, int depth) {
  while (next(node)) {
    if (is_message(node, field::kAttribute)) {
      walk_attribute(walk, node.get_message(), depth);
    } else {
      node.skip();
    }
  }
}

void read_shape(pbf_reader shape, Shape& to) {
  while (next(shape)) {
    if (!is_message(shape, field::kDimension)) {
      shape.skip();
      continue;
    }
    std::int64_t value = -1;  // a name, or nothing
    pbf_reader dimension = shape.get_message();
    while (next(dimension)) {
      if (is_varint(dimension, field::kDimensionValue)) {
        value = std::max<std::int64_t>(-1, dimension.get_int64());
      } else {
        dimension.skip();
      }
    }
    add_dimension(to, value);
  }
}

void read_tensor_type(pbf_reader type, DeclaredValue& to) {
  while (next(type)) {
    if (is_varint(type, field::kTypeElement)) {
      to.dtype = dtype_of(type.get_int32());
    } else if (is_message(type, field::kTypeShape)) {
      read_shape(type.get_message(), to.shape);
    } else {
      type.skip();
    }
  }
}

DeclaredValue read_value_info(pbf_reader info) {
  DeclaredValue value;
  while (next(info)) {
    if (is_message(info, field::kInfoName)) {
      value.name = info.get_string();
    } else if (is_message(info, field::kInfoType)) {
      pbf_reader type = info.get_message();
      while (next(type)) {
        if (is_message(type, field::kTensorType)) {
          read_tensor_type(type.get_message(), value);
        } else {
          type.skip();
        }
      }
    } else {
      info.skip();
    }
  }
  return value;
}

void walk_graph(Walk& walk, pbf_reader graph, int depth) {
  if (depth > kMaxDepth) damaged(fmt::format("its graphs are nested deeper than {}", kMaxDepth));
  const bool is_main = depth == 0;
  while (next(graph)) {
    if (is_message(graph, field::kGraphNode)) {
      walk_node(walk, graph.get_message(), depth);
    } else if (is_message(graph, field::kInitializer)) {
      const TensorHead head = read_tensor(graph.get_message());
      if (is_main) walk.initializers.insert(head.name);
      note_external(walk, head);
    } else if (is_message(graph, field::kSparseInitializer)) {
      note_sparse(walk, graph.get_message(), is_main);
    } else if (is_main && is_message(graph, field::kInput)) {
      walk.file.inputs.push_back(read_value_info(graph.get_message()));
    } else if (is_main && is_message(graph, field::kOutput)) {
      walk.file.outputs.push_back(read_value_info(graph.get_message()));
    } else {
      graph.skip();
    }
  }
}

void walk_function(Walk& walk, pbf_reader function) {
  while (next(function)) {
    // Inside of a function nothing is an input of the model.
    if (is_message(function, field::kFunctionNode)) {
      walk_node(walk, function.get_message(), 1);
    } else if (is_message(function, field::kFunctionAttribute)) {
      walk_attribute(walk, function.get_message(), 1);
    } else {
      function.skip();
    }
  }
}

void note_opset(Walk& walk, pbf_reader opset) {
  std::string domain;
  std::int64_t version = 0;
  while (next(opset)) {
    if (is_message(opset, field::kOpsetDomain)) {
      domain = opset.get_string();
    } else if (is_varint(opset, field::kOpsetVersion)) {
      version = opset.get_int64();
    } else {
      opset.skip();
    }
  }
  if (domain.empty() || domain == "ai.onnx") walk.file.opset = version;
}

void walk_model(Walk& walk, pbf_reader model) {
  while (next(model)) {
    if (is_varint(model, field::kIrVersion)) {
      walk.file.ir_version = model.get_int64();
      walk.has_ir_version = true;
    } else if (is_message(model, field::kProducerName)) {
      walk.file.producer = model.get_string();
    } else if (is_message(model, field::kModelGraph)) {
      walk_graph(walk, model.get_message(), 0);
      walk.has_graph = true;
    } else if (is_message(model, field::kOpsetImport)) {
      note_opset(walk, model.get_message());
    } else if (is_message(model, field::kModelMetadata)) {
      auto [key, value] = read_entry(model.get_message());
      walk.file.metadata[key] = std::move(value);
    } else if (is_message(model, field::kFunctions)) {
      walk_function(walk, model.get_message());
    } else {
      model.skip();
    }
  }
}

// --- external files ---

/// Whether a location is a plain relative path that goes only down.
bool stays_inside(const fs::path& location) {
  if (location.empty() || location.is_absolute() || path_bytes(location).find('\0') != std::string::npos)
    return false;
  return std::none_of(location.begin(), location.end(), [](const fs::path& part) { return part == ".."; });
}

bool is_below(const fs::path& file, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first == folder.end();
}

/// Both paths have their links resolved. A hub cache keeps the model and its data as links to files of one
/// folder of blobs, which lies outside of the model's own; so data may lie where the model's own bytes lie.
bool may_be_read(const fs::path& data, const fs::path& folder, const fs::path& model) {
  return is_below(data, folder) || data.parent_path() == model.parent_path();
}

void check_external(const fs::path& model, const ExternalFile& external) {
  const std::string model_name = path_to_utf8(model.filename());
  const std::string location = printable(external.location);
  const fs::path relative = path_from_utf8(external.location);
  const fs::path folder = model.has_parent_path() ? model.parent_path() : fs::path(".");
  if (!stays_inside(relative)) {
    damaged(fmt::format("its data '{}' lies outside of the model's folder, which is not allowed", location));
  }
  std::error_code error;
  const fs::path data = fs::canonical(folder / relative, error);
  if (error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory) {
    throw Error(ErrorCode::kModelMissing,
                fmt::format("{} needs {} beside it; copy or download that file too", model_name, location));
  }
  const fs::path real_folder = error ? fs::path() : fs::canonical(folder, error);
  const fs::path real_model = error ? fs::path() : fs::canonical(model, error);
  if (error) damaged(fmt::format("its data '{}' cannot be read: {}", location, error.message()));
  if (!may_be_read(data, real_folder, real_model)) {
    damaged(fmt::format("its data '{}' is a link out of the model's folder, which is not allowed", location));
  }
  const std::uintmax_t size = fs::is_regular_file(data, error) ? fs::file_size(data, error) : 0;
  if (error || size < external.end) {
    damaged(fmt::format("its data '{}' has {} bytes, {} are needed; it is cut, or belongs to another model",
                        location, size, external.end));
  }
}

}  // namespace

ModelFile parse_model_file(std::span<const std::uint8_t> bytes) {
  // protozero keeps lengths in 32 bits, and protobuf itself stops at 2 GiB.
  constexpr std::size_t kMaxBytes = (std::size_t{1} << 31) - 1;
  if (bytes.size() > kMaxBytes) damaged("it is larger than 2 GiB, which no ONNX model is");
  Walk walk;
  try {
    walk_model(walk, pbf_reader(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  } catch (const protozero::exception& error) {
    damaged(fmt::format("it is not an ONNX model, or cut ({})", error.what()));
  }
  if (!walk.has_ir_version || !walk.has_graph) damaged("it is not an ONNX model");
  std::erase_if(walk.file.inputs, [&](const DeclaredValue& v) { return walk.initializers.contains(v.name); });
  walk.file.external.reserve(walk.external.size());
  for (const auto& [location, end] : walk.external) walk.file.external.push_back({location, end});
  return std::move(walk.file);
}

ModelFile read_model_file(const fs::path& path) {
  const auto map = [&] {
    try {
      return MappedFile(path);
    } catch (const Error& error) {
      // A folder, a pipe or an unreadable file of that name is no model; only its absence is "missing".
      const bool missing = error.code() == ErrorCode::kNotFound;
      throw Error(missing ? ErrorCode::kModelMissing : ErrorCode::kModelDamaged, error.what());
    }
  };
  const MappedFile mapped = map();
  try {
    ModelFile file = parse_model_file(mapped.bytes());
    for (const ExternalFile& external : file.external) check_external(path, external);
    return file;
  } catch (const Error& error) {
    throw error.with_context(path_to_utf8(path));
  }
}

}  // namespace samlet::ort
