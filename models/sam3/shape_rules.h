// What the shape of a tensor says about its role, in graphs of SAM 3.
#pragma once

#include <cstdint>
#include <optional>

#include "models/sam3/mapping.h"

namespace samlet::sam3 {

/// Of two dimensions one is of boxes, tokens or points, the other of prompts, of which there is one.
enum class Order {
  kItemsFirst,   ///< [N, 1]
  kPromptFirst,  ///< [1, N]
  kEither,       ///< [1, 1]
  kUnknown,      ///< [?, ?]
  kImpossible,   ///< [2, 3]: several prompts in every call
};
[[nodiscard]] Order order_of(std::int64_t first, std::int64_t second) noexcept;

/// Shapes of other graphs that narrow down what a tensor may be.
struct KnownShapes {
  std::optional<Shape> text_mask;    ///< what the language encoder gives
  std::optional<Shape> text_memory;  ///< what it gives, or the decoder takes
};

/// The rule for Mapper. `known` is copied.
[[nodiscard]] ShapeRule shape_rule(KnownShapes known);

}  // namespace samlet::sam3
