// The names of transformers' Sam3VideoModel and Sam3Model.
#pragma once

#include <string_view>

#include "models/sam3/arch/recipe.h"

namespace samlet::sam3 {

/// What a Sam3VideoModel's names begin with where Sam3Model's do not.
inline constexpr std::string_view kDetectorModel = "detector_model.";

/// Where the tensor of Meta's name is in a Sam3VideoModel file. Thread-safe.
[[nodiscard]] Recipe transformers_recipe(std::string_view meta_name);

}  // namespace samlet::sam3
