// Blocks whose form differs from the definition are run by ONNX Runtime and compared with it.
#include "libs/nn/attention.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include <gtest/gtest.h>

#include "libs/onnx/ops.h"
#include "libs/onnx/writer.h"
#include "libs/ort/session.h"

namespace samlet::nn {
namespace {

namespace fs = std::filesystem;

std::vector<float> noise(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<float> values(count);
  for (float& value : values) value = static_cast<float>(engine() % 2000) / 1000.0F - 1.0F;
  return values;
}

/// Writes a graph without inputs that have weights elsewhere, runs it on `feeds`, and gives output "y".
std::vector<float> run(const onnx::Builder& g, const std::map<std::string, Tensor>& given) {
  const fs::path file =
      fs::temp_directory_path() / ("samlet-attention-" + std::to_string(std::random_device{}()));
  {
    std::ofstream out(file, std::ios::binary);
    const onnx::ModelWriter writer(g, {}, "");
    writer.write_model([&](std::span<const std::uint8_t> piece) {
      out.write(reinterpret_cast<const char*>(piece.data()), static_cast<std::streamsize>(piece.size()));
    });
  }
  ort::SessionOptions options;
  options.threads = 1;
  const ort::Session session(ort::Runtime::load({SAMLET_ORT_LIBRARY_DIR, {}, {}}), file, options);
  fs::remove(file);
  std::vector<ort::Feed> feeds;
  for (const auto& [name, tensor] : given) feeds.push_back({name, nullptr, &tensor});
  const auto outputs = session.run(feeds, {"y"});
  const auto values = outputs[0].view().as<float>();
  return {values.begin(), values.end()};
}

/// softmax(q k^T + bias) v by definition, one head.
std::vector<double> attention(std::span<const float> q, std::span<const float> k, std::span<const float> v,
                              std::span<const float> bias, std::size_t d) {
  const std::size_t queries = q.size() / d;
  const std::size_t keys = k.size() / d;
  std::vector<double> out;
  for (std::size_t i = 0; i < queries; ++i) {
    std::vector<double> weights;
    double total = 0;
    for (std::size_t j = 0; j < keys; ++j) {
      double score = bias.empty() ? 0.0 : static_cast<double>(bias[i * keys + j]);
      for (std::size_t c = 0; c < d; ++c)
        score += static_cast<double>(q[i * d + c]) * static_cast<double>(k[j * d + c]);
      weights.push_back(std::exp(score));
      total += weights.back();
    }
    for (std::size_t c = 0; c < d; ++c) {
      double value = 0;
      for (std::size_t j = 0; j < keys; ++j) value += weights[j] / total * static_cast<double>(v[j * d + c]);
      out.push_back(value);
    }
  }
  return out;
}

// 3 heads x 4000 x 4000 scores would be 192 MB: they are taken in pieces, each with its rows of the bias.
TEST(Attend, PiecesGiveWhatTheWholeWouldGive) {
  constexpr std::int64_t kTokens = 4000;
  constexpr std::int64_t kHead = 4;
  onnx::Builder g("graph");
  const Context context{g};
  const onnx::Value q = g.input("q", DType::kFloat32, {1, 3, kTokens, kHead});
  const onnx::Value k = g.input("k", DType::kFloat32, {1, 3, kTokens, kHead});
  const onnx::Value v = g.input("v", DType::kFloat32, {1, 3, kTokens, kHead});
  const onnx::Value row = g.input("row", DType::kFloat32, {1, 1, kTokens, 1});
  const onnx::Value column = g.input("column", DType::kFloat32, {1, 1, 1, kTokens});
  g.output("y", attend(context, q, k, v, onnx::mul(g, row, column)));
  const auto products = static_cast<std::size_t>(
      std::ranges::count_if(g.body().nodes, [](const onnx::Node& node) { return node.op_type == "MatMul"; }));
  EXPECT_EQ(products, 4U);  // two pieces
  const auto size = static_cast<std::size_t>(3 * kTokens * kHead);
  const auto q_values = noise(size, 1);
  const auto k_values = noise(size, 2);
  const auto v_values = noise(size, 3);
  const auto rows = noise(static_cast<std::size_t>(kTokens), 4);
  const auto columns = noise(static_cast<std::size_t>(kTokens), 5);
  const Shape shape{1, 3, kTokens, kHead};
  const auto y = run(g, {{"q", Tensor::from<float>(shape, q_values)},
                         {"k", Tensor::from<float>(shape, k_values)},
                         {"v", Tensor::from<float>(shape, v_values)},
                         {"row", Tensor::from<float>({1, 1, kTokens, 1}, rows)},
                         {"column", Tensor::from<float>({1, 1, 1, kTokens}, columns)}});
  // A few queries of both pieces, of the last head.
  const std::size_t head = 2 * static_cast<std::size_t>(kTokens * kHead);
  for (const std::size_t query : {0U, 1999U, 2000U, 3999U}) {
    std::vector<float> bias;
    for (const float column_value : columns) bias.push_back(rows[query] * column_value);
    const auto all = [&](const std::vector<float>& values) {
      return std::span<const float>(values).subspan(head, static_cast<std::size_t>(kTokens * kHead));
    };
    const auto wanted = attention(all(q_values).subspan(query * 4, 4), all(k_values), all(v_values), bias, 4);
    for (std::size_t c = 0; c < 4; ++c)
      EXPECT_NEAR(static_cast<double>(y[head + query * 4 + c]), wanted[c], 1e-5) << query;
  }
}

TEST(KeyBias, HidesWhatIsMasked) {
  onnx::Builder g("graph");
  const Context context{g};
  const onnx::Value masked = g.input("masked", DType::kBool, {1, 3});
  const onnx::Value q = g.input("q", DType::kFloat32, {1, 1, 2, 2});
  const onnx::Value k = g.input("k", DType::kFloat32, {1, 1, 3, 2});
  g.output("y", attend(context, q, k, k, key_bias(g, masked)));
  Tensor mask(DType::kBool, {1, 3});
  mask.as<bool>()[1] = true;
  const std::vector<float> queries{1, 0, 0.5F, -1};
  const std::vector<float> keys{0.1F, 0.2F, 100, -100, 0.7F, 0.3F};
  const std::vector<float> seen{0.1F, 0.2F, 0.7F, 0.3F};
  const auto y = run(g, {{"masked", mask},
                         {"q", Tensor::from<float>({1, 1, 2, 2}, queries)},
                         {"k", Tensor::from<float>({1, 1, 3, 2}, keys)}});
  const auto wanted = attention(queries, seen, seen, {}, 2);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(static_cast<double>(y[i]), wanted[i], 1e-6);
}

}  // namespace
}  // namespace samlet::nn
