// Any graph that can be built is written with the sizes that were announced, and reads back as it was
// declared.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>

#include "libs/onnx/ops.h"
#include "libs/onnx/writer.h"
#include "libs/ort/model_file.h"
#include "samlet/error.h"

namespace {

using namespace samlet;  // NOLINT(google-build-using-namespace): the whole file is about samlet

/// Takes choices from the input's bytes, zeros after its end.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}
  [[nodiscard]] bool done() const { return bytes_.empty(); }
  std::size_t below(std::size_t limit) {
    if (bytes_.empty()) return 0;
    const std::size_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value % limit;
  }
  std::string word() {
    std::string text;
    for (std::size_t i = below(40); i > 0; --i) text += static_cast<char>(below(256));
    return text;
  }

 private:
  std::span<const std::uint8_t> bytes_;
};

onnx::Dimensions dimensions_from(Choices& choices) {
  onnx::Dimensions dimensions;
  for (std::size_t rank = choices.below(5); rank > 0; --rank) {
    if (choices.below(3) == 0) {
      std::string symbol(1, 'd');  // never empty, which would be a number
      symbol.append(choices.word());
      dimensions.emplace_back(std::move(symbol));
    } else {
      dimensions.emplace_back(static_cast<std::int64_t>(choices.below(300)));
    }
  }
  return dimensions;
}

LazyTensor weight_from(Choices& choices) {
  const auto rows = static_cast<std::int64_t>(choices.below(200));
  const auto columns = static_cast<std::int64_t>(choices.below(20));
  const std::vector<float> values(static_cast<std::size_t>(rows * columns), 0.5F);
  return LazyTensor::of({rows, columns}, values);
}

void add_something(onnx::Builder& g, std::vector<onnx::Value>& values, Choices& choices) {
  constexpr DType kTypes[] = {DType::kFloat32, DType::kFloat16, DType::kInt64, DType::kBool, DType::kUInt8};
  const onnx::Value& some = values[choices.below(values.size())];
  switch (choices.below(6)) {
    case 0:
      values.push_back(g.input(choices.word(), kTypes[choices.below(5)], dimensions_from(choices)));
      break;
    case 1:
      values.push_back(g.weight(choices.word(), weight_from(choices), kTypes[choices.below(2)]));
      break;
    case 2:
      values.push_back(g.node(choices.word(), {some, onnx::Value{}},
                              {{choices.word(), static_cast<std::int64_t>(choices.below(256)) - 128},
                               {choices.word(), choices.word()},
                               {choices.word(), std::vector<std::int64_t>(choices.below(9), -1)}},
                              {some.dtype, dimensions_from(choices)}));
      break;
    case 3:
      values.push_back(g.constant(std::vector<std::int64_t>(choices.below(300), 7), {}));
      break;
    case 4:
      g.output(choices.word(), some);
      break;
    default:
      values.push_back(onnx::add(g, some, values[choices.below(values.size())]));
  }
}

void require(bool holds) {
  if (!holds) std::abort();
}

void require_same(const std::vector<onnx::Value>& wanted, const std::vector<ort::DeclaredValue>& found) {
  require(wanted.size() == found.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    require(wanted[i].name == found[i].name && wanted[i].dtype == found[i].dtype);
    require(wanted[i].rank() == found[i].shape.size());
    for (std::size_t d = 0; d < wanted[i].rank(); ++d) {
      require(wanted[i].dimensions[d].size() == found[i].shape[d]);
    }
  }
}

void write_and_read(const onnx::Builder& g, bool external, Choices& choices) {
  onnx::ModelHeader header;
  header.metadata = {{"key", choices.word()}};
  const onnx::ModelWriter writer(g, header, external ? "weights.data" : "");
  std::vector<std::uint8_t> model;
  writer.write_model(
      [&](std::span<const std::uint8_t> piece) { model.insert(model.end(), piece.begin(), piece.end()); });
  require(model.size() == writer.model_bytes());
  std::uint64_t data = 0;
  writer.write_data([&](std::span<const std::uint8_t> piece) { data += piece.size(); });
  require(data == writer.data_bytes());
  const ort::ModelFile read = ort::parse_model_file(model);
  require(read.opset == 20 && read.producer.starts_with("samlet") &&
          read.metadata ==
              std::map<std::string, std::string>(header.metadata.begin(), header.metadata.end()));
  require_same(g.body().inputs, read.inputs);
  require_same(g.body().outputs, read.outputs);
  require(read.external.empty() == (data == 0));
  if (data != 0) require(read.external.size() == 1 && read.external[0].end == data);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices({data, size});
  onnx::Builder g("graph");
  std::vector<onnx::Value> values{g.input("first", DType::kFloat32, {"B", 3})};
  const bool external = choices.below(2) == 1;
  for (int i = 0; i < 200 && !choices.done(); ++i) {
    try {
      add_something(g, values, choices);
    } catch (const Error& error) {
      require(error.code() == ErrorCode::kInternal);  // a name twice, shapes that do not fit
    }
  }
  write_and_read(g, external, choices);
  return 0;
}
