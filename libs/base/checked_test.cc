#include "libs/base/checked.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace samlet {
namespace {

TEST(Checked, ReportsOverflowInsteadOfWrapping) {
  constexpr auto kMax = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(checked_add<std::uint64_t>(kMax, 0), kMax);
  EXPECT_FALSE(checked_add<std::uint64_t>(kMax, 1).has_value());
  EXPECT_EQ(checked_mul<std::uint64_t>(1ULL << 32, 1ULL << 31), 1ULL << 63);
  EXPECT_FALSE(checked_mul<std::uint64_t>(1ULL << 32, 1ULL << 32).has_value());
  EXPECT_FALSE(checked_mul<std::int64_t>(std::numeric_limits<std::int64_t>::min(), -1).has_value());
}

}  // namespace
}  // namespace samlet
