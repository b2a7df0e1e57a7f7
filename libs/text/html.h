// Character references of HTML, twice: Python's rule and ftfy's. Private to libs/text.
#pragma once

#include <string>
#include <string_view>

namespace samlet::text {

// Both are pure and thread-safe.

/// Python 3.11's html.unescape: named references with or without the semicolon (longest known name first),
/// numeric ones with HTML 5's repairs. Python refuses decimal numbers of more than 4,300 digits with an
/// exception; here they are out of range like any other large number.
[[nodiscard]] std::u32string html_unescape(std::u32string_view text);

/// ftfy 6.3.1's unescape_html: only references that end in a semicolon, and upper-case forms such as
/// &EACUTE;.
[[nodiscard]] std::u32string ftfy_unescape_html(std::u32string_view text);

}  // namespace samlet::text
