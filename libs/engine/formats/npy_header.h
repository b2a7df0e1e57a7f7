// The header of an .npy file: a literal of Python's, a dictionary with three members.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samlet::formats {

struct NpyHeader {
  std::string descr;  ///< "<f4"
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

/// Nothing when the text is no such dictionary: exactly the three members, in any order. Structured types (a
/// list as `descr`) are none. Thread-safe.
[[nodiscard]] std::optional<NpyHeader> parse_npy_header(std::string_view text);

/// As numpy.save writes it, without padding and line end. Thread-safe.
[[nodiscard]] std::string npy_header(const NpyHeader& header);

}  // namespace samlet::formats
