#include "libs/checkpoint/safetensors.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "libs/base/byte_reader.h"
#include "libs/base/checked.h"
#include "libs/base/utf8.h"
#include "libs/checkpoint/json.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace {

constexpr std::size_t kLengthBytes = 8;
/// The format's own limit. A header of the released model has 200 KB.
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kModelDamaged, fmt::format("{}; download or save the checkpoint again", what));
}

struct NamedType {
  std::string_view name;
  ElementType type;
};

ElementType type_named(std::string_view name) {
  static constexpr auto kOther = std::nullopt;
  static const std::array<NamedType, 18> kTypes{{
      {"F32", element_type(DType::kFloat32)},
      {"F16", element_type(DType::kFloat16)},
      {"BF16", element_type(DType::kBFloat16)},
      {"F64", element_type(DType::kFloat64)},
      {"I8", element_type(DType::kInt8)},
      {"U8", element_type(DType::kUInt8)},
      {"I16", element_type(DType::kInt16)},
      {"U16", element_type(DType::kUInt16)},
      {"I32", element_type(DType::kInt32)},
      {"U32", element_type(DType::kUInt32)},
      {"I64", element_type(DType::kInt64)},
      {"U64", element_type(DType::kUInt64)},
      {"BOOL", element_type(DType::kBool)},
      {"C64", {"complex64", 8, kOther}},
      {"F8_E4M3", {"f8_e4m3", 1, kOther}},
      {"F8_E5M2", {"f8_e5m2", 1, kOther}},
      {"F8_E8M0", {"f8_e8m0", 1, kOther}},
      {"C128", {"complex128", 16, kOther}},
  }};
  const auto it =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const NamedType& t) { return t.name == name; });
  if (it != kTypes.end()) return it->type;
  throw Error(
      ErrorCode::kModelUnsupported,
      fmt::format("the header names the element type '{}', which samlet does not know", printable(name)));
}

std::uint64_t header_length(std::span<const std::uint8_t> bytes) {
  const auto length = ByteReader(bytes).u64_le();
  if (!length) damaged(fmt::format("the file has {} bytes, too few for a safetensors header", bytes.size()));
  if (*length > kMaxHeaderBytes) {
    damaged(fmt::format("the safetensors header claims {} bytes, more than the {} that the format allows",
                        *length, kMaxHeaderBytes));
  }
  if (*length > bytes.size() - kLengthBytes) {
    damaged(fmt::format("the file is cut inside its header: {} bytes are needed at least, it has {}",
                        *length + kLengthBytes, bytes.size()));
  }
  return *length;
}

Shape shape_of(const Json& tensor, const std::string& name) {
  const Json* const json = tensor.find("shape");
  if (json == nullptr || !json->is(Json::Kind::kArray) || json->items.size() > kMaxDimensions) {
    damaged(fmt::format("the tensor '{}' has no shape of at most {} dimensions", name, kMaxDimensions));
  }
  Shape shape;
  for (const Json& item : json->items) {
    const auto dim = item.as_integer();
    if (!dim || *dim < 0) damaged(fmt::format("the shape of the tensor '{}' holds what is no size", name));
    shape.push_back(*dim);
  }
  return shape;
}

/// Begin and end behind the header.
std::pair<std::uint64_t, std::uint64_t> offsets_of(const Json& tensor, const std::string& name) {
  const Json* const json = tensor.find("data_offsets");
  if (json != nullptr && json->is(Json::Kind::kArray) && json->items.size() == 2) {
    const auto begin = json->items[0].as_integer();
    const auto end = json->items[1].as_integer();
    if (begin && end && 0 <= *begin && *begin <= *end) {
      return {static_cast<std::uint64_t>(*begin), static_cast<std::uint64_t>(*end)};
    }
  }
  damaged(fmt::format("the tensor '{}' has no data_offsets", name));
}

struct Placed {
  TensorInfo info;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

Placed read_tensor(const std::string& key, const Json& json) {
  const std::string name = printable(key);
  const Json* const type = json.find("dtype");
  if (type == nullptr || !type->is(Json::Kind::kString))
    damaged(fmt::format("the tensor '{}' has no dtype", name));
  Placed tensor;
  tensor.info.name = key;
  tensor.info.type = type_named(type->text);
  tensor.info.shape = shape_of(json, name);
  std::tie(tensor.begin, tensor.end) = offsets_of(json, name);
  const auto count = element_count(tensor.info.shape);
  const auto wanted = count ? checked_mul(*count, tensor.info.type.size) : std::nullopt;
  if (!wanted || *wanted != tensor.end - tensor.begin) {
    damaged(fmt::format("the tensor '{}' has {} bytes, which is not what {} {} takes", name,
                        tensor.end - tensor.begin, type->text, to_string(tensor.info.shape)));
  }
  return tensor;
}

/// The format wants the tensors side by side: no byte twice, none left out.
void require_seamless(const std::vector<Placed>& tensors, std::uint64_t available, std::uint64_t data_begin) {
  std::vector<const Placed*> sorted;
  sorted.reserve(tensors.size());
  for (const Placed& tensor : tensors) sorted.push_back(&tensor);
  std::sort(sorted.begin(), sorted.end(), [](const Placed* a, const Placed* b) {
    return std::pair(a->begin, a->end) < std::pair(b->begin, b->end);
  });
  std::uint64_t end = 0;
  for (const Placed* tensor : sorted) {
    if (tensor->begin != end) {
      damaged(fmt::format(
          "the tensor '{}' begins at byte {} of the data instead of {}: tensors overlap or leave gaps",
          printable(tensor->info.name), tensor->begin, end));
    }
    end = tensor->end;
  }
  if (end > available) {
    damaged(fmt::format("the file is cut: its header asks for {} bytes, it has {}", data_begin + end,
                        data_begin + available));
  }
  if (end < available) {
    damaged(fmt::format("the file has {} bytes behind its last tensor; its header asks for {} bytes in all",
                        available - end, data_begin + end));
  }
}

}  // namespace

bool looks_like_safetensors(std::span<const std::uint8_t> bytes) noexcept {
  if (bytes.size() <= kLengthBytes || bytes[kLengthBytes] != '{') return false;
  // Text would be a length of exabytes.
  return std::any_of(bytes.begin(), bytes.begin() + kLengthBytes,
                     [](std::uint8_t byte) { return byte < '\t'; });
}

std::vector<TensorInfo> read_safetensors(std::span<const std::uint8_t> bytes) {
  const std::uint64_t length = header_length(bytes);
  const auto header_bytes = bytes.subspan(kLengthBytes, length);
  const Json header = parse_json({reinterpret_cast<const char*>(header_bytes.data()), header_bytes.size()},
                                 "the safetensors header");
  if (!header.is(Json::Kind::kObject)) damaged("the safetensors header is no JSON object");
  std::vector<Placed> tensors;
  for (std::size_t i = 0; i < header.items.size(); ++i) {
    if (header.keys[i] != "__metadata__") tensors.push_back(read_tensor(header.keys[i], header.items[i]));
  }
  const auto data = bytes.subspan(kLengthBytes + length);
  require_seamless(tensors, data.size(), kLengthBytes + length);
  std::vector<TensorInfo> infos;
  infos.reserve(tensors.size());
  for (Placed& tensor : tensors) {
    tensor.info.data = data.subspan(tensor.begin, tensor.end - tensor.begin);
    infos.push_back(std::move(tensor.info));
  }
  return infos;
}

}  // namespace samlet::checkpoint
