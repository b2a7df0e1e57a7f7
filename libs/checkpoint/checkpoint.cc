#include "libs/checkpoint/checkpoint.h"

#include <iterator>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "libs/checkpoint/folder.h"
#include "libs/checkpoint/safetensors.h"
#include "libs/checkpoint/shard_index.h"
#include "libs/checkpoint/sniff.h"
#include "libs/checkpoint/torch_file.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace fs = std::filesystem;
namespace {

using Bytes = std::span<const std::uint8_t>;

std::string quoted(const fs::path& path) {
  return fmt::format("'{}'", path_to_utf8(path));
}

/// Calls a reader of bytes, whose errors know nothing of paths.
template <typename Read>
auto in_file(const fs::path& path, Read&& read) {
  try {
    return read();
  } catch (const Error& error) {
    throw error.with_context(quoted(path));
  }
}

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kModelDamaged, fmt::format("{}; download the checkpoint again", what));
}

std::vector<TensorInfo> read_shard(const fs::path& path, Bytes bytes) {
  return in_file(path, [&] {
    if (sniff(bytes) != FileKind::kSafetensors) damaged("the shard is no safetensors file");
    return read_safetensors(bytes);
  });
}

MappedFile map_shard(const fs::path& path, const fs::path& index) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    throw Error(ErrorCode::kModelMissing, fmt::format("{} needs {} beside it; download it too", quoted(index),
                                                      quoted(path.filename())));
  }
  return MappedFile(path);
}

/// The index must say of each tensor of the shard that it lies there.
void require_in_index(const std::vector<TensorInfo>& tensors, std::size_t shard, const ShardIndex& index,
                      const fs::path& path) {
  for (const TensorInfo& tensor : tensors) {
    const auto it = index.tensors.find(tensor.name);
    if (it == index.tensors.end()) {
      damaged(
          fmt::format("{}: the index does not name the tensor '{}'", quoted(path), printable(tensor.name)));
    }
    if (it->second != shard) {
      damaged(fmt::format("{}: the tensor '{}' is in this shard, but the index says that it is in '{}'",
                          quoted(path), printable(tensor.name), printable(index.shards[it->second])));
    }
  }
}

void require_all_found(const ShardIndex& index, const std::vector<TensorInfo>& tensors,
                       const fs::path& path) {
  if (index.tensors.size() == tensors.size()) return;
  std::set<std::string_view> found;
  for (const TensorInfo& tensor : tensors) found.insert(tensor.name);
  for (const auto& [name, shard] : index.tensors) {
    if (!found.contains(name)) {
      damaged(fmt::format("{}: the tensor '{}' is not in the shard '{}' where the index says that it is",
                          quoted(path), printable(name), printable(index.shards[shard])));
    }
  }
}

}  // namespace

Checkpoint::Checkpoint(const fs::path& path) : path_(path) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) path_ = find_checkpoint_in(path);
  if (is_one_of_several(path_bytes(path_.filename()))) {
    throw Error(ErrorCode::kModelUnsupported,
                fmt::format("{} is one shard of several; give the folder or its *.safetensors.index.json",
                            quoted(path_)));
  }
  open_file(path_);
  index_names();
}

void Checkpoint::open_file(const fs::path& file) {
  auto mapped = std::make_shared<const MappedFile>(file);
  const Bytes bytes = mapped->bytes();
  switch (in_file(file, [&] { return sniff(bytes); })) {
    case FileKind::kShardIndex:
      open_shards(file, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      return;
    case FileKind::kSafetensors:
      tensors_ = in_file(file, [&] { return read_safetensors(bytes); });
      break;
    case FileKind::kTorchZip:
      tensors_ = in_file(file, [&] { return read_torch_file(bytes); });
      break;
  }
  files_ = {file};
  mapped_ = {std::move(mapped)};
}

void Checkpoint::open_shards(const fs::path& index_path, std::string_view text) {
  const ShardIndex index = in_file(index_path, [&] { return read_shard_index(text); });
  for (std::size_t shard = 0; shard < index.shards.size(); ++shard) {
    const fs::path file = index_path.parent_path() / index.shards[shard];
    mapped_.push_back(std::make_shared<const MappedFile>(map_shard(file, index_path)));
    std::vector<TensorInfo> tensors = read_shard(file, mapped_.back()->bytes());
    require_in_index(tensors, shard, index, file);
    for (TensorInfo& tensor : tensors) tensor.file = shard;
    tensors_.insert(tensors_.end(), std::make_move_iterator(tensors.begin()),
                    std::make_move_iterator(tensors.end()));
    files_.push_back(file);
  }
  require_all_found(index, tensors_, index_path);
}

void Checkpoint::index_names() {
  for (std::size_t i = 0; i < tensors_.size(); ++i) places_.emplace(tensors_[i].name, i);
}

const TensorInfo* Checkpoint::find(std::string_view name) const noexcept {
  const auto it = places_.find(name);
  return it == places_.end() ? nullptr : &tensors_[it->second];
}

LazyTensor Checkpoint::tensor(std::string_view name) const {
  const TensorInfo* const info = find(name);
  if (info == nullptr) {
    throw Error(ErrorCode::kInternal, fmt::format("{} has no tensor '{}'", quoted(path_), printable(name)));
  }
  return floats_of(*info, mapped_[info->file]);
}

}  // namespace samlet::checkpoint
