// Shared by the tests of this folder.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "libs/ort/session.h"
#include "samlet/error.h"

namespace samlet::ort {

inline const std::filesystem::path kTestdata =
    std::filesystem::path(SAMLET_SOURCE_DIR) / "libs" / "ort" / "testdata";

/// A folder that is gone after the test.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "samlet-ort-test-XXXXXX").native();
    // Links resolved, so that paths can be compared with what the library found.
    path_ = std::filesystem::canonical(::mkdtemp(pattern.data()));
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::filesystem::path& name) const { return path_ / name; }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  /// Writes a file, making its folders.
  std::filesystem::path write(const std::filesystem::path& name, std::string_view content) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
    return path_ / name;
  }
  /// Copies a file of testdata, making its folders.
  std::filesystem::path copy(const std::filesystem::path& from, const std::filesystem::path& name) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::filesystem::copy_file(kTestdata / from, path_ / name);
    return path_ / name;
  }

 private:
  std::filesystem::path path_;
};

/// EXPECT_TRUE(contains(text, part)) shows both when it fails.
inline testing::AssertionResult contains(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

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
  [[nodiscard]] LogSink sink() {
    return [this](LogLevel level, std::string_view message) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(level, message);
    };
  }
  [[nodiscard]] std::vector<std::string> at(LogLevel level) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> found;
    for (const auto& [line_level, line] : lines_) {
      if (line_level == level) found.push_back(line);
    }
    return found;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<LogLevel, std::string>> lines_;
};

inline std::shared_ptr<const Runtime> test_runtime(LogSink log = {}) {
  RuntimeOptions options;
  options.library = SAMLET_ORT_LIBRARY_DIR;
  options.log = std::move(log);
  return Runtime::load(options);
}

inline SessionOptions cpu_options(int threads = 1, LogSink log = {}) {
  SessionOptions options;
  options.threads = threads;
  options.log = std::move(log);
  return options;
}

}  // namespace samlet::ort
