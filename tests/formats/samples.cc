// Writes pictures' annotations in every format, for the tools that read them (tools/formats/run.py).
//
// In a folder it finds `categories` (names, each ended by NUL), and of each picture named on standard input
// NAME.in: a line "width height count", `count` lines "category score kind", then `count` masks and the RGB
// pixels, row-major bytes. It reads NAME.N.given.npy too where there is one.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libs/engine/formats/coco.h"
#include "libs/engine/formats/csv.h"
#include "libs/engine/formats/geojson.h"
#include "libs/engine/formats/labelme.h"
#include "libs/engine/formats/npy.h"
#include "libs/engine/formats/pictures.h"
#include "libs/engine/formats/yolo.h"
#include "samlet/error.h"

namespace {

namespace formats = samlet::formats;
using Bytes = std::vector<std::uint8_t>;

/// The tolerance of the files that have one; tools/formats knows it too.
constexpr double kTolerance = 2;

struct Sample {
  std::string name;
  formats::AnnotatedPicture picture;
  samlet::Image image;
};

class Folder {
 public:
  explicit Folder(std::filesystem::path path) : path_(std::move(path)) {}

  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

  [[nodiscard]] std::string read(const std::string& name) const {
    std::ifstream in(path_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const std::string& name, std::string_view text) const {
    std::ofstream(path_ / name, std::ios::binary) << text;
  }
  void write(const std::string& name, const Bytes& bytes) const {
    write(name, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

 private:
  std::filesystem::path path_;
};

std::vector<std::string> categories_of(const Folder& folder) {
  std::vector<std::string> names(1);
  for (const char c : folder.read("categories")) {
    if (c == '\0') {
      names.emplace_back();
    } else {
      names.back() += c;
    }
  }
  names.pop_back();
  return names;
}

Bytes take(std::istream& in, std::size_t count) {
  Bytes bytes(count);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(count));
  return bytes;
}

Sample sample_of(const Folder& folder, const std::string& name, const std::vector<std::string>& categories) {
  std::ifstream in(folder / (name + ".in"), std::ios::binary);
  in.exceptions(std::ios::failbit | std::ios::badbit | std::ios::eofbit);
  Sample sample{name, {name + ".png", 0, 0, {}}, {}};
  int width = 0;
  int height = 0;
  std::size_t count = 0;
  in >> width >> height >> count;
  sample.picture.width = width;
  sample.picture.height = height;
  for (std::size_t i = 0; i < count; ++i) {
    formats::Annotation annotation;
    std::string kind;
    in >> annotation.category >> annotation.score >> kind;
    annotation.label = categories.at(annotation.category);
    annotation.kind = kind == "object" ? formats::AnnotationKind::kObject : formats::AnnotationKind::kConcept;
    annotation.box = {0.25, 0.5, width / 3.0, static_cast<double>(height)};
    sample.picture.annotations.push_back(annotation);
  }
  in.get();
  const std::size_t pixels = static_cast<std::size_t>(width) * static_cast<std::size_t>(height);
  for (auto& annotation : sample.picture.annotations) {
    annotation.mask = samlet::from_bitmap(take(in, pixels), width, height);
  }
  sample.image = {width, height, take(in, 3 * pixels)};
  return sample;
}

void write_masks(const Folder& folder, const Sample& sample) {
  for (std::size_t i = 0; i < sample.picture.annotations.size(); ++i) {
    const samlet::Mask& mask = sample.picture.annotations[i].mask;
    const std::string name = sample.name + "." + std::to_string(i + 1);
    folder.write(name + ".mask.png", formats::instance_mask_png(mask));
    for (const auto frame : {formats::CutoutFrame::kTight, formats::CutoutFrame::kWhole}) {
      const auto cutout = formats::cutout_png(sample.image, mask, frame);
      if (!cutout) continue;
      const auto& box = cutout->box;
      const std::string stem = name + (frame == formats::CutoutFrame::kTight ? ".tight" : ".whole");
      folder.write(stem + ".png", cutout->png);
      folder.write(stem + ".at", std::to_string(box.x) + ' ' + std::to_string(box.y));
    }
    std::vector<float> logits;
    for (const std::uint8_t set : samlet::to_bitmap(mask)) {
      logits.push_back((set != 0 ? 8.5F : -8.5F) + 0.001F * static_cast<float>(logits.size() % 97));
    }
    folder.write(name + ".npy", formats::write_npy(logits, mask.height, mask.width));
  }
}

/// Writes the text and keeps the warnings.
void put(const Folder& folder, const std::string& name, const formats::Text& text) {
  folder.write(name, text.text);
  std::string lines;
  for (const std::string& warning : text.warnings) lines += warning + '\n';
  folder.write(name + ".warnings", lines);
}

void write_texts(const Folder& folder, const Sample& sample) {
  const auto& picture = sample.picture;
  const std::string& name = sample.name;
  put(folder, name + ".record", formats::coco_record(picture));
  put(folder, name + ".json", formats::labelme_json(picture));
  put(folder, name + ".masks.json", formats::labelme_json(picture, {formats::LabelmeShapes::kMasks, 0}));
  put(folder, name + ".rough.json",
      formats::labelme_json(picture, {formats::LabelmeShapes::kPolygons, kTolerance}));
  put(folder, name + ".segments.txt", formats::yolo_segments(picture));
  put(folder, name + ".separate.txt", formats::yolo_segments(picture, {formats::YoloParts::kSeparate, 0}));
  put(folder, name + ".boxes.txt", formats::yolo_boxes(picture));
  put(folder, name + ".geojson", formats::geojson(picture));
  put(folder, name + ".rough.geojson", formats::geojson(picture, {std::nullopt, kTolerance}));
  const formats::GeoReference map{{0.3, 0.01, 399960.5, -0.02, -0.3, 5000040.25}, 32632};
  put(folder, name + ".map.geojson", formats::geojson(picture, {map, 0}));
  formats::Text table = formats::csv_lines(picture);
  table.text = formats::csv_header() + table.text;
  put(folder, name + ".csv", table);
  const formats::LabelMap labels = formats::label_map(picture);
  folder.write(name + ".labels.png", labels.png);
  folder.write(name + ".labels.hidden", std::to_string(labels.hidden_pixels));
}

/// Arrays that NumPy wrote, written again as float32.
void rewrite_arrays(const Folder& folder) {
  for (int i = 1; std::filesystem::exists(folder / (std::to_string(i) + ".given.npy")); ++i) {
    const std::string given = folder.read(std::to_string(i) + ".given.npy");
    const auto array = formats::read_npy({reinterpret_cast<const std::uint8_t*>(given.data()), given.size()});
    folder.write(std::to_string(i) + ".taken.npy",
                 formats::write_npy(array.values, array.rows, array.columns));
  }
}

void merge(const Folder& folder, const std::vector<std::string>& names,
           const std::vector<std::string>& categories, const std::string& to,
           const formats::CocoOptions& options) {
  std::ofstream out(folder / to, std::ios::binary);
  formats::CocoWriter writer(categories, options, [&](std::string_view text) { out << text; });
  for (const std::string& name : names) writer.add(folder.read(name + ".record"));
  writer.finish();
}

int run(const Folder& folder) {
  const auto categories = categories_of(folder);
  std::vector<std::string> names;
  for (std::string name; std::getline(std::cin, name);) {
    const Sample sample = sample_of(folder, name, categories);
    write_masks(folder, sample);
    write_texts(folder, sample);
    names.push_back(name);
  }
  rewrite_arrays(folder);
  merge(folder, names, categories, "coco.json", {});
  merge(folder, names, categories, "coco_polygons.json", {formats::CocoSegmentation::kPolygons, 0});
  merge(folder, names, categories, "coco_rough.json", {formats::CocoSegmentation::kPolygons, kTolerance});
  folder.write("data.yaml", formats::yolo_data_yaml(categories));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: samlet_format_samples FOLDER < NAMES\n", stderr);
    return 2;
  }
  try {
    return run(Folder(argv[1]));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "samlet_format_samples: %s\n", error.what());
    return 1;
  }
}
