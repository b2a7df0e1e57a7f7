// What a shared library asks for, read from its file.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace samlet::ort {

/// The names of the libraries that a 64-bit little-endian ELF file needs (its DT_NEEDED entries), in order;
/// empty for anything else, and for what is cut or inconsistent. Bounds-checked. Thread-safe.
[[nodiscard]] std::vector<std::string> needed_libraries(std::span<const std::uint8_t> bytes);

}  // namespace samlet::ort
