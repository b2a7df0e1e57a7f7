// How a tensor of Meta's sam3.pt is put together from what a file has.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace samlet::sam3 {

struct Recipe {
  enum class Op {
    kCopy,          ///< the one stored tensor
    kStack,         ///< all stored tensors, one under the other (q, k, v)
    kDropFirstRow,  ///< the stored tensor [1, n + 1, C] without its first row
    kRow,           ///< row `row` of the stored tensor, as [1, ...]
    kEither,        ///< any of the stored tensors, which are copies of each other
  };

  Op op = Op::kCopy;
  std::vector<std::string> stored;  ///< Empty: the layout has no such tensor.
  std::int64_t row = 0;
};

}  // namespace samlet::sam3
