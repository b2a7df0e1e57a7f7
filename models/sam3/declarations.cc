#include "models/sam3/declarations.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

using ort::DeclaredValue;

std::string describe_all(std::span<const DeclaredValue> values) {
  if (values.empty()) return "nothing";
  std::vector<std::string> parts;
  for (const DeclaredValue& value : values) parts.push_back(describe(value));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string_view name_of(Wanted type) {
  switch (type) {
    case Wanted::kUInt8:
      return "u8";
    case Wanted::kInt64:
      return "i64";
    case Wanted::kBool:
      return "bool";
    case Wanted::kFloat:
      return "f32";
    case Wanted::kFeature:
      return "f32 or f16";
  }
  return "";
}

bool is_of(std::optional<DType> found, Wanted type) {
  switch (type) {
    case Wanted::kUInt8:
      return found == DType::kUInt8;
    case Wanted::kInt64:
      return found == DType::kInt64;
    case Wanted::kBool:
      return found == DType::kBool;
    case Wanted::kFloat:
      return found == DType::kFloat32;
    case Wanted::kFeature:
      return found == DType::kFloat32 || found == DType::kFloat16;
  }
  return false;
}

const DeclaredValue& find(const GraphFile& graph, std::span<const DeclaredValue> values,
                          std::string_view name) {
  const auto at =
      std::find_if(values.begin(), values.end(), [&](const DeclaredValue& v) { return v.name == name; });
  if (at == values.end()) refuse_graph(graph, fmt::format("there is no '{}'", name));
  return *at;
}

void require(const GraphFile& graph, std::span<const DeclaredValue> values,
             std::span<const Expected> wanted) {
  for (const Expected& w : wanted) {
    const DeclaredValue& found = find(graph, values, w.name);
    if (!is_of(found.dtype, w.type) || found.shape.size() != w.rank) {
      refuse_graph(graph, fmt::format("{} was expected to be {} with {} dimensions", describe(found),
                                      name_of(w.type), w.rank));
    }
  }
}

/// An input that we would not know how to fill makes a graph another one.
void require_no_other_inputs(const GraphFile& graph, std::span<const Expected> known) {
  for (const DeclaredValue& input : graph.file.inputs) {
    const bool is_known =
        std::any_of(known.begin(), known.end(), [&](const Expected& e) { return e.name == input.name; });
    if (!is_known) refuse_graph(graph, fmt::format("the input {} is unknown", describe(input)));
  }
}

}  // namespace

std::string GraphFile::name() const {
  return path_to_utf8(path.filename());
}

std::string describe(const DeclaredValue& value) {
  return fmt::format("'{}' {} {}", printable(value.name),
                     value.dtype ? samlet::name_of(*value.dtype) : "(other type)", to_string(value.shape));
}

void refuse_graph(const GraphFile& graph, const std::string& what) {
  throw Error(ErrorCode::kModelUnsupported,
              fmt::format("'{}' is not {}: {}. It takes {} and gives {}. Export or download the model again",
                          path_to_utf8(graph.path), graph.kind, what, describe_all(graph.file.inputs),
                          describe_all(graph.file.outputs)));
}

GraphFile read_graph(const std::filesystem::path& path, std::string kind, std::span<const Expected> inputs,
                     std::span<const Expected> outputs) {
  GraphFile graph{path, std::move(kind), ort::read_model_file(path)};
  require(graph, graph.file.inputs, inputs);
  require(graph, graph.file.outputs, outputs);
  require_no_other_inputs(graph, inputs);
  return graph;
}

const DeclaredValue& input_of(const GraphFile& graph, std::string_view name) {
  return find(graph, graph.file.inputs, name);
}

const DeclaredValue& output_of(const GraphFile& graph, std::string_view name) {
  return find(graph, graph.file.outputs, name);
}

void require_fits(const GraphFile& producer, std::string_view made, const GraphFile& consumer,
                  std::string_view taken) {
  const DeclaredValue& out = output_of(producer, made);
  const DeclaredValue& in = input_of(consumer, taken);
  const bool fits = out.dtype == in.dtype &&
                    std::equal(out.shape.begin(), out.shape.end(), in.shape.begin(), in.shape.end(),
                               [](std::int64_t a, std::int64_t b) { return a < 0 || b < 0 || a == b; });
  if (fits) return;
  throw Error(ErrorCode::kModelDamaged,
              fmt::format("'{}' and '{}' do not belong together: the first gives {}, the second takes {}. "
                          "Copy all files of one export into one folder",
                          producer.name(), consumer.name(), describe(out), describe(in)));
}

void require_shape(const GraphFile& graph, const DeclaredValue& value, const Shape& wanted) {
  const bool fits = std::equal(
      value.shape.begin(), value.shape.end(), wanted.begin(), wanted.end(),
      [](std::int64_t declared, std::int64_t want) { return declared < 0 || want < 0 || declared == want; });
  if (!fits) {
    refuse_graph(graph, fmt::format("{} was expected to be {}, -1 being any number", describe(value),
                                    to_string(wanted)));
  }
}

}  // namespace samlet::sam3
