// Shared by the tests of checkpoints: scratch folders, and writers of the file formats that can be made to
// lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "libs/tensor/tensor.h"
#include "samlet/error.h"

namespace samlet::checkpoint {

/// libs/checkpoint/testdata
const std::filesystem::path& testdata();

/// A folder that is gone after the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Writes a file, making its folders.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view content) const;
  /// Copies a file or folder of testdata.
  std::filesystem::path copy(const std::filesystem::path& from, const std::filesystem::path& name) const;

 private:
  std::filesystem::path path_;
};

[[nodiscard]] std::string content_of(const std::filesystem::path& path);

/// EXPECT_TRUE(contains(text, part)) shows both when it fails.
testing::AssertionResult contains(std::string_view text, std::string_view part);

/// Runs the call and returns the samlet::Error that it must throw.
template <typename F>
Error error_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return {ErrorCode::kInternal, "no error was thrown"};
}

/// "\x34\x12" for little_endian(0x1234, 2)
[[nodiscard]] std::string little_endian(std::uint64_t value, std::size_t bytes);

/// A safetensors file of a header and its data.
[[nodiscard]] std::string safetensors_of(std::string_view header, std::string_view data);
/// One of float tensors, each filled with its place in the list. Element types as safetensors names them.
struct Listed {
  std::string name;
  Shape shape;
  std::string type = "F32";
};
[[nodiscard]] std::string safetensors_of(const std::vector<Listed>& tensors);

/// A member of a zip archive, and what its headers say wrongly.
struct Member {
  std::string name;
  std::string content;
  std::uint16_t method = 0;
  std::uint16_t flags = 0;
  std::optional<std::string> local_name = {};
  std::optional<std::uint64_t> size = {};    ///< that the directory tells
  std::optional<std::uint64_t> offset = {};  ///< that the directory tells
  bool zip64 = false;                        ///< size and offset in an extra field
};
struct Archive {
  std::vector<Member> members;
  std::string comment = {};
  bool zip64 = false;  ///< the directory's place and size in a zip64 record
};
[[nodiscard]] std::string zip_of(const Archive& archive);

/// Pieces of a pickle of protocol 2.
namespace pickled {
[[nodiscard]] std::string text(std::string_view value);
[[nodiscard]] std::string integer(std::int32_t value);
[[nodiscard]] std::string global(std::string_view module, std::string_view name);
[[nodiscard]] std::string tuple(const std::vector<std::string>& items);
[[nodiscard]] std::string numbers(const Shape& values);
/// A whole pickle.
[[nodiscard]] std::string dict(const std::vector<std::pair<std::string, std::string>>& items);
[[nodiscard]] std::string whole(const std::string& value);

struct Tensor {
  std::string storage_type = "FloatStorage";
  std::string storage_key = "0";
  std::int32_t storage_count = 6;
  std::int32_t offset = 0;
  Shape shape = {2, 3};
  Shape strides = {3, 1};
};
[[nodiscard]] std::string tensor(const Tensor& tensor);
}  // namespace pickled

/// What torch.save writes around a pickle and one storage "0".
[[nodiscard]] Archive torch_archive(const std::string& pickle, std::string_view storage);

}  // namespace samlet::checkpoint
