#include "libs/onnx/writer.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "libs/onnx/ops.h"
#include "libs/ort/model_file.h"
#include "libs/ort/session.h"
#include "libs/tensor/half.h"
#include "samlet/error.h"

namespace samlet::onnx {
namespace {

namespace fs = std::filesystem;

std::string gathered(const std::function<void(const ByteSink&)>& write) {
  std::string bytes;
  write([&](std::span<const std::uint8_t> piece) { bytes.append(piece.begin(), piece.end()); });
  return bytes;
}

class WriterTest : public ::testing::Test {
 protected:
  WriterTest()
      : folder_(fs::temp_directory_path() / ("samlet-writer-" + std::to_string(std::random_device{}()))) {
    fs::create_directory(folder_);
  }
  ~WriterTest() override { fs::remove_all(folder_); }

  /// Writes the graph, holds the writer to the sizes it announced, and opens it with ONNX Runtime.
  ort::Session open(const Builder& g, const std::string& data_file = "") {
    const ModelWriter writer(g, ModelHeader{}, data_file);
    const std::string model = gathered([&](const ByteSink& sink) { writer.write_model(sink); });
    EXPECT_EQ(model.size(), writer.model_bytes());
    std::ofstream(folder_ / "graph.onnx", std::ios::binary) << model;
    if (!data_file.empty()) {
      const std::string data = gathered([&](const ByteSink& sink) { writer.write_data(sink); });
      EXPECT_EQ(data.size(), writer.data_bytes());
      std::ofstream(folder_ / data_file, std::ios::binary) << data;
    }
    ort::SessionOptions options;
    options.threads = 1;
    return {ort::Runtime::load({SAMLET_ORT_LIBRARY_DIR, {}, {}}), folder_ / "graph.onnx", options};
  }

