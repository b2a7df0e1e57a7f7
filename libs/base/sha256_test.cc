#include "libs/base/sha256.h"

#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet {
namespace {

namespace fs = std::filesystem;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string hash_of(std::string_view text) {
  Sha256 hash;
  hash.update(bytes_of(text));
  return hash.hex();
}

// The examples of FIPS 180-4.
TEST(Sha256, GivesThePublishedValues) {
  EXPECT_EQ(hash_of(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(hash_of("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(hash_of(std::string(1000000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, PiecesGiveWhatTheWholeGives) {
  const std::string text(1000, 'x');
  Sha256 hash;
  for (std::size_t at = 0; at < text.size(); at += 37) hash.update(bytes_of(text.substr(at, 37)));
  Sha256 moved = std::move(hash);
  EXPECT_EQ(moved.hex(), hash_of(text));
}

class Sha256OfFile : public testing::Test {
 protected:
  Sha256OfFile() {
    std::string pattern = (fs::temp_directory_path() / "samlet-sha256-test-XXXXXX").native();
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Sha256OfFile() override { fs::remove_all(folder_); }

  static ErrorCode refusal(const fs::path& path, const CancelToken& cancel = {}) {
    try {
      (void)sha256_of_file(path, cancel);
    } catch (const Error& e) {
      return e.code();
    }
    ADD_FAILURE() << "was hashed";
    return ErrorCode::kInternal;
  }

  fs::path folder_;
};

TEST_F(Sha256OfFile, CountsEveryByte) {
  const std::string text((std::size_t{5} << 20) / 2, 'y');  // more than two pieces
  write_file_atomic(folder_ / "file", bytes_of(text), Overwrite::kRefuse);
  std::vector<std::uint64_t> told;
  EXPECT_EQ(sha256_of_file(folder_ / "file", {}, [&](std::uint64_t done) { told.push_back(done); }),
            hash_of(text));
  EXPECT_EQ(told, (std::vector<std::uint64_t>{1048576, 2097152, 2621440}));
  write_file_atomic(folder_ / "empty", {}, Overwrite::kRefuse);
  EXPECT_EQ(sha256_of_file(folder_ / "empty"), hash_of(""));
}

TEST_F(Sha256OfFile, RefusesWhatIsNoFile) {
  EXPECT_EQ(refusal(folder_ / "none"), ErrorCode::kNotFound);
  EXPECT_EQ(refusal(folder_), ErrorCode::kIo);
  ASSERT_EQ(::mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  EXPECT_EQ(refusal(folder_ / "pipe"), ErrorCode::kIo);
}

TEST_F(Sha256OfFile, CanBeStopped) {
  write_file_atomic(folder_ / "file", bytes_of("abc"), Overwrite::kRefuse);
  const CancelToken cancel;
  cancel.cancel();
  EXPECT_EQ(refusal(folder_ / "file", cancel), ErrorCode::kCancelled);
}

}  // namespace
}  // namespace samlet
