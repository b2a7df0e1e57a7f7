// All that can be said of a model folder without pictures.
#pragma once

#include <filesystem>

#include "libs/engine/folder_check.h"
#include "models/sam3/manifest.h"

namespace samlet::sam3 {

/// Files (sizes and hashes by model.json), contract (what each graph declares), self-test (every graph runs,
/// figures are those of the export) and, when asked for, a device against the CPU. Each part is left out,
/// with a note, when one before it failed. A folder without model.json is checked as far as it goes. What is
/// wrong with the folder is a failed line. Errors: kDeviceUnavailable, kCancelled, kOutOfMemory;
/// kModelMissing and others when there is no model.json that could be read.
void check_folder(const std::filesystem::path& folder, const FolderCheckOptions& options);

/// The first part. Gives whether all files are what model.json says.
bool check_files(const std::filesystem::path& folder, const Manifest& manifest,
                 const FolderCheckOptions& options);

}  // namespace samlet::sam3
