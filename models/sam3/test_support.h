// Shared by the tests of this folder. Bodies stand in test_support.cc, where clang's analyzer does not follow
// them into each test.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "samlet/error.h"
#include "samlet/image.h"
#include "samlet/segmenter.h"

namespace samlet::sam3 {

/// tests/data/NAME
std::filesystem::path stub(std::string_view name);

/// A folder that is gone after the test.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Copies what is in a folder, over what is here.
  void copy(const std::filesystem::path& from) const;
  void write(const std::filesystem::path& name, std::string_view content) const;
  [[nodiscard]] std::string read(const std::filesystem::path& name) const;
  /// Changes model.json by replacing the first `from`, which must be there.
  void edit_manifest(std::string_view from, std::string_view to) const;

 private:
  std::filesystem::path path_;
};

/// Runs the call and returns the samlet::Error that it must throw.
Error error_of(const std::function<void()>& call);

/// EXPECT_TRUE(contains(text, part)) shows both when it fails.
testing::AssertionResult contains(std::string_view text, std::string_view part);

/// Options that use the runtime of the build on one thread.
ModelOptions test_options(const std::string& text_encoder = {});

/// A picture with something in it.
Image test_image(int width, int height);

}  // namespace samlet::sam3
