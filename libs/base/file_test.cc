#include "libs/base/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet {
namespace {

namespace fs = std::filesystem;

class FileTest : public testing::Test {
 protected:
  FileTest() {
    std::string pattern = (fs::temp_directory_path() / "samlet-file-test-XXXXXX").native();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~FileTest() override { fs::remove_all(folder_); }

  [[nodiscard]] std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
};

const std::vector<std::uint8_t> kHello{'h', 'e', 'l', 'l', 'o'};

template <typename F>
ErrorCode code_of(F&& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.code();
  }
  ADD_FAILURE() << "no error was thrown";
  return ErrorCode::kInternal;
}

TEST_F(FileTest, WritesReadsAndMaps) {
  const fs::path path = folder_ / path_from_utf8("é 图片.bin");
  write_file_atomic(path, kHello, Overwrite::kRefuse);
  EXPECT_EQ(read_file(path, 5), kHello);
  const MappedFile map(path);
  EXPECT_EQ(std::vector<std::uint8_t>(map.bytes().begin(), map.bytes().end()), kHello);
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, EmptyFilesAreFiles) {
  write_file_atomic(folder_ / "empty", {}, Overwrite::kRefuse);
  EXPECT_TRUE(read_file(folder_ / "empty", 0).empty());
  EXPECT_TRUE(MappedFile(folder_ / "empty").bytes().empty());
}

TEST_F(FileTest, ReleasedPartOfAMappingReadsAsBefore) {
  std::string content(100'000, '\0');
  for (std::size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>('a' + i % 23);
  const auto path = folder_ / "large";
  std::ofstream(path, std::ios::binary) << content;
  const MappedFile map(path);
  const auto same = [&] {
    return std::equal(map.bytes().begin(), map.bytes().end(), content.begin(), content.end(),
                      [](std::uint8_t a, char b) { return a == static_cast<std::uint8_t>(b); });
  };
  ASSERT_TRUE(same());
  map.release(map.bytes().subspan(5000, 60'000));
  map.release(map.bytes().first(10));
  map.release({});
  EXPECT_TRUE(same());
}

TEST_F(FileTest, ReadsNoMoreThanTheLimit) {
  write_file_atomic(folder_ / "a", kHello, Overwrite::kRefuse);
  EXPECT_EQ(code_of([&] { (void)read_file(folder_ / "a", 4); }), ErrorCode::kIo);
  EXPECT_EQ(code_of([&] { (void)read_file("/dev/zero", 100000); }), ErrorCode::kIo);
}

TEST_F(FileTest, OnlyRegularFilesAreMapped) {
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(code_of([&] { (void)MappedFile(folder_ / "pipe"); }), ErrorCode::kIo);
  EXPECT_EQ(code_of([&] { (void)MappedFile("/dev/zero"); }), ErrorCode::kIo);
}

TEST_F(FileTest, AnEndlessStreamIsRefusedAtItsOwnLimit) {
  EXPECT_EQ(code_of([&] { (void)read_file("/dev/zero", std::size_t{1} << 40); }), ErrorCode::kIo);
}

TEST_F(FileTest, AnUnfinishedFileHasNoName) {
  AtomicFile file(folder_ / "a", Overwrite::kRefuse);
  file.write(kHello);
  // True on every file system of today's Linux; elsewhere one temporary name would stand here.
  EXPECT_EQ(entries(), 0U);
  file.commit();
  EXPECT_EQ(entries(), 1U);
}

TEST_F(FileTest, ReplacingLeavesOneFile) {
  write_file_atomic(folder_ / "a", {}, Overwrite::kRefuse);
  write_file_atomic(folder_ / "a", kHello, Overwrite::kReplace);
  EXPECT_EQ(entries(), 1U);
  EXPECT_EQ(read_file(folder_ / "a", 9), kHello);
  std::filesystem::create_directory(folder_ / "b");
  EXPECT_EQ(code_of([&] { write_file_atomic(folder_ / "b", kHello, Overwrite::kReplace); }), ErrorCode::kIo);
  EXPECT_EQ(entries(), 2U);
}

TEST_F(FileTest, NamesMissingFilesFoldersAndImpossibleNames) {
  EXPECT_EQ(code_of([&] { (void)read_file(folder_ / "none", 9); }), ErrorCode::kNotFound);
  EXPECT_EQ(code_of([&] { (void)read_file(folder_, 9); }), ErrorCode::kIo);
  EXPECT_EQ(code_of([&] { (void)read_file(std::string(5000, 'a'), 9); }), ErrorCode::kNotFound);
}

TEST_F(FileTest, ExistingTargetsAreKeptUnlessReplaced) {
  write_file_atomic(folder_ / "a", kHello, Overwrite::kRefuse);
  EXPECT_EQ(code_of([&] { write_file_atomic(folder_ / "a", {}, Overwrite::kRefuse); }), ErrorCode::kIo);
  EXPECT_EQ(read_file(folder_ / "a", 9), kHello);
  write_file_atomic(folder_ / "a", {}, Overwrite::kReplace);
  EXPECT_TRUE(read_file(folder_ / "a", 9).empty());
}

TEST_F(FileTest, TheFirstOfTwoRefusingWritersWins) {
  AtomicFile first(folder_ / "a", Overwrite::kRefuse);
  AtomicFile second(folder_ / "a", Overwrite::kRefuse);
  first.write(kHello);
  first.commit();
  EXPECT_EQ(code_of([&] { second.commit(); }), ErrorCode::kIo);
  EXPECT_EQ(read_file(folder_ / "a", 9), kHello);
}

TEST_F(FileTest, WithoutCommitNothingIsLeft) {
  {
    AtomicFile file(folder_ / "a", Overwrite::kRefuse);
    file.write(kHello);
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(FileTest, MissingFolderIsAnError) {
  EXPECT_EQ(code_of([&] { write_file_atomic(folder_ / "no" / "a", kHello, Overwrite::kRefuse); }),
            ErrorCode::kIo);
}

TEST_F(FileTest, LongestNamesCanBeWritten) {
  const fs::path path = folder_ / std::string(255, 'n');
  write_file_atomic(path, kHello, Overwrite::kRefuse);
  EXPECT_EQ(read_file(path, 9), kHello);
}

TEST_F(FileTest, OutputsGetTheUsualPermissions) {
  const mode_t before = ::umask(022);
  write_file_atomic(folder_ / "a", kHello, Overwrite::kRefuse);
  ::umask(before);
  EXPECT_EQ(fs::status(folder_ / "a").permissions(), static_cast<fs::perms>(0644));
}

}  // namespace
}  // namespace samlet
