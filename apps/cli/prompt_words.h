// Prompts as they are written on the command line.
#pragma once

#include <string>

#include "samlet/prompt.h"

namespace samlet::cli {

/// "x1,y1,x2,y2". Errors: kPromptInvalid when it is not four numbers.
[[nodiscard]] Box parse_box(const std::string& text);

/// "x,y". Errors: kPromptInvalid when it is not two numbers.
[[nodiscard]] Point parse_point(const std::string& text);

/// "box=x1,y1,x2,y2;point=x,y;not=x,y", in any order; point and not may be repeated. Errors: kPromptInvalid.
[[nodiscard]] ObjectPrompt parse_object(const std::string& text);

}  // namespace samlet::cli
