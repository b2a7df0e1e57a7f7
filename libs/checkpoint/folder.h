// Which file of a folder is the checkpoint.
#pragma once

#include <filesystem>

namespace samlet::checkpoint {

/// The only *.safetensors.index.json, *.safetensors, *.pt or *.pth of the folder; shards of an index do not
/// count. Errors: kModelMissing when there is none, kModelUnsupported when there are several (it names them),
/// kIo.
[[nodiscard]] std::filesystem::path find_checkpoint_in(const std::filesystem::path& folder);

}  // namespace samlet::checkpoint
