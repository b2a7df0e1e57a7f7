#include "samlet/cancel.h"

#include "samlet/error.h"

namespace samlet {

static_assert(std::atomic<bool>::is_always_lock_free, "cancel() is called from a signal handler");

void CancelToken::check() const {
  if (cancelled()) throw Error(ErrorCode::kCancelled, "stopped on request");
}

}  // namespace samlet
