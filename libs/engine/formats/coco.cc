#include "libs/engine/formats/coco.h"

#include <utility>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/engine/formats/mask_region.h"
#include "libs/engine/formats/outlines.h"
#include "libs/engine/formats/text.h"
#include "samlet/error.h"

namespace samlet::formats {
namespace {

std::string run_lengths(const Mask& mask) {
  return fmt::format(R"({{"size":[{},{}],"counts":{}}})", mask.height, mask.width,
                     quoted(to_coco_string(mask)));
}

std::string segmentation_text(const Mask& mask, const CocoOptions& options) {
  if (options.segmentation == CocoSegmentation::kRle) return run_lengths(mask);
  const auto parts = outlines_of(mask, options.tolerance);
  if (has_holes(parts)) return run_lengths(mask);
  std::string out = "[";
  for (const MaskPart& part : parts) {
    out += out.size() > 1 ? ",[" : "[";
    for (const Corner& corner : part.outline) {
      append_corner(out, corner);
      out += ',';
    }
    out.back() = ']';
  }
  return out + ']';
}

}  // namespace

CocoWriter::CocoWriter(std::vector<std::string> categories, const CocoOptions& options, TextSink sink)
    : categories_(std::move(categories)), options_(options), sink_(std::move(sink)) {}

void CocoWriter::add(std::string_view record) {
  add(read_coco_record(record));
}

void CocoWriter::add(const AnnotatedPicture& picture) {
  check_picture(picture);
  for (const Annotation& annotation : picture.annotations) check_category(picture, annotation);
  write_head();
  ++pictures_;
  images_ +=
      fmt::format(R"({}{{"id":{},"file_name":{},"width":{},"height":{}}})", pictures_ > 1 ? ",\n" : "\n",
                  pictures_, quoted(picture.file_name), picture.width, picture.height);
  for (const Annotation& annotation : picture.annotations) {
    if (annotation.mask.area() > 0) write_annotation(annotation);
  }
}

void CocoWriter::finish() {
  write_head();
  sink_("\n],\n\"images\":[");
  sink_(images_);
  sink_("\n]}\n");
}

void CocoWriter::check_category(const AnnotatedPicture& picture, const Annotation& annotation) const {
  const bool known = annotation.category < categories_.size();
  if (known && categories_[annotation.category] == annotation.label) return;
  throw Error(
      ErrorCode::kIo,
      fmt::format("the record of '{}' was made with other prompts: its category {} is '{}', which is {} now; "
                  "write to a new folder, or run again without --resume",
                  printable(picture.file_name), annotation.category + 1, printable(annotation.label),
                  known ? fmt::format("'{}'", printable(categories_[annotation.category])) : "none"));
}

void CocoWriter::write_head() {
  if (std::exchange(head_written_, true)) return;
  std::string head = "{\"info\":{\"description\":\"Made by samlet\"},\n\"licenses\":[],\n\"categories\":[";
  for (std::size_t i = 0; i < categories_.size(); ++i) {
    head += fmt::format(R"({}{{"id":{},"name":{},"supercategory":""}})", i > 0 ? ",\n" : "\n", i + 1,
                        quoted(categories_[i]));
  }
  sink_(head + "\n],\n\"annotations\":[");
}

void CocoWriter::write_annotation(const Annotation& annotation) {
  const auto box = tight_box(annotation.mask);
  ++annotations_;
  sink_(
      fmt::format(R"({}{{"id":{},"image_id":{},"category_id":{},"iscrowd":0,"area":{},"bbox":[{},{},{},{}],)"
                  R"("score":{},"segmentation":{}}})",
                  annotations_ > 1 ? ",\n" : "\n", annotations_, pictures_, annotation.category + 1,
                  annotation.mask.area(), box->x, box->y, box->width, box->height,
                  score_text(annotation.score), segmentation_text(annotation.mask, options_)));
}

std::string merge_coco(std::span<const std::string> records, const std::vector<std::string>& categories,
                       const CocoOptions& options) {
  std::string out;
  CocoWriter writer(categories, options, [&](std::string_view text) { out += text; });
  for (const std::string& record : records) writer.add(record);
  writer.finish();
  return out;
}

}  // namespace samlet::formats
