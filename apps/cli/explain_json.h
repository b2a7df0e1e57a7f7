#pragma once

#include <string>
#include <vector>

#include "samlet/image.h"

namespace samlet::cli {

/// The least and the greatest sample.
struct ValueRange {
  int least = 0;
  int most = 0;
};

/// What `check --image` says of one picture.
struct ExplainedPicture {
  std::string name;
  PictureInfo info;
  int width = 0;  ///< Upright.
  int height = 0;
  ValueRange values;
  std::vector<std::string> warnings;
};

/// One line.
[[nodiscard]] std::string explained_json(const ExplainedPicture& picture);

}  // namespace samlet::cli
