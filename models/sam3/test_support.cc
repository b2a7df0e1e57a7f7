#include "models/sam3/test_support.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace samlet::sam3 {

namespace fs = std::filesystem;

fs::path stub(std::string_view name) {
  return fs::path(SAMLET_SOURCE_DIR) / "tests/data" / name;
}

ScratchFolder::ScratchFolder() {
  std::string pattern = (fs::temp_directory_path() / "samlet-sam3-test-XXXXXX").native();
  path_ = fs::canonical(::mkdtemp(pattern.data()));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void ScratchFolder::copy(const fs::path& from) const {
  fs::copy(from, path_, fs::copy_options::overwrite_existing | fs::copy_options::recursive);
}

void ScratchFolder::write(const fs::path& name, std::string_view content) const {
  std::ofstream(path_ / name, std::ios::binary) << content;
}

std::string ScratchFolder::read(const fs::path& name) const {
  std::ifstream in(path_ / name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void ScratchFolder::edit_manifest(std::string_view from, std::string_view to) const {
  std::string text = read("model.json");
  const std::size_t at = text.find(from);
  ASSERT_NE(at, std::string::npos) << from;
  write("model.json", text.replace(at, from.size(), to));
}

Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  ADD_FAILURE() << "no error was thrown";
  return {ErrorCode::kPartialFailure, "no error was thrown"};
}

testing::AssertionResult contains(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in: " << text;
}

ModelOptions test_options(const std::string& text_encoder) {
  ModelOptions options;
  options.device = "cpu";
  options.threads = 1;
  options.runtime_library = SAMLET_ORT_LIBRARY_DIR;
  options.text_encoder = text_encoder;
  return options;
}

Image test_image(int width, int height) {
  Image image{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const int value : {x * 5, y * 3, x * y})
        image.rgb.push_back(static_cast<std::uint8_t>(value % 256));
    }
  }
  return image;
}

}  // namespace samlet::sam3
