#include "libs/onnx/ops.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet::onnx {
namespace {

Value x_of(Builder& g, Dimensions dimensions, DType dtype = DType::kFloat32) {
  static int count = 0;
  return g.input(fmt::format("x{}", count++), dtype, std::move(dimensions));
}

std::string shape(const Value& value) {
  return to_string(value.dimensions);
}

TEST(Ops, BroadcastFollowsNumPy) {
  Builder g("graph");
  EXPECT_EQ(shape(add(g, x_of(g, {"B", 1, 4}), x_of(g, {3, 1}))), "[B, 3, 4]");
  EXPECT_EQ(shape(add(g, x_of(g, {}), x_of(g, {2, "N"}))), "[2, N]");
  EXPECT_EQ(shape(where(g, x_of(g, {"B", 1}, DType::kBool), g.scalar(1.0F), x_of(g, {5}))), "[B, 5]");
  EXPECT_THROW(add(g, x_of(g, {3}), x_of(g, {4})), Error);
  EXPECT_THROW(add(g, x_of(g, {"B"}), x_of(g, {"N"})), Error);
  EXPECT_THROW(add(g, x_of(g, {3}), x_of(g, {3}, DType::kFloat16)), Error);
}

TEST(Ops, MatmulMultipliesLastAxesAndBroadcastsTheOthers) {
  Builder g("graph");
  EXPECT_EQ(shape(matmul(g, x_of(g, {1, 8, 5, 4}), x_of(g, {"B", 8, 4, "K"}))), "[B, 8, 5, K]");
  EXPECT_DOUBLE_EQ(g.flops(), 2.0 * 8 * 5 * 4);
  EXPECT_THROW(matmul(g, x_of(g, {5, 4}), x_of(g, {5, 4})), Error);
}

TEST(Ops, ConvolutionsKnowTheirSizes) {
  Builder g("graph");
  const Value x = x_of(g, {1, 6, 10, 12});
  EXPECT_EQ(shape(conv(g, x, x_of(g, {4, 6, 3, 3}), {}, {1, 1, 1, 1})), "[1, 4, 10, 12]");
  EXPECT_EQ(shape(conv(g, x, x_of(g, {4, 6, 2, 2}), {}, {2, 0, 0, 1})), "[1, 4, 5, 6]");
  EXPECT_EQ(shape(conv(g, x, x_of(g, {6, 1, 1, 5}), {}, {1, 0, 2, 6})), "[1, 6, 10, 12]");
  EXPECT_EQ(shape(conv_transpose(g, x, x_of(g, {6, 4, 2, 2}), {}, 2)), "[1, 4, 20, 24]");
  EXPECT_EQ(shape(conv_transpose(g, x, x_of(g, {6, 4, 4, 4}), {}, 2)), "[1, 4, 20, 24]");
  EXPECT_THROW(conv(g, x, x_of(g, {4, 5, 3, 3}), {}, {}), Error);
}

TEST(Ops, ReshapeKeepsWhatVariesAndWorksOutOneDimension) {
  Builder g("graph");
  const Value x = x_of(g, {"B", "N", 6});
  EXPECT_EQ(shape(reshape(g, x, {"B", "N", 2, 3})), "[B, N, 2, 3]");
  EXPECT_EQ(shape(reshape(g, x, {"B", "6N"})), "[B, 6N]");
  EXPECT_THROW(reshape(g, x, {"BN", "M"}), Error);
  EXPECT_THROW(reshape(g, x_of(g, {4, 3}), {5, 3}), Error);
  // Nothing to do is no node.
  const std::size_t nodes = g.body().nodes.size();
  EXPECT_EQ(reshape(g, x, {"B", "N", 6}).name, x.name);
  EXPECT_EQ(cast(g, x, DType::kFloat32).name, x.name);
  EXPECT_EQ(g.body().nodes.size(), nodes);
}

TEST(Ops, PartsMustAddUp) {
  Builder g("graph");
  const Value x = x_of(g, {"B", 6});
  EXPECT_EQ(shape(split(g, x, 1, {2, 4})[1]), "[B, 4]");
  EXPECT_THROW(split(g, x, 1, {2, 3}), Error);
  EXPECT_EQ(shape(concat(g, {x, x_of(g, {"B", 2})}, 1)), "[B, 8]");
  EXPECT_EQ(shape(concat(g, {x_of(g, {"B", "N"}), x}, 1, "N+6")), "[B, N+6]");
  EXPECT_THROW(concat(g, {x, x_of(g, {"C", 2})}, 1), Error);
  EXPECT_THROW(concat(g, {x_of(g, {"B", "N"}), x}, 1), Error);  // nobody says how long it is
}

TEST(Ops, GatherTakesRowsByIndicesOfAnyRank) {
  Builder g("graph");
  const Value table = x_of(g, {100, 8});
  EXPECT_EQ(shape(gather(g, table, x_of(g, {"B", 32}, DType::kInt64), 0)), "[B, 32, 8]");
  EXPECT_EQ(shape(gather(g, table, g.scalar(std::int64_t{3}), 0)), "[8]");
  EXPECT_EQ(shape(gather_nd(g, x_of(g, {"B", 20, 4}), x_of(g, {"n", 2}, DType::kInt64))), "[n, 4]");
}

TEST(Builder, NamesAreUniqueAndConstantsStoredOnce) {
  Builder g("graph");
  g.set_section("part");
  const Value x = x_of(g, {2});
  const Value a = relu(g, x);
  const Value b = relu(g, a);
  EXPECT_NE(a.name, b.name);
  EXPECT_EQ(g.scalar(1.5F).name, g.scalar(1.5F).name);
  EXPECT_NE(g.scalar(1.5F).name, g.scalar(2.5F).name);
  EXPECT_NE(g.scalar(1.0F).name, g.constant(std::vector<float>{1.0F}, {1}).name);
  EXPECT_NE(g.weight("w", LazyTensor::of({1}, {1})).name, g.weight("w", LazyTensor::of({1}, {1})).name);
  EXPECT_THROW(g.constant(std::vector<std::int64_t>{1, 2}, {}), Error);
  EXPECT_THROW(g.constant(std::vector<float>{}, {-1}), Error);
  g.output("y", b);
  EXPECT_EQ(g.body().nodes.back().outputs.front(), "y");
  EXPECT_THROW(g.output("y", a), Error);
}

}  // namespace
}  // namespace samlet::onnx
