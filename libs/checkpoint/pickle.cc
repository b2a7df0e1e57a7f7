#include "libs/checkpoint/pickle.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/checkpoint/pickle_machine.h"
#include "libs/checkpoint/tensor_info.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace {

using Kind = PickleValue::Kind;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kModelDamaged, fmt::format("{}; download or save the checkpoint again", what));
}

std::int64_t size_in(const PickleValue& value, std::string_view name, std::string_view what) {
  if (!value.is(Kind::kInteger) || value.integer < 0) {
    damaged(fmt::format("the tensor '{}' has a {} that is none", printable(name), what));
  }
  return value.integer;
}

Shape sizes_in(const Pickle& pickle, const PickleValue& value, std::string_view name, std::string_view what) {
  if (!value.is(Kind::kTuple) && !value.is(Kind::kList)) {
    damaged(fmt::format("the tensor '{}' has no {}", printable(name), what));
  }
  if (value.items.size() > kMaxDimensions) {
    damaged(fmt::format("the tensor '{}' has {} dimensions, more than {}", printable(name),
                        value.items.size(), kMaxDimensions));
  }
  Shape sizes;
  for (const PickleRef item : value.items) sizes.push_back(size_in(pickle.at(item), name, what));
  return sizes;
}

PickledTensor read_tensor(const Pickle& pickle, std::string_view name, const PickleValue& value) {
  const auto argument = [&](std::size_t i) -> const PickleValue& { return pickle.at(value.items[i]); };
  const PickleValue& storage = argument(0);
  if (!storage.is(Kind::kStorage)) damaged(fmt::format("the tensor '{}' has no storage", printable(name)));
  PickledTensor tensor;
  tensor.name = name;
  tensor.storage_type = pickle.at(storage.items[1]).name;
  tensor.storage_key = pickle.at(storage.items[2]).text;
  tensor.storage_count = size_in(pickle.at(storage.items[4]), name, "storage size");
  tensor.storage_offset = size_in(argument(1), name, "storage offset");
  tensor.shape = sizes_in(pickle, argument(2), name, "shape");
  tensor.strides = sizes_in(pickle, argument(3), name, "stride");
  if (tensor.strides.size() != tensor.shape.size()) {
    damaged(fmt::format("the tensor '{}' has {} dimensions and {} strides", printable(name),
                        tensor.shape.size(), tensor.strides.size()));
  }
  return tensor;
}

std::vector<PickledTensor> tensors_in(const Pickle& pickle, const PickleValue& dict) {
  std::vector<PickledTensor> tensors;
  std::set<std::string_view> names;
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& key = pickle.at(dict.items[i]);
    const PickleValue& value = pickle.at(dict.items[i + 1]);
    if (!key.is(Kind::kText) || !value.is(Kind::kTensor)) continue;
    if (!names.insert(key.text).second)
      damaged(fmt::format("the tensor '{}' is there twice", printable(key.text)));
    tensors.push_back(read_tensor(pickle, key.text, value));
  }
  return tensors;
}

const PickleValue* find(const Pickle& pickle, const PickleValue& dict, std::string_view wanted) {
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& key = pickle.at(dict.items[i]);
    if (key.is(Kind::kText) && key.text == wanted) return &pickle.at(dict.items[i + 1]);
  }
  return nullptr;
}

/// "'epoch', 'state_dict' and 3 more", for people who have to find out what the file is.
std::string keys_of(const Pickle& pickle, const PickleValue& dict) {
  constexpr std::size_t kShown = 5;
  std::string list;
  std::size_t count = 0;
  for (std::size_t i = 0; i + 1 < dict.items.size(); i += 2) {
    const PickleValue& key = pickle.at(dict.items[i]);
    if (!key.is(Kind::kText) || ++count > kShown) continue;
    list += fmt::format("{}'{}'", list.empty() ? "" : ", ", printable(key.text.substr(0, 60)));
  }
  if (count > kShown) list += fmt::format(" and {} more", count - kShown);
  return list.empty() ? "nothing" : list;
}

}  // namespace

std::vector<PickledTensor> read_pickle(std::span<const std::uint8_t> bytes) {
  const Pickle pickle = run_pickle(bytes);
  const PickleValue& root = pickle.at(pickle.root);
  if (!root.is(Kind::kDict)) {
    throw Error(ErrorCode::kModelUnsupported,
                "the file holds no dict of tensors; save one with torch.save(model.state_dict(), ...)");
  }
  std::vector<PickledTensor> tensors = tensors_in(pickle, root);
  const PickleValue* const model = find(pickle, root, "model");
  if (tensors.empty() && model != nullptr && model->is(Kind::kDict)) tensors = tensors_in(pickle, *model);
  if (tensors.empty()) {
    throw Error(
        ErrorCode::kModelUnsupported,
        fmt::format(
            "the file's dict holds no tensors, neither itself nor under 'model' (it has {}); save the "
            "plain state dict",
            keys_of(pickle, root)));
  }
  return tensors;
}

}  // namespace samlet::checkpoint
