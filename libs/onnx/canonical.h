// One order and one set of names for graphs that are the same.
#pragma once

#include <vector>

#include "libs/onnx/builder.h"

namespace samlet::onnx {

/// A graph ready to be written.
struct CanonicalGraph {
  Body body;
  std::vector<Initializer> initializers;  ///< In the order of their first use.
};

/// The builder's graph with its nodes in the order in which the outputs need them (depth first, inputs from
/// left to right) and with names numbered in that order; what no output needs is left out. C++ leaves it to
/// the compiler in which order the arguments of a call are evaluated, and so in which order a builder's nodes
/// come to be; after this nothing of that is left, and every compiler writes the same bytes. Names of inputs
/// and outputs stay.
[[nodiscard]] CanonicalGraph canonical(const Builder& builder);

}  // namespace samlet::onnx
