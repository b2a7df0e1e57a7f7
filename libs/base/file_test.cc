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

TEST_F(FileTest, ReadingBesideTheMappingSurvivesThatTheFileIsCut) {
  const auto path = folder_ / "large";
  std::ofstream(path, std::ios::binary) << std::string(100'000, 'x') << "end";
  const MappedFile map(path);
  std::vector<std::uint8_t> end(3);
  map.read(100'000, end);
  EXPECT_EQ(end, (std::vector<std::uint8_t>{'e', 'n', 'd'}));
  std::filesystem::resize_file(path, 50'000);
  EXPECT_EQ(code_of([&] { map.read(49'999, end); }), ErrorCode::kIo);
  EXPECT_EQ(code_of([&] { map.read(100'000, end); }), ErrorCode::kIo);
}

TEST_F(FileTest, StampTellsAFileThatWasWrittenToOrReplaced) {
  const auto path = folder_ / "file";
  std::ofstream(path) << "one";
  const FileStamp before = stamp_of(path);
  EXPECT_EQ(stamp_of(path), before);
  EXPECT_EQ(before.bytes, 3U);
  std::ofstream(path, std::ios::app) << "more";
  EXPECT_NE(stamp_of(path), before);
  std::ofstream(folder_ / "other") << "two";
  std::filesystem::rename(folder_ / "other", path);
  EXPECT_NE(stamp_of(path).inode, before.inode);
  std::filesystem::remove(path);
  EXPECT_EQ(code_of([&] { (void)stamp_of(path); }), ErrorCode::kNotFound);
}

TEST_F(FileTest, RegularFileIsReadAndAPipeIsRefusedWithoutWaiting) {
  std::ofstream(folder_ / "file") << "abc";
  EXPECT_EQ(read_regular_file(folder_ / "file", 3).size(), 3U);
  EXPECT_EQ(code_of([&] { (void)read_regular_file(folder_ / "file", 2); }), ErrorCode::kIo);
  ASSERT_EQ(::mkfifo((folder_ / "waiting").c_str(), 0600), 0);
  EXPECT_EQ(code_of([&] { (void)read_regular_file(folder_ / "waiting", 10); }), ErrorCode::kIo);
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

TEST(Paths, SuffixesAreComparedInLowerCase) {
  EXPECT_EQ(lower_case_suffix("A/photo.JPG"), ".jpg");
  EXPECT_EQ(lower_case_suffix("archive.tar.Gz"), ".gz");
  EXPECT_EQ(lower_case_suffix("A.b/none"), "");
  EXPECT_EQ(lower_case_suffix(".hidden"), "");
  EXPECT_EQ(lower_case_suffix("x.\xC3\x89"), ".\xC3\x89") << "bytes beyond ASCII stay as they are";
}

TEST(Paths, BytesComeBackAsTheyWere) {
  EXPECT_EQ(path_bytes(path_from_utf8("a/\xE5\x9B\xBE \xC3\xA9")), "a/\xE5\x9B\xBE \xC3\xA9");
  EXPECT_EQ(path_bytes(std::filesystem::path("\xFF\xFE")), "\xFF\xFE");
}

}  // namespace
}  // namespace samlet
