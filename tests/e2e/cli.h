// What every end-to-end test needs: the program, the miniature, and a folder of its own.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/process.h"

namespace samlet::test {

namespace fs = std::filesystem;
using Json = nlohmann::json;

inline fs::path miniature() {
  return fs::path(SAMLET_SOURCE_DIR) / "examples/miniature";
}
inline std::string miniature_model() {
  return (miniature() / "onnx-v030").native();
}
inline std::string miniature_checkpoint() {
  return (miniature() / "checkpoint/sam3_mini.pt").native();
}
inline std::string sample(const std::string& name) {
  return (miniature() / "samples" / name).native();
}
inline std::string stub_model() {
  return (fs::path(SAMLET_SOURCE_DIR) / "tests/data/stub-v030").native();
}

inline void write_file(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

inline std::string read_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

inline bool mentions(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// Runs in a folder of its own, so that "nothing was written" can be seen.
class CliTest : public testing::Test {
 protected:
  ProcessResult samlet(std::vector<std::string> words, ProcessOptions options = {}) const {
    words.insert(words.begin(), samlet_program());
    if (options.folder.empty()) options.folder = folder_.path();
    return run_process(words, options);
  }

  /// `samlet run` on the miniature.
  ProcessResult run(std::vector<std::string> words, const ProcessOptions& options = {}) const {
    words.insert(words.begin(), {"run", miniature_model()});
    return samlet(std::move(words), options);
  }

  /// Exports the miniature into the test's folder under that name, unchecked unless the options say
  /// otherwise.
  std::string export_miniature(const std::string& name, std::vector<std::string> options = {"--no-check"}) {
    const std::string target = (folder_.path() / name).native();
    std::vector<std::string> words{"export", miniature_checkpoint(), "--out", target};
    words.insert(words.end(), options.begin(), options.end());
    const ProcessResult result = samlet(words);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    remember_entries();
    return target;
  }

  /// A refusal: this exit code, one sentence on standard error that mentions all parts, nothing on standard
  /// output, and nothing new in the folder.
  void expect_refused(const ProcessResult& result, int exit_code,
                      const std::vector<std::string>& parts) const {
    EXPECT_EQ(result.exit_code, exit_code) << result.error;
    EXPECT_EQ(result.output, "");
    EXPECT_TRUE(result.error.starts_with("samlet: ")) << result.error;
    for (const std::string& part : parts)
      EXPECT_TRUE(mentions(result.error, part)) << part << " in: " << result.error;
    EXPECT_EQ(folder_.entries(), before_);
  }

  /// Files that a test put in place itself do not count as written.
  void remember_entries() { before_ = folder_.entries(); }

  TemporaryFolder folder_;
  std::vector<std::string> before_;
};

}  // namespace samlet::test
