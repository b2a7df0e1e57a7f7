// The zip archives that torch.save writes: members stored without compression, zip64 where sizes need it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samlet::checkpoint {

struct ZipMember {
  std::string name;
  std::span<const std::uint8_t> bytes;  ///< A view into the archive.
};

/// Whether bytes begin as a zip archive does, cut or not.
[[nodiscard]] bool looks_like_zip(std::span<const std::uint8_t> bytes) noexcept;

/// The members in the order of the archive's directory. No two share a name or a byte.
/// Errors: kModelDamaged (cut, contradictions between directory and members); kModelUnsupported (compressed,
/// encrypted, in several parts). Thread-safe.
[[nodiscard]] std::vector<ZipMember> read_zip(std::span<const std::uint8_t> bytes);

}  // namespace samlet::checkpoint
