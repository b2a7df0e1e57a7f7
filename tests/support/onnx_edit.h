// Changes what stands around an ONNX graph: names, shapes and orders of its inputs and outputs, and a few
// nodes in front of and behind it. The graph itself stays as it is.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace samlet::test {

/// TensorProto.DataType
enum class OnnxType : std::int32_t { kFloat = 1, kUInt8 = 2, kInt32 = 6, kInt64 = 7, kBool = 9 };

struct OnnxNode {
  std::string op;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> lists{};  ///< attributes
  std::vector<std::pair<std::string, std::int64_t>> numbers{};             ///< attributes
};

class OnnxEdit {
 public:
  /// Reads the file. What cannot be done ends the test by an exception.
  explicit OnnxEdit(const std::filesystem::path& file);

  /// Another name; type and shape stay.
  OnnxEdit& rename_input(std::string_view from, const std::string& to);
  OnnxEdit& rename_output(std::string_view from, const std::string& to);
  /// Takes an input away; something else must then make the value of that name.
  OnnxEdit& drop_input(std::string_view name);
  OnnxEdit& drop_output(std::string_view name);
  /// -1 is a dimension that varies.
  OnnxEdit& add_input(const std::string& name, OnnxType type, const std::vector<std::int64_t>& shape);
  OnnxEdit& add_output(const std::string& name, OnnxType type, const std::vector<std::int64_t>& shape);
  /// A node in front of all (but behind those put there before), or behind all.
  OnnxEdit& before(const OnnxNode& node);
  OnnxEdit& after(const OnnxNode& node);
  OnnxEdit& floats(const std::string& name, const std::vector<float>& values,
                   const std::vector<std::int64_t>& shape);
  OnnxEdit& integers(const std::string& name, const std::vector<std::int64_t>& values,
                     const std::vector<std::int64_t>& shape);

  void save(const std::filesystem::path& file) const;

 private:
  struct Value {
    std::string name;
    std::string type;  // TypeProto
  };
  void read(std::string_view bytes);
  void read_graph(std::string_view bytes);
  static Value take(std::vector<Value>& values, std::string_view name);

  std::string model_;  // all fields but the graph
  std::string graph_;  // all fields of the graph but nodes, inputs and outputs
  std::vector<std::string> nodes_;
  std::vector<std::string> first_nodes_;
  std::vector<Value> inputs_;
  std::vector<Value> outputs_;
};

}  // namespace samlet::test
