// Every model family samlet knows, one row each.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "samlet/segmenter.h"

namespace samlet {

/// How a family is told apart and opened.
struct Family {
  std::string_view name;
  bool (*recognises)(const std::filesystem::path& folder);
  std::unique_ptr<ConceptSegmenter> (*open)(const std::filesystem::path& folder, const ModelOptions& options);
};

/// All families, in the order in which they are asked. Thread-safe.
[[nodiscard]] std::span<const Family> families() noexcept;

}  // namespace samlet
