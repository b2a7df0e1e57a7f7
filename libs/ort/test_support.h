// Shared by the tests of this folder. Bodies stand in test_support.cc, where clang's analyzer does not follow
// them into each test.
#pragma once

#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "libs/ort/session.h"
#include "samlet/error.h"

namespace samlet::ort {

/// libs/ort/testdata
const std::filesystem::path& testdata();

/// A folder that is gone after the test.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::filesystem::path& name) const;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Writes a file, making its folders.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view content) const;
  /// Copies a file of testdata, making its folders.
  std::filesystem::path copy(const std::filesystem::path& from, const std::filesystem::path& name) const;

 private:
  std::filesystem::path path_;
};

/// EXPECT_TRUE(contains(text, part)) shows both when it fails.
testing::AssertionResult contains(std::string_view text, std::string_view part);

/// A copy of a view that can be compared and printed.
template <typename T>
std::vector<T> copy_of(std::span<const T> values) {
  return {values.begin(), values.end()};
}

/// Runs the call and returns the samlet::Error that it must throw.
template <typename F>
Error error_of(F&& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return {ErrorCode::kPartialFailure, "no error was thrown"};
}

/// Keeps what is logged.
class LogRecorder {
 public:
  [[nodiscard]] LogSink sink();
  [[nodiscard]] std::vector<std::string> at(LogLevel level) const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<LogLevel, std::string>> lines_;
};

std::shared_ptr<const Runtime> test_runtime(LogSink log = {});
SessionOptions cpu_options(int threads = 1, LogSink log = {});

}  // namespace samlet::ort
