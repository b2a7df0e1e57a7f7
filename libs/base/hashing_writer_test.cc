#include "libs/base/hashing_writer.h"

#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "libs/base/file.h"
#include "libs/base/sha256.h"
#include "samlet/error.h"

namespace samlet {
namespace {

class HashingWriterTest : public ::testing::Test {
 protected:
  HashingWriterTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("samlet-hashing-" + std::to_string(std::random_device{}()))) {
    std::filesystem::create_directory(folder_);
  }
  ~HashingWriterTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_;
};

std::vector<std::uint8_t> numbered(std::size_t count) {
  std::vector<std::uint8_t> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::uint8_t>(i * 31 + (i >> 16));
  return bytes;
}

TEST_F(HashingWriterTest, WritesAllBytesInOrderAndKnowsTheirHash) {
  const auto bytes = numbered((std::size_t{20} << 20) + 12345);  // more than may wait at a time
  HashingWriter writer(folder_ / "file");
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t count =
        std::min(bytes.size() - at, at % 7 == 0 ? std::size_t{5'000'000} : std::size_t{333});
    writer.write(std::span(bytes).subspan(at, count));
    at += count;
  }
  const WrittenFile written = writer.finish();
  EXPECT_EQ(written.bytes, bytes.size());
  EXPECT_EQ(read_file(folder_ / "file", bytes.size()), bytes);
  EXPECT_EQ(written.sha256, sha256_of_file(folder_ / "file"));
}

TEST_F(HashingWriterTest, NothingWrittenIsAnEmptyFile) {
  HashingWriter writer(folder_ / "file");
  EXPECT_EQ(writer.finish().sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(std::filesystem::file_size(folder_ / "file"), 0U);
}

TEST_F(HashingWriterTest, FileThatExistsIsLeftAlone) {
  std::ofstream(folder_ / "file") << "mine";
  EXPECT_THROW(HashingWriter(folder_ / "file"), Error);
  EXPECT_EQ(std::filesystem::file_size(folder_ / "file"), 4U);
}

TEST_F(HashingWriterTest, FolderThatIsNotThereIsNamed) {
  try {
    HashingWriter writer(folder_ / "no" / "file");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kIo);
    EXPECT_NE(std::string(error.what()).find("no/file"), std::string::npos) << error.what();
  }
}

// The limit on file sizes is the disk that is full after a megabyte.
TEST_F(HashingWriterTest, WriteThatFailsIsReportedAndDoesNotHang) {
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{1 << 20, before.rlim_max};
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto write_too_much = [&] {
    HashingWriter writer(folder_ / "file");
    for (int i = 0; i < 10; ++i) writer.write(numbered(std::size_t{4} << 20));
    (void)writer.finish();
  };
  EXPECT_THROW(write_too_much(), Error);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
}

TEST_F(HashingWriterTest, LeavingWithoutFinishEndsTheThread) {
  {
    HashingWriter writer(folder_ / "file");
    writer.write(numbered(std::size_t{9} << 20));
  }
  EXPECT_LE(std::filesystem::file_size(folder_ / "file"), std::size_t{9} << 20);
}

}  // namespace
}  // namespace samlet
