// Runs a program and keeps what it said, for tests that look at samlet from outside.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace samlet::test {

struct ProcessOptions {
  std::filesystem::path folder;                    ///< working folder; empty = this process's
  std::map<std::string, std::string> environment;  ///< added to, or replacing, this process's
  std::string input;                               ///< given on standard input
  std::function<void()> before_exec;  ///< runs in the child, last before exec (close a stream, set a limit)
};

struct ProcessResult {
  int exit_code = -1;  ///< 128 + the signal's number when it was killed
  std::string output;
  std::string error;
  long peak_rss_kb = 0;
};

/// argv[0] is the program. Throws std::runtime_error when the process cannot be started.
ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options = {});

/// For ProcessOptions::before_exec: sends the program one signal after a while.
std::function<void()> send_signal_after(std::chrono::milliseconds delay, int signal_number);

/// The built program.
std::string samlet_program();

/// A folder of its own, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Names of what is in it (not below), sorted.
  [[nodiscard]] std::vector<std::string> entries() const;

 private:
  std::filesystem::path path_;
};

}  // namespace samlet::test
