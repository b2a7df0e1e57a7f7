#include "samlet/error.h"

#include <array>
#include <cstddef>

namespace samlet {
namespace {

constexpr std::array<ErrorTraits, 18> kTable{{
    {ErrorCode::kUsage, "usage", 2, 400},
    {ErrorCode::kPromptInvalid, "prompt_invalid", 2, 422},
    {ErrorCode::kNotFound, "not_found", 1, 404},
    {ErrorCode::kImageUnreadable, "image_unreadable", 1, 415},
    {ErrorCode::kImageTooLarge, "image_too_large", 1, 413},
    {ErrorCode::kIo, "io", 1, 500},
    {ErrorCode::kModelMissing, "model_missing", 3, 404},
    {ErrorCode::kModelDamaged, "model_damaged", 3, 500},
    {ErrorCode::kModelUnsupported, "model_unsupported", 3, 422},
    {ErrorCode::kDeviceUnavailable, "device_unavailable", 1, 503},
    {ErrorCode::kOutOfMemory, "out_of_memory", 1, 503},
    {ErrorCode::kNetwork, "network", 1, 502},
    {ErrorCode::kInternal, "internal", 1, 500},
    {ErrorCode::kBusy, "busy", -1, 429},
    {ErrorCode::kUnauthorized, "unauthorized", -1, 401},
    {ErrorCode::kForbidden, "forbidden", -1, 403},
    {ErrorCode::kCancelled, "cancelled", 130, 499},
    {ErrorCode::kPartialFailure, "partial_failure", 4, -1},
}};

constexpr bool table_follows_the_enumeration() {
  for (std::size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<std::size_t>(kTable[i].code) != i) return false;
  }
  return true;
}
static_assert(table_follows_the_enumeration());
static_assert(kTable.size() == static_cast<std::size_t>(ErrorCode::kPartialFailure) + 1);

}  // namespace

std::span<const ErrorTraits> error_table() noexcept {
  return kTable;
}

const ErrorTraits& error_traits(ErrorCode code) noexcept {
  return kTable[static_cast<std::size_t>(code)];
}

Error Error::with_context(std::string_view context) const {
  std::string message(context);
  message += ": ";
  message += what();
  return {code_, message};
}

}  // namespace samlet
