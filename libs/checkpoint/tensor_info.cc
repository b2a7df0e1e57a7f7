#include "libs/checkpoint/tensor_info.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/tensor/half.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace {

// Checkpoints are little-endian, and are read without turning bytes round.
static_assert(std::endian::native == std::endian::little);

/// Values of one piece: 256 KiB of floats, which stay in a processor's cache.
constexpr std::size_t kPiece = 65536;

template <typename T>
T load(const std::uint8_t* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

float load_float(DType dtype, const std::uint8_t* at) noexcept {
  switch (dtype) {
    case DType::kFloat16:
      return half_to_float(load<std::uint16_t>(at));
    case DType::kBFloat16:
      return bfloat16_to_float(load<std::uint16_t>(at));
    case DType::kFloat64:
      return static_cast<float>(load<double>(at));
    default:
      return load<float>(at);
  }
}

bool is_float(DType dtype) noexcept {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16 ||
         dtype == DType::kFloat64;
}

/// Walks the elements of a view in row-major order, one offset (in elements) after the other.
class StridedWalk {
 public:
  StridedWalk(const Shape& shape, const Shape& strides)
      : shape_(shape), strides_(strides), index_(shape.size()) {}

  [[nodiscard]] std::int64_t offset() const noexcept { return offset_; }

  void advance() noexcept {
    for (std::size_t d = shape_.size(); d-- > 0;) {
      offset_ += strides_[d];
      if (++index_[d] < shape_[d]) return;
      offset_ -= strides_[d] * shape_[d];
      index_[d] = 0;
    }
  }

 private:
  const Shape& shape_;
  const Shape& strides_;
  std::vector<std::int64_t> index_;
  std::int64_t offset_ = 0;
};

void stream_row_major(const TensorInfo& info, const MappedFile* file, const LazyTensor::Sink& sink) {
  const DType dtype = *info.type.dtype;
  const std::size_t count = info.count();
  const std::size_t size = info.type.size;
  const auto read = [&](std::size_t offset, std::span<std::uint8_t> into) {
    if (file == nullptr) {
      std::ranges::copy(info.data.subspan(offset, into.size()), into.begin());
    } else {
      file->read(static_cast<std::size_t>(info.data.data() - file->bytes().data()) + offset, into);
    }
  };
  std::vector<float> values(std::min(count, kPiece));
  std::vector<std::uint8_t> bytes(dtype == DType::kFloat32 ? 0 : values.size() * size);
  for (std::size_t done = 0; done < count;) {
    const std::size_t piece = std::min(kPiece, count - done);
    if (dtype == DType::kFloat32) {
      read(done * size, {reinterpret_cast<std::uint8_t*>(values.data()), piece * size});
    } else {
      read(done * size, std::span(bytes).first(piece * size));
      for (std::size_t i = 0; i < piece; ++i) values[i] = load_float(dtype, bytes.data() + i * size);
    }
    sink(std::span<const float>(values).first(piece));
    done += piece;
  }
}

void stream_strided(const TensorInfo& info, const LazyTensor::Sink& sink) {
  const DType dtype = *info.type.dtype;
  const std::size_t count = info.count();
  StridedWalk walk(info.shape, info.strides);
  std::vector<float> buffer(std::min(count, kPiece));
  for (std::size_t done = 0; done < count;) {
    const std::size_t size = std::min(kPiece, count - done);
    for (std::size_t i = 0; i < size; ++i) {
      buffer[i] =
          load_float(dtype, info.data.data() + static_cast<std::size_t>(walk.offset()) * info.type.size);
      walk.advance();
    }
    sink({buffer.data(), size});
    done += size;
  }
}

}  // namespace

ElementType element_type(DType dtype) noexcept {
  return {name_of(dtype), size_of(dtype), dtype};
}

LazyTensor floats_of(const TensorInfo& info, std::shared_ptr<const MappedFile> file) {
  if (!info.type.dtype || !is_float(*info.type.dtype)) {
    throw Error(
        ErrorCode::kModelUnsupported,
        fmt::format("the tensor '{}' holds {} values; only f32, f16, bf16 and f64 are read as weights",
                    printable(info.name), info.type.name));
  }
  return {info.shape, [info, file = std::move(file)](const LazyTensor::Sink& sink) {
            if (info.strides.empty()) {
              stream_row_major(info, file.get(), sink);
            } else {
              stream_strided(info, sink);
            }
          }};
}

}  // namespace samlet::checkpoint
