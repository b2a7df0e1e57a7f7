#include "libs/onnx/canonical.h"

#include <gtest/gtest.h>

#include "libs/onnx/ops.h"

namespace samlet::onnx {
namespace {

std::vector<std::string> words(const CanonicalGraph& graph) {
  std::vector<std::string> all;
  for (const Node& node : graph.body.nodes) {
    all.push_back(node.name);
    all.insert(all.end(), node.inputs.begin(), node.inputs.end());
    all.insert(all.end(), node.outputs.begin(), node.outputs.end());
  }
  for (const Initializer& initializer : graph.initializers) all.push_back(initializer.name);
  return all;
}

/// (x + 1) * (x + 2) with its two factors made in either order, as two compilers would for one call.
void build(Builder& g, bool left_first) {
  const Value x = g.input("x", DType::kFloat32, {3});
  const auto left = [&] { return add(g, x, g.scalar(1.0F)); };
  const auto right = [&] { return add(g, relu(g, x), g.weight("w", LazyTensor::of({1}, {2}))); };
  Value a;
  Value b;
  if (left_first) {
    a = left();
    b = right();
  } else {
    b = right();
    a = left();
  }
  (void)sigmoid(g, b);  // nobody needs it
  g.output("y", mul(g, a, b));
}

TEST(Canonical, OrderOfBuildingLeavesNoTrace) {
  Builder one("graph");
  Builder other("graph");
  build(one, true);
  build(other, false);
  EXPECT_EQ(words(canonical(one)), words(canonical(other)));
  std::vector<std::string> ops;
  for (const Node& node : canonical(one).body.nodes) ops.push_back(node.op_type);
  EXPECT_EQ(ops, (std::vector<std::string>{"Add", "Relu", "Add", "Mul"}));
}

TEST(Canonical, InputsAndOutputsKeepTheirNames) {
  Builder g("graph");
  build(g, true);
  const CanonicalGraph graph = canonical(g);
  EXPECT_EQ(graph.body.inputs.front().name, "x");
  EXPECT_EQ(graph.body.outputs.front().name, "y");
  EXPECT_EQ(graph.body.nodes.back().outputs.front(), "y");
}

// What only the body of a loop uses is made before the loop.
TEST(Canonical, BodyOfALoopNeedsWhatItReadsFromOutside) {
  Builder g("graph");
  const Value x = g.input("x", DType::kFloat32, {3});
  const Value outer = relu(g, x);
  auto body = g.subgraph("body");
  (void)body->input("round", DType::kInt64, {});
  const Value go_on = body->input("go_on", DType::kBool, {});
  const Value before = body->input("before", DType::kFloat32, {3});
  body->output("go_on_again", go_on);
  body->output("after", add(*body, before, mul(*body, outer, body->scalar(3.0F))));
  g.output("y", g.loop(g.scalar(std::int64_t{2}), x, std::move(body), {3}));
  const CanonicalGraph graph = canonical(g);
  ASSERT_GE(graph.body.nodes.size(), 2U);
  EXPECT_EQ(graph.body.nodes[0].op_type, "Relu");
  EXPECT_EQ(graph.body.nodes[1].op_type, "Loop");
  const auto& inner = *std::get<std::shared_ptr<const Body>>(graph.body.nodes[1].attributes.front().value);
  EXPECT_EQ(inner.nodes[1].inputs.front(), graph.body.nodes[0].outputs.front());
  EXPECT_EQ(graph.initializers.size(), 2U);
}

}  // namespace
}  // namespace samlet::onnx
