#include "libs/ort/graph_flow.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <protozero/pbf_writer.hpp>

#include "samlet/error.h"

namespace samlet::ort {
namespace {

using protozero::pbf_writer;
using Names = std::vector<std::string>;

/// A model of inputs, initializers (name, elements) and nodes (operator, inputs, output).
class Model {
 public:
  explicit Model(const Names& inputs) {
    for (const std::string& name : inputs) {
      pbf_writer info(graph_, 11);
      info.add_string(1, name);
    }
  }
  Model& constant(const std::string& name, std::int64_t elements) {
    pbf_writer tensor(graph_, 5);
    tensor.add_int64(1, elements);
    tensor.add_string(8, name);
    return *this;
  }
  Model& node(const std::string& op, const Names& inputs, const std::string& output) {
    pbf_writer node(graph_, 1);
    for (const std::string& name : inputs) node.add_string(1, name);
    node.add_string(2, output);
    node.add_string(4, op);
    return *this;
  }
  [[nodiscard]] bool joins(const std::string& input) {
    std::string bytes;
    pbf_writer model(bytes);
    model.add_int64(1, 9);
    model.add_message(7, bytes_);
    return joins_constant({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}, input);
  }

 private:
  std::string bytes_;
  pbf_writer graph_{bytes_};
};

TEST(GraphFlow, AConstantThatIsAppendedIsFound) {
  Model model({"labels"});
  model.constant("closing", 1)
      .node("Cast", {"labels"}, "floats")
      .node("Concat", {"floats", "closing"}, "all");
  EXPECT_TRUE(model.joins("labels"));
  EXPECT_FALSE(model.joins("others"));
}

TEST(GraphFlow, AConstantMadeAsLargeAsTheInputIsOne) {
  Model model({"labels"});
  model.constant("minus_one", 1)
      .node("Shape", {"labels"}, "shape")
      .node("Expand", {"minus_one", "shape"}, "column")
      .node("Concat", {"labels", "column"}, "all");
  EXPECT_TRUE(model.joins("labels"));
}

TEST(GraphFlow, PaddingIsAppendingToo) {
  Model model({"labels"});
  model.constant("pads", 4).node("Pad", {"labels", "pads"}, "all");
  EXPECT_TRUE(model.joins("labels"));
}

TEST(GraphFlow, WhatIsJoinedAfterSomethingLearnedIsNoClosingPoint) {
  // The tokens of a mask decoder are put beside the points' embeddings in every decoder.
  Model product({"coords", "labels"});
  product.constant("gaussian", 64)
      .constant("tokens", 192)
      .node("MatMul", {"coords", "gaussian"}, "code")
      .node("Unsqueeze", {"labels"}, "column")
      .node("Mul", {"code", "column"}, "points")
      .node("Concat", {"tokens", "points"}, "all");
  EXPECT_FALSE(product.joins("coords"));
  EXPECT_FALSE(product.joins("labels"));
  Model sum({"labels"});
  sum.constant("embedding", 32)
      .constant("tokens", 192)
      .node("Mul", {"labels", "embedding"}, "points")
      .node("Concat", {"tokens", "points"}, "all");
  EXPECT_FALSE(sum.joins("labels"));
  Model scaled({"labels"});
  scaled.constant("side", 2)
      .constant("zeros", 2)
      .node("Div", {"labels", "side"}, "points")
      .node("Concat", {"points", "zeros"}, "all");
  EXPECT_TRUE(scaled.joins("labels"));
}

TEST(GraphFlow, TwoInputsSideBySideAreNoConstant) {
  Model model({"coords", "labels"});
  model.node("Concat", {"coords", "labels"}, "all");
  EXPECT_FALSE(model.joins("labels"));
}

TEST(GraphFlow, BytesThatAreNoModelAreRefused) {
  const std::string cut("\x3A\x7F", 2);
  try {
    (void)joins_constant({reinterpret_cast<const std::uint8_t*>(cut.data()), cut.size()}, "x");
    ADD_FAILURE() << "was read";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
  }
}

}  // namespace
}  // namespace samlet::ort
