#include "libs/engine/formats/text.h"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace samlet::formats {
namespace {

double rounded(double value, double steps) {
  return std::round(value * steps) / steps;
}

}  // namespace

std::string quoted(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string number(double value) {
  constexpr double kExact = 1e15;  // below it every whole number is exact and has no exponent
  if (std::abs(value) < kExact && std::trunc(value) == value) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  return fmt::format("{}", value);
}

std::string score_text(double score) {
  return number(rounded(score, 1e6));
}

std::string pixel_text(double pixels) {
  return number(rounded(pixels, 1e4));
}

void append_corner(std::string& out, const Corner& corner) {
  out += number(corner.x);
  out += ',';
  out += number(corner.y);
}

}  // namespace samlet::formats
