#include "libs/checkpoint/tensor_info.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace {

// Checkpoints are little-endian, and are read without turning bytes round.
static_assert(std::endian::native == std::endian::little);

/// Values of one piece: 256 KiB of floats, which stay in a processor's cache.
constexpr std::size_t kPiece = 65536;

float from_half(std::uint16_t half) noexcept {
  const std::uint32_t sign = static_cast<std::uint32_t>(half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 0x1FU;
  std::uint32_t mantissa = half & 0x3FFU;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Zero, or a subnormal: mantissa * 2^-24, which a float holds exactly.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign == 0 ? magnitude : -magnitude;
}

template <typename T>
T load(const std::uint8_t* at) noexcept {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

float load_float(DType dtype, const std::uint8_t* at) noexcept {
  switch (dtype) {
    case DType::kFloat16:
      return from_half(load<std::uint16_t>(at));
    case DType::kBFloat16:
      return std::bit_cast<float>(static_cast<std::uint32_t>(load<std::uint16_t>(at)) << 16);
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

void stream_row_major(const TensorInfo& info, const LazyTensor::Sink& sink) {
  const DType dtype = *info.type.dtype;
  const std::size_t count = info.count();
  const std::uint8_t* const first = info.data.data();
  const bool in_place =
      dtype == DType::kFloat32 && reinterpret_cast<std::uintptr_t>(first) % alignof(float) == 0;
  std::vector<float> buffer(in_place ? 0 : std::min(count, kPiece));
  for (std::size_t done = 0; done < count;) {
    const std::size_t size = std::min(kPiece, count - done);
    const std::uint8_t* const at = first + done * info.type.size;
    if (in_place) {
      sink({reinterpret_cast<const float*>(at), size});
    } else {
      for (std::size_t i = 0; i < size; ++i) buffer[i] = load_float(dtype, at + i * info.type.size);
      sink({buffer.data(), size});
    }
    done += size;
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
              stream_row_major(info, sink);
            } else {
              stream_strided(info, sink);
            }
          }};
}

}  // namespace samlet::checkpoint
