#include "libs/tensor/lazy_tensor.h"

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet {
namespace {

TEST(LazyTensor, GivesItsValuesInOrderAsOftenAsAsked) {
  const LazyTensor tensor({2, 2}, [](const LazyTensor::Sink& sink) {
    const std::vector<float> first{1};
    const std::vector<float> rest{2, 3, 4};
    sink(first);
    sink(rest);
  });
  EXPECT_EQ(tensor.count(), 4U);
  EXPECT_EQ(tensor.values(), (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(tensor.values(), (std::vector<float>{1, 2, 3, 4}));
}

TEST(LazyTensor, ProducerThatGivesAnotherNumberOfValuesIsAFault) {
  const std::vector<float> three{1, 2, 3};
  const auto give = [three](const LazyTensor::Sink& sink) { sink(three); };
  EXPECT_THROW((void)LazyTensor({2}, give).values(), Error);
  EXPECT_THROW((void)LazyTensor({4}, give).values(), Error);
  EXPECT_THROW((void)LazyTensor::of({4}, three), Error);
}

TEST(LazyTensor, ShapeMustHaveACount) {
  const auto nothing = [](const LazyTensor::Sink&) {};
  EXPECT_THROW(LazyTensor({-1}, nothing), Error);
  EXPECT_THROW(LazyTensor({std::int64_t{1} << 40, std::int64_t{1} << 40}, nothing), Error);
  EXPECT_TRUE(LazyTensor({0}, nothing).values().empty());
}

}  // namespace
}  // namespace samlet
