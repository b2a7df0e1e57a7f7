// The layouts of folder.h, one function each. For folder.cc and check.cc.
#pragma once

#include <filesystem>
#include <string>

#include "models/sam3/declarations.h"
#include "models/sam3/folder.h"

namespace samlet::sam3 {

/// The longest side and phrase a graph may declare. The released model has 1008 and 32; the bounds only keep
/// a damaged file from asking for gigabytes.
inline constexpr std::int64_t kMaxSide = 8192;
inline constexpr std::int64_t kMaxContext = 4096;

[[nodiscard]] Folder open_v030(const std::filesystem::path& folder, const std::string& text_encoder);
/// `aliases` is an alias file, or empty.
[[nodiscard]] Folder open_v050(const std::filesystem::path& folder, const std::string& text_encoder,
                               const std::filesystem::path& aliases);
[[nodiscard]] Folder open_v1(const std::filesystem::path& folder, const std::string& text_encoder);

// The graphs of contract version 1, each compared with the contract and the manifest's sizes.
[[nodiscard]] GraphFile read_v1_image_encoder(const std::filesystem::path& folder, const Manifest& manifest);
[[nodiscard]] GraphFile read_v1_language_encoder(const std::filesystem::path& path, const Manifest& manifest);
[[nodiscard]] GraphFile read_v1_decoder(const std::filesystem::path& folder, const Manifest& manifest);
[[nodiscard]] GraphFile read_v1_point_decoder(const std::filesystem::path& folder, const Manifest& manifest);
// And that what one gives is what the next takes. Errors: kModelDamaged.
void require_v1_decoder_fits(const GraphFile& image, const GraphFile& language, const GraphFile& decoder);
void require_v1_point_decoder_fits(const GraphFile& image, const GraphFile& decoder);

/// Every file of the manifest is there and as long as it says. Errors: kModelMissing, kModelDamaged.
void require_files(const std::filesystem::path& folder, const Manifest& manifest);

/// The folder's own name, also for "." and "models/sam3/".
[[nodiscard]] std::string folder_name(const std::filesystem::path& folder);

}  // namespace samlet::sam3
