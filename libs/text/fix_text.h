// ftfy 6.3.1's fix_text with its default configuration. Private to libs/text.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace samlet::text {

/// Limits the repeated passes over one phrase. Real phrases settle after two or three rounds; text such as
/// "&amp;amp;amp;..." undoes one layer a round, so without a limit its cost would grow with the square of its
/// length.
class WorkLimit {
 public:
  explicit WorkLimit(std::size_t phrase_size) noexcept;
  /// Accounts for a pass over `characters`. Errors: kPromptInvalid when the limit is passed.
  void spend(std::size_t characters);

 private:
  std::size_t left_;
};

/// The repaired text. Errors: kPromptInvalid when the text is wrapped in more layers of escapes than are ever
/// undone (see WorkLimit). Pure, thread-safe.
[[nodiscard]] std::u32string fix_text(std::u32string_view text);

/// ftfy's fix_encoding: undoes mojibake (UTF-8 read as a one-byte encoding), layer by layer. Pure,
/// thread-safe.
[[nodiscard]] std::u32string fix_encoding(std::u32string_view text, WorkLimit& limit);

/// Every C1 control as the Windows-1252 character of the same byte. Pure, thread-safe.
[[nodiscard]] std::u32string fix_c1_controls(std::u32string_view text);

}  // namespace samlet::text