  fs::path folder_;
};

LazyTensor counted(Shape shape) {
  const std::size_t count = *element_count(shape);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 1000) / 8.0F;
  return LazyTensor::of(std::move(shape), std::move(values));
}

std::vector<float> run_one(const ort::Session& session, const Tensor& x) {
  const auto outputs = session.run({{"x", nullptr, &x}}, {"y"});
  const auto values = outputs[0].view().as<float>();
  return {values.begin(), values.end()};
}

TEST_F(WriterTest, LargeWeightsMayLieInADataFileOrInTheModel) {
  for (const char* data_file : {"", "graph.onnx.data"}) {
    Builder g("graph");
    const Value x = g.input("x", DType::kFloat32, {"B", 40});
    const Value large = g.weight("large", counted({40, 60}));
    const Value small = g.weight("small", counted({60}));
    g.output("y", add(g, matmul(g, x, large), small));
    const ort::Session session = open(g, data_file);
    Tensor one(DType::kFloat32, {1, 40});
    one.as<float>()[1] = 1.0F;
    const auto y = run_one(session, one);
    ASSERT_EQ(y.size(), 60U);
    EXPECT_FLOAT_EQ(y[3], 63.0F / 8.0F + 3.0F / 8.0F);
  }
}

TEST_F(WriterTest, EveryWeightLiesOnItsBoundary) {
  Builder g("graph");
  Value x = g.input("x", DType::kFloat32, {3000});
  for (const std::int64_t size : {300, 3000, 301, 3001}) {
    const Value w = g.weight(fmt::format("w{}", size), counted({size}));
    g.output(fmt::format("y{}", size), w);
  }
  g.output("y", x);
  const ModelWriter writer(g, ModelHeader{}, "data");
  // 300 floats at 0, 3000 (more than a page) at 4096, 301 at the next multiple of 64, 3001 at the next page.
  const std::uint64_t after = 4096 + 12000;
  const std::uint64_t third = (after + 63) / 64 * 64;
  EXPECT_EQ(writer.data_bytes(), (third + 1204 + 4095) / 4096 * 4096 + 12004);
  const std::string data = gathered([&](const ByteSink& sink) { writer.write_data(sink); });
  float second = 0;
  std::memcpy(&second, data.data() + 4096 + 4, sizeof(second));
  EXPECT_EQ(second, 1.0F / 8.0F);
}

TEST_F(WriterTest, ReaderOfDeclarationsFindsNamesTypesAndShapes) {
  Builder g("graph");
  const Value x = g.input("x", DType::kFloat32, {"B", 3});
  const Value limit = g.input("limit", DType::kFloat32, {});
  g.output("y", greater(g, x, limit));
  ModelHeader header;
  header.metadata = {{"samlet.contract", "1"}};
  const ModelWriter writer(g, header, "");
  std::ofstream(folder_ / "graph.onnx", std::ios::binary)
      << gathered([&](const ByteSink& sink) { writer.write_model(sink); });
  const ort::ModelFile file = ort::read_model_file(folder_ / "graph.onnx");
  ASSERT_EQ(file.inputs.size(), 2U);
  EXPECT_EQ(file.inputs[0].name, "x");
  EXPECT_EQ(file.inputs[0].shape, (Shape{-1, 3}));
  EXPECT_EQ(file.inputs[1].shape, Shape{});
  ASSERT_EQ(file.outputs.size(), 1U);
  EXPECT_EQ(file.outputs[0].name, "y");
  EXPECT_EQ(file.outputs[0].dtype, DType::kBool);
}

TEST_F(WriterTest, LoopRunsItsBodyOnceARoundAndNotAtAllForNone) {
  Builder g("graph");
  const Value x = g.input("x", DType::kFloat32, {"n"});
  const Value rounds = squeeze(g, size_of_dimension(g, x, 0), {0});
  auto body = g.subgraph("body");
  const Value round = body->input("round", DType::kInt64, {});
  const Value go_on = body->input("go_on", DType::kBool, {});
  const Value before = body->input("before", DType::kFloat32, {"m"});
  const Value picked = unsqueeze(*body, gather(*body, x, round, 0), {0});  // x of the outer graph
  body->output("go_on_again", go_on);
  body->output("after", concat(*body, {before, add(*body, picked, picked)}, 0, "m+1"));
  const Value none = g.constant(std::vector<float>{}, {0});
  g.output("y", g.loop(rounds, none, std::move(body), {"n"}));
  const ort::Session session = open(g);
  const std::vector<float> values{1, 2, 3};
  EXPECT_EQ(run_one(session, Tensor::from<float>({3}, values)), (std::vector<float>{2, 4, 6}));
  EXPECT_TRUE(run_one(session, Tensor(DType::kFloat32, {0})).empty());
}

TEST_F(WriterTest, HalfWeightsAreRounded) {
  Builder g("graph");
  const Value x = g.input("x", DType::kFloat32, {2});
  const Value w = g.weight("w", LazyTensor::of({2}, {0.1F, 3.0F}), DType::kFloat16);
  g.output("y", add(g, x, cast(g, w, DType::kFloat32)));
  EXPECT_EQ(run_one(open(g), Tensor(DType::kFloat32, {2})),
            (std::vector<float>{half_to_float(float_to_half(0.1F)), 3.0F}));
}

void expect_refused(float value, DType dtype, ErrorCode code) {
  Builder g("graph");
  const Value x = g.input("x", DType::kFloat32, {1});
  g.output("y", add(g, x, cast(g, g.weight("odd", LazyTensor::of({1}, {value}), dtype), DType::kFloat32)));
  const ModelWriter writer(g, ModelHeader{}, "");
  try {
    writer.write_model([](std::span<const std::uint8_t>) {});
    FAIL() << value << " was written";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_NE(std::string(error.what()).find("odd"), std::string::npos) << error.what();
  }
}

TEST_F(WriterTest, WeightThatIsNoNumberIsRefusedByName) {
  expect_refused(std::numeric_limits<float>::quiet_NaN(), DType::kFloat32, ErrorCode::kModelDamaged);
  expect_refused(-std::numeric_limits<float>::infinity(), DType::kFloat32, ErrorCode::kModelDamaged);
  expect_refused(std::numeric_limits<float>::infinity(), DType::kFloat16, ErrorCode::kModelDamaged);
  expect_refused(65505.0F, DType::kFloat16, ErrorCode::kModelUnsupported);
}

}  // namespace
}  // namespace samlet::onnx
