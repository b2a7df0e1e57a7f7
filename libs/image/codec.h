// What the two codecs offer inside of libs/image. Each third-party header stays in the one .cc that
// implements these.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "samlet/image.h"

namespace samlet {

/// Decodes a whole JPEG file, upright. Errors: kImageUnreadable, kImageTooLarge, kOutOfMemory. Thread-safe.
[[nodiscard]] Image decode_jpeg(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

/// Decodes a whole PNG file (of an animation: the default picture), upright. Errors and threads: as
/// decode_jpeg.
[[nodiscard]] Image decode_png(std::span<const std::uint8_t> bytes, const DecodeOptions& options);

/// Baseline JPEG, quality 90, 4:2:0. The picture is checked already. Errors: kInternal. Thread-safe.
[[nodiscard]] std::vector<std::uint8_t> encode_jpeg(const Image& image);

/// 8-bit RGB PNG. The picture is checked already. Errors: kInternal. Thread-safe.
[[nodiscard]] std::vector<std::uint8_t> encode_png(const Image& image);

/// Refuses sizes that a header claims: a zero side, or more than `max_pixels`. `kind` names the container.
/// Errors: kImageUnreadable, kImageTooLarge.
void check_claimed_size(std::string_view kind, std::uint64_t width, std::uint64_t height,
                        const DecodeOptions& options);

/// The message of a damaged file, with the codec library's own words below ours. Never returns.
[[noreturn]] void throw_damaged(std::string_view kind, std::string_view reason);

}  // namespace samlet
