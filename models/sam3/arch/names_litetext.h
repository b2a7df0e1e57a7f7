// The names that transformers gives the tensors of a LiteText text encoder.
#pragma once

#include <string_view>

#include "models/sam3/arch/recipe.h"

namespace samlet::sam3 {

/// Where the tensor of the published name ("encoder.transformer.0.layer_scale") is in a file of transformers.
/// Thread-safe.
[[nodiscard]] Recipe transformers_litetext_recipe(std::string_view name);

}  // namespace samlet::sam3
