// Checkpoints: tensors by name, whatever file they lie in. Mapped, so that a checkpoint of gigabytes needs no
// memory of its own, and checked before anything of it is believed.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "libs/base/file.h"
#include "libs/checkpoint/tensor_info.h"
#include "libs/tensor/lazy_tensor.h"

namespace samlet::checkpoint {

/// An opened checkpoint. Move-only. Thread-safe once opened.
class Checkpoint {
 public:
  /// Opens, by content and not by name: a safetensors file; a torch.save file (a dict of tensors, or one that
  /// has it under "model"); an index of safetensors shards that lie beside it; or a folder that holds exactly
  /// one of these. Errors: kNotFound, kIo; kModelMissing (a folder without a checkpoint, a shard that is not
  /// there); kModelDamaged (cut, contradictory, or something else under the name of a checkpoint);
  /// kModelUnsupported (sound, but not read: code to run, TorchScript, compressed, big-endian; a folder with
  /// several checkpoints).
  explicit Checkpoint(const std::filesystem::path& path);
  Checkpoint(Checkpoint&&) noexcept = default;
  Checkpoint& operator=(Checkpoint&&) noexcept = default;
  ~Checkpoint() = default;
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;

  /// The file that was meant: the argument, the only checkpoint of the folder, or the index of the shards.
  [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
  /// The files with tensors: one, or the shards sorted by name.
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const noexcept { return files_; }

  /// All tensors, in the order of the files.
  [[nodiscard]] const std::vector<TensorInfo>& tensors() const noexcept { return tensors_; }
  /// The tensor of that name; nothing when there is none.
  [[nodiscard]] const TensorInfo* find(std::string_view name) const noexcept;

  /// The values of a tensor as floats; the mapping lives as long as they do.
  /// Errors: kInternal when there is no such tensor; kModelUnsupported when it holds no floats.
  [[nodiscard]] LazyTensor tensor(std::string_view name) const;

 private:
  void open_file(const std::filesystem::path& file);
  void open_shards(const std::filesystem::path& index, std::string_view text);
  void index_names();

  std::filesystem::path path_;
  std::vector<std::filesystem::path> files_;
  std::vector<std::shared_ptr<const MappedFile>> mapped_;  // of files_
  std::vector<TensorInfo> tensors_;
  std::map<std::string_view, std::size_t> places_;  // name -> place in tensors_, whose names it views
};

}  // namespace samlet::checkpoint
