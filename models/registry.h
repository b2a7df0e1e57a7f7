// Every model family samlet knows, one row each.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

#include "libs/engine/folder_check.h"
#include "samlet/segmenter.h"

namespace samlet {

/// How a family is told apart and opened.
struct Family {
  std::string_view name;
  bool (*recognises)(const std::filesystem::path& folder);
  std::unique_ptr<Segmenter> (*open)(const std::filesystem::path& folder, const ModelOptions& options);
  void (*check)(const std::filesystem::path& folder, const FolderCheckOptions& options);
};

/// All families, in the order in which they are asked. Thread-safe.
[[nodiscard]] std::span<const Family> families() noexcept;

/// Checks a folder with the family that claims it; what is found goes to `options.found`. Errors: as
/// open_concept_segmenter for a folder that no family claims or an unknown device; those of the family's
/// check, which are never about what is wrong inside of the folder.
void check_model_folder(const std::filesystem::path& folder, const FolderCheckOptions& options);

}  // namespace samlet
