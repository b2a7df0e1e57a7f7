// Any bytes as an alias file: read, or refused as wrong use.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "models/sam3/alias_file.h"
#include "samlet/error.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using samlet::sam3::AliasFile;
  using samlet::sam3::Direction;
  using samlet::sam3::find_role;
  try {
    const AliasFile file =
        samlet::sam3::parse_alias_file({reinterpret_cast<const char*>(data), size}, "aliases.json");
    for (const auto kind : samlet::sam3::kGraphKinds) {
      for (const auto& [role, tensor] : file.of(kind).inputs) {
        if (find_role(kind, Direction::kInput, role) == nullptr || tensor.empty()) std::abort();
      }
      for (const auto& [role, tensor] : file.of(kind).outputs) {
        if (find_role(kind, Direction::kOutput, role) == nullptr || tensor.empty()) std::abort();
      }
    }
  } catch (const samlet::Error& error) {
    if (error.code() != samlet::ErrorCode::kUsage) std::abort();
  }
  return 0;
}
