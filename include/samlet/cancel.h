// Stopping a long call from another thread or a signal handler.
#pragma once

#include <atomic>
#include <memory>

namespace samlet {

/// A flag shared by all copies. `cancel()` may be called from any thread and from a signal handler (a
/// lock-free atomic store); long calls test it between their steps and end with ErrorCode::kCancelled.
class CancelToken {
 public:
  CancelToken() : flag_(std::make_shared<std::atomic<bool>>(false)) {}
  void cancel() const noexcept { flag_->store(true); }
  [[nodiscard]] bool cancelled() const noexcept { return flag_->load(); }
  /// Throws Error(kCancelled) when the flag is set.
  void check() const;

 private:
  std::shared_ptr<std::atomic<bool>> flag_;
};

}  // namespace samlet
