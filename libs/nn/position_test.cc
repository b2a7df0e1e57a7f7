#include "libs/nn/position.h"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

namespace samlet::nn {
namespace {

TEST(SineMap, FollowsDetrWithRowsFirst) {
  constexpr std::int64_t kSide = 5;
  constexpr std::int64_t kWidth = 8;
  const auto map = sine_map(kSide, kWidth).values();
  ASSERT_EQ(map.size(), 200U);
  const double two_pi = 2 * std::numbers::pi;
  // Token (y 3, x 1): four channels of y, four of x; channel j has 10000^(2 floor(j/2) / 4).
  const float* token = &map[std::size_t{3 * 5 + 1} * 8];
  const double y = 4 / (5 + 1e-6) * two_pi;
  const double x = 2 / (5 + 1e-6) * two_pi;
  EXPECT_FLOAT_EQ(token[0], static_cast<float>(std::sin(y)));
  EXPECT_FLOAT_EQ(token[1], static_cast<float>(std::cos(y)));
  EXPECT_FLOAT_EQ(token[2], static_cast<float>(std::sin(y / 100)));
  EXPECT_FLOAT_EQ(token[3], static_cast<float>(std::cos(y / 100)));
  EXPECT_FLOAT_EQ(token[4], static_cast<float>(std::sin(x)));
  EXPECT_FLOAT_EQ(token[7], static_cast<float>(std::cos(x / 100)));
}

TEST(FourierMap, HasSinesThenCosinesAtCellCentres) {
  const LazyTensor matrix = LazyTensor::of({2, 3}, {0.5F, -1, 2, 0.25F, 1, -0.5F});
  const auto map = fourier_map(4, matrix).values();
  ASSERT_EQ(map.size(), 96U);
  const double u = 2 * (2.5 / 4) - 1;  // column 2
  const double v = 2 * (1.5 / 4) - 1;  // row 1
  const double angle = (u * -1 + v * 1) * 2 * std::numbers::pi;
  const float* token = &map[std::size_t{1 * 4 + 2} * 6];
  EXPECT_FLOAT_EQ(token[1], static_cast<float>(std::sin(angle)));
  EXPECT_FLOAT_EQ(token[4], static_cast<float>(std::cos(angle)));
}

// Turning interleaved pairs and turning halves of reordered channels is the same rotation.
TEST(Rotary, ReorderedHalvesTurnLikeInterleavedPairs) {
  constexpr std::int64_t kHead = 8;
  const std::pair<double, double> position{3, 5};
  const RotaryTables tables = rotary_tables({position}, kHead);
  const auto cosine = tables.cosine.values();
  const auto sine = tables.sine.values();
  const auto order = rotary_order(kHead);
  const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8};
  for (std::size_t p = 0; p < 4; ++p) {
    // Pairs 0 and 1 turn with x, 2 and 3 with y, at frequencies 1 and 1/100.
    const double angle = (p < 2 ? position.first : position.second) * (p % 2 == 0 ? 1.0 : 0.01);
    const double a = x[2 * p];
    const double b = x[2 * p + 1];
    const auto channel = [&](std::size_t c) { return x[static_cast<std::size_t>(order[c])]; };
    const double low =
        channel(p) * static_cast<double>(cosine[p]) + channel(p + 4) * static_cast<double>(sine[p]);
    const double high =
        channel(p + 4) * static_cast<double>(cosine[p + 4]) + channel(p) * static_cast<double>(sine[p + 4]);
    EXPECT_NEAR(low, a * std::cos(angle) - b * std::sin(angle), 1e-6);
    EXPECT_NEAR(high, a * std::sin(angle) + b * std::cos(angle), 1e-6);
  }
}

}  // namespace
}  // namespace samlet::nn
