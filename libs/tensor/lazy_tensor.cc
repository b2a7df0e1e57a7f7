#include "libs/tensor/lazy_tensor.h"

#include <utility>

#include "samlet/error.h"

namespace samlet {

LazyTensor::LazyTensor(Shape shape, Producer producer)
    : shape_(std::move(shape)), producer_(std::make_shared<const Producer>(std::move(producer))) {
  const auto count = element_count(shape_);
  if (!count) throw Error(ErrorCode::kInternal, "a lazy tensor of shape " + to_string(shape_));
  count_ = *count;
}

LazyTensor LazyTensor::of(Shape shape, std::vector<float> values) {
  auto shared = std::make_shared<const std::vector<float>>(std::move(values));
  LazyTensor tensor(std::move(shape), [shared](const Sink& sink) { sink(*shared); });
  if (tensor.count() != shared->size()) {
    throw Error(ErrorCode::kInternal, "a lazy tensor of shape " + to_string(tensor.shape()) + " with " +
                                          std::to_string(shared->size()) + " values");
  }
  return tensor;
}

void LazyTensor::stream(const Sink& sink) const {
  std::size_t given = 0;
  if (producer_) {
    (*producer_)([&](std::span<const float> piece) {
      given += piece.size();
      if (given > count_) throw Error(ErrorCode::kInternal, "a lazy tensor gave too many values");
      sink(piece);
    });
  }
  if (given != count_) {
    throw Error(ErrorCode::kInternal,
                "a lazy tensor of shape " + to_string(shape_) + " gave " + std::to_string(given) + " values");
  }
}

std::vector<float> LazyTensor::values() const {
  std::vector<float> all;
  all.reserve(count_);
  stream([&](std::span<const float> piece) { all.insert(all.end(), piece.begin(), piece.end()); });
  return all;
}

}  // namespace samlet
