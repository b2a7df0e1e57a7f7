#include <algorithm>
#include <random>

#include "libs/base/file.h"
#include "libs/ort/elf.h"
#include "libs/ort/providers/provider.h"
#include "libs/ort/providers/shared_library.h"
#include "libs/ort/test_support.h"

namespace samlet::ort {
namespace {

namespace fs = std::filesystem;

// Needs libcudart.so.12, libcudnn.so.9 and a library that no machine has.
const fs::path kProvider = fs::path(SAMLET_ORT_STUBS) / "provider" / "libonnxruntime_providers_cuda.so";

std::vector<std::uint8_t> bytes_of(const fs::path& path) {
  return read_file(path, std::size_t{1} << 30);
}

TEST(ElfTest, ReadsWhatALibraryNeeds) {
  const auto needed = needed_libraries(bytes_of(kProvider));
  for (const char* name : {"libcudart.so.12", "libcudnn.so.9", "libsamlet_stub_absent.so"}) {
    EXPECT_NE(std::find(needed.begin(), needed.end(), name), needed.end()) << name;
  }
  EXPECT_EQ(major_of(needed, "libcudart"), 12);
  EXPECT_EQ(major_of(needed, "libcudnn"), 9);
  EXPECT_EQ(major_of(needed, "libcud"), std::nullopt);
  EXPECT_EQ(major_of(needed, "libnvinfer"), std::nullopt);
}

TEST(ElfTest, AnythingElseNeedsNothing) {
  EXPECT_TRUE(needed_libraries({}).empty());
  EXPECT_TRUE(needed_libraries(std::vector<std::uint8_t>(4096, 0)).empty());
  EXPECT_TRUE(needed_libraries(bytes_of(testdata() / "add.onnx")).empty());
}

TEST(ElfTest, CutAndDamagedFilesAreRead) {
  const auto whole = bytes_of(kProvider);
  for (std::size_t size = 0; size < whole.size(); size += size < 2048 ? 1 : 97) {
    (void)needed_libraries(
        std::vector<std::uint8_t>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
  }
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same each time
  for (int i = 0; i < 3000; ++i) {
    auto damaged = whole;
    // Headers and dynamic section are what is read; the first kilobyte holds the former.
    for (int k = 0; k < 4; ++k)
      damaged[random() % (k < 2 ? 1024U : damaged.size())] = static_cast<std::uint8_t>(random());
    (void)needed_libraries(damaged);
  }
}

TEST(ProviderTest, NotBuiltIn) {
  const auto reason =
      missing_reason(Device::kCuda, "/opt/ort/libonnxruntime.so.1.32.0", {"CPUExecutionProvider"});
  ASSERT_TRUE(reason.has_value());
  EXPECT_TRUE(contains(*reason, "/opt/ort/libonnxruntime.so.1.32.0 was built without CUDAExecutionProvider"));
  EXPECT_TRUE(contains(*reason, "libonnxruntime_providers_cuda.so"));
  EXPECT_EQ(missing_reason(Device::kCpu, "/opt/ort/libonnxruntime.so", {}), std::nullopt);
  EXPECT_EQ(missing_reason(Device::kCoreMl, "/x/libonnxruntime.so", {"CoreMLExecutionProvider"}),
            std::nullopt);
}

TEST(ProviderTest, ListedButItsFileIsNotThere) {
  const TemporaryFolder folder;
  const auto reason =
      missing_reason(Device::kCuda, folder / "libonnxruntime.so.1", {"CUDAExecutionProvider"});
  ASSERT_TRUE(reason.has_value());
  EXPECT_TRUE(
      contains(*reason, "libonnxruntime_providers_cuda.so is missing beside " + folder.path().native()));
}

TEST(ProviderTest, TheFileIsThereButItsDependenciesAreNot) {
  const auto reason = missing_reason(Device::kCuda, kProvider.parent_path() / "libonnxruntime.so.1",
                                     {"CUDAExecutionProvider"});
  ASSERT_TRUE(reason.has_value());
  EXPECT_TRUE(contains(*reason, "does not load: lib"));
  EXPECT_TRUE(contains(*reason, "cannot open shared object file"));
  EXPECT_TRUE(contains(*reason, "it needs CUDA 12 (found "));
  EXPECT_TRUE(contains(*reason, " and cuDNN 9 (found "));
}

TEST(ProviderTest, WantedAndFoundMajors) {
  // Every machine with glibc has libc.so.6 and no other major near it.
  EXPECT_EQ(describe_dependency({"libfoo.so.1", "libc.so.6"}, "libc", "the C library"),
            "the C library 6 (found 6)");
  EXPECT_EQ(describe_dependency({"libc.so.8"}, "libc", "C"), "C 8 (found 6)");
  EXPECT_EQ(describe_dependency({"libsamlet_none.so.2"}, "libsamlet_none", "none"), "none 2 (found none)");
  EXPECT_EQ(describe_dependency({"libc.so.6"}, "libcudnn", "cuDNN"), std::nullopt);
}

TEST(StatusTest, OutOfMemoryIsKnownByItsWords) {
  const auto code_for = [](std::string_view text) {
    return make_error(ErrorCode::kInternal, "it failed", {ORT_FAIL, std::string(text)}).code();
  };
  EXPECT_EQ(code_for("std::bad_alloc"), ErrorCode::kOutOfMemory);
  EXPECT_EQ(code_for("Failed to allocate memory for requested buffer of size 9"), ErrorCode::kOutOfMemory);
  EXPECT_EQ(code_for("CUDA failure 2: out of memory ; GPU=0"), ErrorCode::kOutOfMemory);
  EXPECT_EQ(code_for("Invalid rank for input"), ErrorCode::kInternal);
  EXPECT_STREQ(make_error(ErrorCode::kInternal, "it failed", {ORT_FAIL, "why\nso"}).what(),
               "it failed:\n  ONNX Runtime: why\nso");
}

}  // namespace
}  // namespace samlet::ort
