// Which file of a folder is the checkpoint.
#pragma once

#include <filesystem>
#include <string_view>

namespace samlet::checkpoint {

/// Whether a file name says that it is one shard of several: "model-00001-of-00003.safetensors".
[[nodiscard]] bool is_one_of_several(std::string_view name);

/// The only *.safetensors.index.json, *.safetensors, *.pt or *.pth of the folder; shards of an index do not
/// count. Errors: kModelMissing when there is none, kModelUnsupported when there are several (it names them),
/// kIo.
[[nodiscard]] std::filesystem::path find_checkpoint_in(const std::filesystem::path& folder);

}  // namespace samlet::checkpoint
