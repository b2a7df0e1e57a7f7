#include "libs/engine/formats/pictures.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/image/png_writer.h"
#include "samlet/error.h"

namespace samlet::formats {
namespace {

constexpr std::size_t kMostInEightBits = 255;
constexpr std::size_t kMostInstances = 65535;

PixelBox whole(const Mask& mask) {
  return {0, 0, mask.width, mask.height};
}

/// Positions of the annotations, those first that others may hide.
std::vector<std::size_t> painting_order(const std::vector<Annotation>& annotations) {
  std::vector<std::size_t> order(annotations.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double left = annotations[a].score;
    const double right = annotations[b].score;
    return left != right ? left < right : a > b;
  });
  return order;
}

/// Numbers of instances, row-major [height, width].
std::vector<std::uint16_t> painted(const AnnotatedPicture& picture) {
  const auto stride = static_cast<std::size_t>(picture.width);
  std::vector<std::uint16_t> numbers(stride * static_cast<std::size_t>(picture.height));
  for (const std::size_t i : painting_order(picture.annotations)) {
    const Mask& mask = picture.annotations[i].mask;
    const auto box = tight_box(mask);
    if (!box) continue;
    const auto bitmap = crop(mask, *box, 1);
    const auto columns = static_cast<std::size_t>(box->width);
    for (std::size_t k = 0; k < bitmap.size(); ++k) {
      if (bitmap[k] == 0) continue;
      const std::size_t y = static_cast<std::size_t>(box->y) + k / columns;
      numbers[y * stride + static_cast<std::size_t>(box->x) + k % columns] =
          static_cast<std::uint16_t>(i + 1);
    }
  }
  return numbers;
}

std::vector<std::uint8_t> samples_of(const std::vector<std::uint16_t>& numbers, int bits) {
  std::vector<std::uint8_t> samples;
  samples.reserve(numbers.size() * (bits == 16 ? 2 : 1));
  for (const std::uint16_t number : numbers) {
    if (bits == 16) samples.push_back(static_cast<std::uint8_t>(number >> 8));
    samples.push_back(static_cast<std::uint8_t>(number & 0xFF));
  }
  return samples;
}

}  // namespace

std::vector<std::uint8_t> instance_mask_png(const Mask& mask) {
  return write_png(PngPixels::kGrey8, mask.width, mask.height, crop(mask, whole(mask), 255));
}

LabelMap label_map(const AnnotatedPicture& picture) {
  check_picture(picture);
  const std::string name = printable(picture.file_name);
  const std::size_t count = picture.annotations.size();
  if (count > kMostInstances) {
    throw Error(ErrorCode::kUsage,
                fmt::format("'{}': a label map holds at most {} instances, here are {}; write "
                            "one mask per instance, or limit their number",
                            name, kMostInstances, count));
  }
  LabelMap map;
  map.bits = count > kMostInEightBits ? 16 : 8;
  map.warnings = empty_mask_warnings(picture);
  const auto numbers = painted(picture);
  std::uint64_t pixels = 0;
  for (const Annotation& annotation : picture.annotations) pixels += annotation.mask.area();
  map.hidden_pixels = pixels - static_cast<std::uint64_t>(std::count_if(numbers.begin(), numbers.end(),
                                                                        [](auto n) { return n != 0; }));
  if (map.hidden_pixels > 0) {
    map.warnings.push_back(
        fmt::format("'{}': instances overlap; {} of {} pixels are hidden in the label map by "
                    "instances with a better score (one mask per instance keeps them)",
                    name, map.hidden_pixels, pixels));
  }
  map.png = write_png(map.bits == 16 ? PngPixels::kGrey16 : PngPixels::kGrey8, picture.width, picture.height,
                      samples_of(numbers, map.bits));
  return map;
}

std::optional<Cutout> cutout_png(const Image& image, const Mask& mask, CutoutFrame frame) {
  if (image.width != mask.width || image.height != mask.height) {
    throw Error(ErrorCode::kUsage,
                fmt::format("a mask of {} x {} pixels cannot cut out of a picture of {} x {}; "
                            "they must be of the same picture",
                            mask.width, mask.height, image.width, image.height));
  }
  const auto tight = tight_box(mask);
  if (!tight) return std::nullopt;
  const PixelBox box = frame == CutoutFrame::kWhole ? whole(mask) : *tight;
  const auto alpha = crop(mask, box, 255);
  std::vector<std::uint8_t> samples(4 * alpha.size());
  const auto columns = static_cast<std::size_t>(box.width);
  for (std::size_t k = 0; k < alpha.size(); ++k) {
    if (alpha[k] == 0) continue;
    const std::size_t y = static_cast<std::size_t>(box.y) + k / columns;
    const std::size_t x = static_cast<std::size_t>(box.x) + k % columns;
    const std::uint8_t* colour = image.rgb.data() + 3 * (y * static_cast<std::size_t>(image.width) + x);
    std::copy_n(colour, 3, samples.begin() + static_cast<std::ptrdiff_t>(4 * k));
    samples[4 * k + 3] = 255;
  }
  return Cutout{write_png(PngPixels::kRgba8, box.width, box.height, samples), box};
}

}  // namespace samlet::formats
