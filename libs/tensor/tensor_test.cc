#include "libs/tensor/tensor.h"

#include <array>

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet {
namespace {

TEST(Shape, CountsAndRefusesWhatCannotBe) {
  EXPECT_EQ(element_count(Shape{}), 1U);
  EXPECT_EQ(element_count(Shape{2, 0, 3}), 0U);
  EXPECT_EQ(element_count(Shape{2, 3}), 6U);
  EXPECT_FALSE(element_count(Shape{-1}).has_value());
  EXPECT_FALSE(element_count(Shape{1LL << 40, 1LL << 40}).has_value());
  EXPECT_EQ(to_string(Shape{1, 256, 72}), "[1, 256, 72]");
}

TEST(Tensor, HoldsWhatItWasGiven) {
  const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
  Tensor t = Tensor::from<float>({2, 3}, values);
  t.as<float>()[5] = 7;
  EXPECT_EQ(t.view().as<float>()[5], 7.0F);
  EXPECT_EQ(t.view().count(), 6U);
}

TEST(Tensor, RefusesWrongTypesAndSizes) {
  Tensor t(DType::kInt64, {2});
  EXPECT_THROW((void)t.as<float>(), Error);
  EXPECT_THROW((void)Tensor::from<float>({7}, std::array<float, 6>{}), Error);
  EXPECT_THROW(TensorView(DType::kFloat32, {2}, std::span<const std::byte>()), Error);
}

}  // namespace
}  // namespace samlet
