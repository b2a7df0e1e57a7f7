// Telling from its first bytes what a file is.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace samlet {

enum class PictureKind { kJpeg, kPng, kBmp, kPnm, kTiff, kWebp, kGif, kHeif, kOther };

/// By the signature; what is not read is kOther. Thread-safe.
[[nodiscard]] PictureKind picture_kind(std::span<const std::uint8_t> bytes) noexcept;

/// The sentence that refuses bytes of kind kOther: it names the kind when it is known ("this is a PSD
/// picture ...") and says what to do. Thread-safe.
[[nodiscard]] std::string refusal_of_other_kind(std::span<const std::uint8_t> bytes);

}  // namespace samlet
