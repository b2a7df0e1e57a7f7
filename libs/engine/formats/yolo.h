// Labels for YOLO: a text file a picture, and data.yaml for the run.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "libs/engine/formats/annotation.h"

namespace samlet::formats {

/// What becomes of an instance in several parts. YOLO's format has one outline a line, and a line is an
/// instance.
enum class YoloParts : std::uint8_t {
  kJoined,    ///< One line: the outlines joined by lines there and back, which have no area. Nothing is lost.
  kSeparate,  ///< A line for each part, with a warning: they count as instances then.
};

struct YoloOptions {
  YoloParts parts = YoloParts::kJoined;
  double tolerance = 0;  ///< In pixels; 0 = exact.
};

/// "class x1 y1 x2 y2 ..." a line: the category's number from 0, and corners in fractions of the picture's
/// sides. Holes are filled: the format cannot say them; a warning gives their area. Errors: kUsage as
/// check_picture. Thread-safe.
[[nodiscard]] Text yolo_segments(const AnnotatedPicture& picture, const YoloOptions& options = {});

/// "class x y width height" a line: the centre and the size of the MASK's box in fractions. Thread-safe.
[[nodiscard]] Text yolo_boxes(const AnnotatedPicture& picture);

/// Where data.yaml finds the pictures.
struct YoloFolders {
  std::string path = ".";        ///< The data set's folder.
  std::string train = "images";  ///< From there.
  std::string val = "images";
};

/// The data.yaml of a run: the folders and the names of the categories. Thread-safe.
[[nodiscard]] std::string yolo_data_yaml(std::span<const std::string> names, const YoloFolders& folders = {});

}  // namespace samlet::formats
