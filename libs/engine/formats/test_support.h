// Masks that tests can read, and pictures made of them.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "libs/engine/formats/annotation.h"

namespace samlet::formats {

/// A mask out of rows of '#' and '.'.
inline Mask drawn(const std::vector<std::string>& rows) {
  std::vector<std::uint8_t> bitmap;
  for (const std::string& row : rows) {
    for (const char c : row) bitmap.push_back(c == '#' ? 1 : 0);
  }
  return from_bitmap(bitmap, static_cast<int>(rows[0].size()), static_cast<int>(rows.size()));
}

inline Mask random_mask(std::mt19937& random, int width, int height) {
  const std::uint64_t density = random() % 11;
  std::vector<std::uint8_t> bitmap;
  for (int i = 0; i < width * height; ++i) bitmap.push_back(random() % 10 < density ? 1 : 0);
  return from_bitmap(bitmap, width, height);
}

/// "a.jpg" with one annotation a mask, of the category 0, "cat", with the score 0.9.
inline AnnotatedPicture picture_of(std::vector<Mask> masks) {
  AnnotatedPicture picture{"a.jpg", masks.at(0).width, masks.at(0).height, {}};
  for (Mask& mask : masks) {
    picture.annotations.push_back({"cat", 0, 0.9, AnnotationKind::kConcept, {0, 0, 1, 1}, std::move(mask)});
  }
  return picture;
}

}  // namespace samlet::formats
