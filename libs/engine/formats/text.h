// How the text formats of this folder write numbers and words. Polygons have many corners, so they are
// written straight into the text instead of being built as a tree of JSON first.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libs/mask/polygon.h"

namespace samlet::formats {

/// A JSON string with its quotes. Bytes that are no UTF-8 become U+FFFD. Thread-safe.
[[nodiscard]] std::string quoted(std::string_view text);

/// The shortest text that reads back as the same number; whole numbers without a point. Thread-safe.
[[nodiscard]] std::string number(double value);

/// Rounded to what the number carries: six decimals of a score, four of a pixel. Thread-safe.
[[nodiscard]] std::string score_text(double score);
[[nodiscard]] std::string pixel_text(double pixels);

/// "12,34": appends the corner's two numbers.
void append_corner(std::string& out, const Corner& corner);

}  // namespace samlet::formats
