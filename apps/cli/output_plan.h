// Where each picture's overlay goes, decided and checked before anything is loaded.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include "apps/cli/commands.h"
#include "samlet/image.h"

namespace samlet::cli {

struct PlannedPicture {
  std::filesystem::path picture;
  std::optional<std::filesystem::path> overlay;  ///< None: no overlay file is written.
  ImageFormat format = ImageFormat::kPng;
  bool overlay_to_output = false;  ///< `--out -`
};

/// The format whose first bytes a file has: JPEG for JPEG, PNG for all else, also when it cannot be read
/// (which is said when its turn comes).
[[nodiscard]] ImageFormat overlay_format_for(const std::filesystem::path& picture);

/// One row a picture, in order. `--out` names a file (its suffix says the format), a folder (existing, or
/// with a trailing slash, and then made), or `-`. Without it the overlay is `<stem>.samlet.<jpg|png>` in the
/// current folder, or none when only JSON was asked for. Errors: kUsage (several pictures into one file, two
/// pictures with one output, unknown suffix), kIo (an output exists and --overwrite was not given, a folder
/// cannot be made, a name too long).
[[nodiscard]] std::vector<PlannedPicture> plan_outputs(const RunArguments& arguments);

}  // namespace samlet::cli
