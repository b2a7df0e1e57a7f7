// What all output formats are written from. The functions of this folder turn it into text or bytes; they
// read and write no file and know nothing of the command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "samlet/mask.h"
#include "samlet/prompt.h"

namespace samlet::formats {

/// What found an instance: a phrase or examples (every thing like it), or clicks and boxes (this one thing).
enum class AnnotationKind : std::uint8_t { kConcept, kObject };

/// "concept" or "object".
[[nodiscard]] std::string kind_name(AnnotationKind kind);

/// One instance of a picture. Value type.
struct Annotation {
  std::string label;         ///< UTF-8; the name of its category.
  std::size_t category = 0;  ///< Number among the categories of the whole run, from 0.
  double score = 0;          ///< 0..1
  AnnotationKind kind = AnnotationKind::kConcept;
  Box box;    ///< The model's own, in pixels; it need not be the mask's.
  Mask mask;  ///< Of the picture's size. An empty one is left out by every format, with a warning.
};

/// A picture and what was found in it. The number of an annotation is its position here plus one, in every
/// format that numbers instances. Value type.
struct AnnotatedPicture {
  std::string file_name;  ///< UTF-8, as it shall stand in the files: relative, with '/'.
  int width = 0;          ///< Of the upright picture.
  int height = 0;
  std::vector<Annotation> annotations;
};

/// The content of a text file, and sentences that the user should see, each naming the picture.
struct Text {
  std::string text;
  std::vector<std::string> warnings;
};

/// Refuses what no format can hold: a side that is not positive, a mask of another size than the picture's.
/// Errors: kUsage. Thread-safe.
void check_picture(const AnnotatedPicture& picture);

/// "'a.jpg': 2 of 3 instances have no pixel and are left out", or nothing when all have pixels. Thread-safe.
[[nodiscard]] std::vector<std::string> empty_mask_warnings(const AnnotatedPicture& picture);

}  // namespace samlet::formats
