// A LiteText checkpoint is a text encoder in a whole SAM 3. Is it the SAM 3 that is being exported?
#pragma once

#include <filesystem>
#include <string>

namespace samlet::sam3 {

/// Compares the tensors that both files have under one name, the text encoder's left out, by their beginnings
/// and ends. Empty when they agree or have none in common (a file of the text encoder alone, another layout);
/// otherwise a sentence for a warning. Errors: those of opening a checkpoint.
[[nodiscard]] std::string base_difference(const std::filesystem::path& checkpoint,
                                          const std::filesystem::path& student);

}  // namespace samlet::sam3
