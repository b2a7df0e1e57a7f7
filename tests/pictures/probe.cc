// Decodes the pictures that are named on standard input, of one folder: NAME.ppm holds the pixels (P6), or
// NAME.error the sentence that refused it. tools/pictures/run.py compares them with another decoder's.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "samlet/error.h"
#include "samlet/image.h"

namespace {

void decode(const std::filesystem::path& picture) {
  const auto beside = [&](const char* suffix) {
    std::filesystem::path path = picture;
    path += suffix;
    return std::ofstream(path, std::ios::binary);
  };
  try {
    const samlet::Image image = samlet::read_image(picture);
    auto out = beside(".ppm");
    out << "P6\n" << image.width << ' ' << image.height << "\n255\n";
    out.write(reinterpret_cast<const char*>(image.rgb.data()),
              static_cast<std::streamsize>(image.rgb.size()));
  } catch (const samlet::Error& error) {
    beside(".error") << error.what();
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: samlet_picture_probe FOLDER < NAMES\n", stderr);
    return 2;
  }
  std::string name;
  while (std::getline(std::cin, name)) decode(std::filesystem::path(argv[1]) / name);
  return 0;
}
