// JSON from outside: headers of safetensors files, shard indexes, config.json.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samlet::checkpoint {

/// A parsed value. An object's values are `items`, in the order of `keys`.
struct Json {
  enum class Kind { kNull, kBool, kInteger, kNumber, kString, kArray, kObject };

  Kind kind = Kind::kNull;
  bool boolean = false;
  std::int64_t integer = 0;  ///< kInteger
  double number = 0;         ///< kInteger and kNumber
  std::string text;          ///< kString
  std::vector<std::string> keys;
  std::vector<Json> items;

  [[nodiscard]] bool is(Kind wanted) const noexcept { return kind == wanted; }
  /// The value of a key; nothing when there is none, or this is no object.
  [[nodiscard]] const Json* find(std::string_view key) const noexcept;
  /// The integer that this is, or nothing. Numbers beyond 64 bits are none.
  [[nodiscard]] std::optional<std::int64_t> as_integer() const noexcept;
};

/// Deeper values, and more of them, than any checkpoint has.
inline constexpr std::size_t kMaxJsonDepth = 32;
inline constexpr std::size_t kMaxJsonValues = 500'000;

/// Parses one value that takes all of the text. Keys are unique in their object.
/// Errors: kModelDamaged, a sentence that begins with `what` ("the header"). Thread-safe.
[[nodiscard]] Json parse_json(std::string_view text, std::string_view what);

}  // namespace samlet::checkpoint
