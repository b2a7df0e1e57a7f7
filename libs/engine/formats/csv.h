// A table of instances (RFC 4180), for spreadsheets and data frames.
#pragma once

#include <string>

#include "libs/engine/formats/annotation.h"

namespace samlet::formats {

/// The names of the columns, with the line end: image, width, height (the picture's), instance (its number),
/// label, category (from 0), kind, score, box_x1 .. box_y2 (the model's box, pixels), area (pixels),
/// mask_x, mask_y, mask_width, mask_height (the mask's box, whole pixels).
[[nodiscard]] std::string csv_header();

/// One line an instance, ended by CR LF; a field with a comma, a quote or a line break stands in quotes.
/// UTF-8 without a mark at the beginning. Errors: kUsage as check_picture. Thread-safe.
[[nodiscard]] Text csv_lines(const AnnotatedPicture& picture);

}  // namespace samlet::formats
