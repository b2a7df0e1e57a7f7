#include "libs/ort/test_support.h"

#include <cstdlib>

#include <fstream>

namespace samlet::ort {
namespace fs = std::filesystem;

const fs::path& testdata() {
  static const fs::path kFolder = fs::path(SAMLET_SOURCE_DIR) / "libs" / "ort" / "testdata";
  return kFolder;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "samlet-ort-test-XXXXXX").native();
  // Links resolved, so that paths can be compared with what the library found.
  path_ = fs::canonical(::mkdtemp(pattern.data()));
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TemporaryFolder::operator/(const fs::path& name) const {
  return path_ / name;
}

fs::path TemporaryFolder::write(const fs::path& name, std::string_view content) const {
  fs::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name, std::ios::binary) << content;
  return path_ / name;
}

fs::path TemporaryFolder::copy(const fs::path& from, const fs::path& name) const {
  fs::create_directories((path_ / name).parent_path());
  fs::copy_file(testdata() / from, path_ / name);
  return path_ / name;
}

testing::AssertionResult contains(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

LogSink LogRecorder::sink() {
  return [this](LogLevel level, std::string_view message) {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(level, message);
  };
}

std::vector<std::string> LogRecorder::at(LogLevel level) const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  for (const auto& [line_level, line] : lines_) {
    if (line_level == level) found.push_back(line);
  }
  return found;
}

std::shared_ptr<const Runtime> test_runtime(LogSink log) {
  RuntimeOptions options;
  options.library = SAMLET_ORT_LIBRARY_DIR;
  options.log = std::move(log);
  return Runtime::load(options);
}

SessionOptions cpu_options(int threads, LogSink log) {
  SessionOptions options;
  options.threads = threads;
  options.log = std::move(log);
  return options;
}

}  // namespace samlet::ort
