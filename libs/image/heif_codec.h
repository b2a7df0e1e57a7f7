// HEIC and AVIF with a libheif that the caller brings, so that tests can take it away.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "libs/image/heif_library.h"
#include "samlet/image.h"

namespace samlet {

/// decode_heif() with `library`; without one (null) `problem` says why there is none.
[[nodiscard]] Picture decode_heif_with(const HeifLibrary* library, std::string_view problem,
                                       std::span<const std::uint8_t> bytes, const DecodeOptions& options);

}  // namespace samlet
