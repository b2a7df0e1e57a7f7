// COCO's object detection format, made of one record a picture.
//
// While a run goes on, each finished picture leaves a record: a small text with all that COCO needs of it. At
// the end the records are merged, so that numbers have no gaps whichever pictures were done when.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libs/engine/formats/annotation.h"

namespace samlet::formats {

/// The record of a picture: one line of JSON without a line end. Empty masks are not in it. Errors: kUsage as
/// check_picture. Thread-safe.
[[nodiscard]] Text coco_record(const AnnotatedPicture& picture);

/// The inverse of coco_record. Errors: kIo for what is no record of this version, or a damaged one.
/// Thread-safe.
[[nodiscard]] AnnotatedPicture read_coco_record(std::string_view record);

/// How masks are written.
enum class CocoSegmentation : std::uint8_t {
  kRle,       ///< Always compressed run lengths: exact, holes and all.
  kPolygons,  ///< Polygons where no part has a hole (COCO's polygons cannot say holes), else run lengths.
};

struct CocoOptions {
  CocoSegmentation segmentation = CocoSegmentation::kRle;
  double tolerance = 0;  ///< Of polygons, in pixels; 0 = exact.
};

/// Takes text as it is made.
using TextSink = std::function<void(std::string_view)>;

/// Writes one COCO file from records given one after the other. Picture ids count from 1 in the order of
/// add(), annotation ids from 1 over all pictures, category ids from 1 in the order of the categories. An
/// annotation has `iscrowd` 0, `area` and `bbox` [x, y, width, height] of its MASK (whole pixels), and
/// besides COCO's own members `score`. Memory: a line for each picture, and one record. Not thread-safe.
class CocoWriter {
 public:
  /// Nothing is written yet.
  CocoWriter(std::vector<std::string> categories, const CocoOptions& options, TextSink sink);

  /// Errors: as read_coco_record, and kIo when the record's categories are not those of this run.
  void add(std::string_view record);
  void add(const AnnotatedPicture& picture);

  /// Writes what is left. Call it once.
  void finish();

  [[nodiscard]] std::uint64_t pictures() const noexcept { return pictures_; }
  [[nodiscard]] std::uint64_t annotations() const noexcept { return annotations_; }

 private:
  void check_category(const AnnotatedPicture& picture, const Annotation& annotation) const;
  void write_head();
  void write_annotation(const Annotation& annotation);

  std::vector<std::string> categories_;
  CocoOptions options_;
  TextSink sink_;
  bool head_written_ = false;
  std::uint64_t pictures_ = 0;
  std::uint64_t annotations_ = 0;
  std::string images_;  // the member "images", which follows the annotations
};

/// The same for records in memory. Errors: as CocoWriter. Thread-safe.
[[nodiscard]] std::string merge_coco(std::span<const std::string> records,
                                     const std::vector<std::string>& categories,
                                     const CocoOptions& options = {});

}  // namespace samlet::formats
