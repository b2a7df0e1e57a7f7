// What checkpoints hold that no graph of samlet needs, and why. Everything else must be used.
#pragma once

#include <span>
#include <string_view>

#include "models/sam3/arch/weights.h"

namespace samlet::sam3 {

/// A group of tensors by the names that the file has (a pattern of name_pattern.h; Sam3VideoModel's names for
/// transformers).
struct UnusedGroup {
  std::string_view pattern;
  std::string_view reason;
};

/// The groups that are never used. Thread-safe.
[[nodiscard]] std::span<const UnusedGroup> unused_groups(CheckpointLayout layout) noexcept;

/// The patterns of a part's tensors, for when the caller leaves it out. Thread-safe.
[[nodiscard]] std::span<const std::string_view> patterns_of(CheckpointLayout layout, Part part) noexcept;

}  // namespace samlet::sam3
