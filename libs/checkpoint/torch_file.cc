#include "libs/checkpoint/torch_file.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "libs/base/checked.h"
#include "libs/base/utf8.h"
#include "libs/checkpoint/pickle.h"
#include "libs/checkpoint/zip.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace {

using Bytes = std::span<const std::uint8_t>;
using Members = std::map<std::string, Bytes, std::less<>>;

constexpr std::string_view kPickleName = "data.pkl";

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kModelDamaged, fmt::format("{}; download or save the checkpoint again", what));
}

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(ErrorCode::kModelUnsupported, what);
}

struct StorageType {
  std::string_view name;
  ElementType type;
};

ElementType type_of(const PickledTensor& tensor) {
  static constexpr auto kOther = std::nullopt;
  static const std::array<StorageType, 17> kTypes{{
      {"FloatStorage", element_type(DType::kFloat32)},
      {"HalfStorage", element_type(DType::kFloat16)},
      {"BFloat16Storage", element_type(DType::kBFloat16)},
      {"DoubleStorage", element_type(DType::kFloat64)},
      {"CharStorage", element_type(DType::kInt8)},
      {"ByteStorage", element_type(DType::kUInt8)},
      {"ShortStorage", element_type(DType::kInt16)},
      {"IntStorage", element_type(DType::kInt32)},
      {"LongStorage", element_type(DType::kInt64)},
      {"BoolStorage", element_type(DType::kBool)},
      {"ComplexFloatStorage", {"complex64", 8, kOther}},
      {"ComplexDoubleStorage", {"complex128", 16, kOther}},
      {"QInt8Storage", {"qint8", 1, kOther}},
      {"QUInt8Storage", {"quint8", 1, kOther}},
      {"QInt32Storage", {"qint32", 4, kOther}},
      {"QUInt4x2Storage", {"quint4x2", 1, kOther}},
      {"QUInt2x4Storage", {"quint2x4", 1, kOther}},
  }};
  const auto it = std::find_if(kTypes.begin(), kTypes.end(),
                               [&](const StorageType& type) { return type.name == tensor.storage_type; });
  if (it != kTypes.end()) return it->type;
  unsupported(fmt::format("the tensor '{}' lies in a {}, which samlet does not know", printable(tensor.name),
                          printable(tensor.storage_type)));
}

/// The archive's one top folder, with its slash: where data.pkl is.
std::string find_top(const Members& members) {
  for (const auto& [name, bytes] : members) {
    const auto slash = name.find('/');
    if (slash != std::string::npos && name.substr(slash + 1) == kPickleName) return name.substr(0, slash + 1);
  }
  unsupported("the zip archive holds no data.pkl: torch.save did not write it");
}

void require_plain_archive(const Members& members, const std::string& top) {
  if (members.contains(top + "constants.pkl") ||
      std::any_of(members.begin(), members.end(),
                  [&](const auto& m) { return m.first.starts_with(top + "code/"); })) {
    unsupported("the file is a TorchScript archive; save the model's state dict with torch.save instead");
  }
  const auto order = members.find(top + "byteorder");
  if (order == members.end()) return;
  const std::string_view text(reinterpret_cast<const char*>(order->second.data()), order->second.size());
  if (text == "big") unsupported("the file is big-endian; save it on a little-endian machine");
  if (text != "little") damaged("the file's byteorder is neither little nor big");
}

/// Row-major strides of the shape; dimensions of one element may have any stride.
bool is_row_major(const Shape& shape, const Shape& strides) {
  std::int64_t expected = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    if (shape[d] == 1) continue;
    if (strides[d] != expected) return false;
    expected *= shape[d];
  }
  return true;
}

/// One past the last element of the storage that the view touches.
std::optional<std::int64_t> end_of_view(const PickledTensor& tensor) {
  std::optional<std::int64_t> last = tensor.storage_offset;
  for (std::size_t d = 0; d < tensor.shape.size() && last; ++d) {
    const auto reach = checked_mul(tensor.shape[d] - 1, tensor.strides[d]);
    last = reach ? checked_add(*last, *reach) : std::nullopt;
  }
  return last ? checked_add(*last, std::int64_t{1}) : std::nullopt;
}

TensorInfo place(const PickledTensor& tensor, const Members& members, const std::string& top) {
  const std::string name = printable(tensor.name);
  TensorInfo info{
      .name = tensor.name, .type = type_of(tensor), .shape = tensor.shape, .strides = {}, .data = {}};
  const auto member = members.find(top + "data/" + std::string(tensor.storage_key));
  if (member == members.end()) {
    damaged(
        fmt::format("the storage '{}' of the tensor '{}' is missing", printable(tensor.storage_key), name));
  }
  const auto wanted =
      checked_mul(static_cast<std::uint64_t>(tensor.storage_count), std::uint64_t{info.type.size});
  if (!wanted || *wanted != member->second.size()) {
    damaged(fmt::format(
        "the storage '{}' of the tensor '{}' has {} bytes, which is not what {} elements of {} take",
        printable(tensor.storage_key), name, member->second.size(), tensor.storage_count, info.type.name));
  }
  const auto count = element_count(tensor.shape);
  if (!count) damaged(fmt::format("the tensor '{}' has the shape {}", name, to_string(tensor.shape)));
  if (*count == 0) return info;
  const auto end = end_of_view(tensor);
  if (!end || *end > tensor.storage_count) {
    damaged(fmt::format("the tensor '{}' of shape {} reaches beyond its storage of {} elements", name,
                        to_string(tensor.shape), tensor.storage_count));
  }
  // A broadcast view may claim any number of elements over a few bytes.
  if (*count > static_cast<std::uint64_t>(tensor.storage_count)) {
    unsupported(
        fmt::format("the tensor '{}' of shape {} repeats elements of its storage; save it with .contiguous()",
                    name, to_string(tensor.shape)));
  }
  if (!is_row_major(tensor.shape, tensor.strides)) info.strides = tensor.strides;
  info.data = member->second.subspan(static_cast<std::size_t>(tensor.storage_offset) * info.type.size,
                                     static_cast<std::size_t>(*end - tensor.storage_offset) * info.type.size);
  return info;
}

}  // namespace

bool looks_like_legacy_torch(Bytes bytes) noexcept {
  // A pickle of protocol 2 that holds the number 0x1950a86a20f9469cfc6c.
  constexpr std::array<std::uint8_t, 14> kMagic{0x80, 0x02, 0x8A, 0x0A, 0x6C, 0xFC, 0x9C,
                                                0x46, 0xF9, 0x20, 0x6A, 0xA8, 0x50, 0x19};
  return bytes.size() >= kMagic.size() && std::equal(kMagic.begin(), kMagic.end(), bytes.begin());
}

std::vector<TensorInfo> read_torch_file(Bytes bytes) {
  Members members;
  for (ZipMember& member : read_zip(bytes)) members.emplace(std::move(member.name), member.bytes);
  const std::string top = find_top(members);
  require_plain_archive(members, top);
  std::vector<TensorInfo> infos;
  for (const PickledTensor& tensor : read_pickle(members.at(top + std::string(kPickleName)))) {
    infos.push_back(place(tensor, members, top));
  }
  return infos;
}

}  // namespace samlet::checkpoint
