// What the files of this library share about runs.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "samlet/mask.h"

namespace samlet {

/// The runs of a mask while it is made: equal neighbours merge, so the result is the one canonical list (no
/// empty run but perhaps the first). The caller sees to it that the lengths add up to less than 2^32. Not
/// thread-safe.
class RunBuilder {
 public:
  void append(bool set, std::uint64_t length) {
    if (length == 0) return;
    if (set != set_) {
      counts_.push_back(current_);
      current_ = 0;
      set_ = set;
    }
    current_ += static_cast<std::uint32_t>(length);
  }

  [[nodiscard]] std::vector<std::uint32_t> finish() && {
    counts_.push_back(current_);
    return std::move(counts_);
  }

 private:
  std::vector<std::uint32_t> counts_;
  std::uint32_t current_ = 0;
  bool set_ = false;
};

/// Refuses a mask with a negative side or with runs that do not add up to width x height. Errors: kUsage.
void check_runs(const Mask& mask);

}  // namespace samlet
