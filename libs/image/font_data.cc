#include "libs/image/font_data.h"

namespace samlet {
namespace {

constexpr std::uint8_t kFont[] = {
#include "dejavu_sans.inc"
};

}  // namespace

std::span<const std::uint8_t> embedded_font() noexcept {
  return kFont;
}

}  // namespace samlet
