// HEIC and AVIF through libheif, which crops (clap) and turns (irot, imir) the picture itself. EXIF and XMP
// do not turn it once more: the standard says so, pillow_heif and Pillow's AVIF plugin set the EXIF
// orientation to what the boxes say, which is 1 when there are none. (That plugin lets XMP turn an AVIF
// without EXIF; no reader of pictures does.)
#include "libs/image/heif_codec.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "libs/image/codec.h"
#include "libs/image/heif_boxes.h"
#include "samlet/error.h"

namespace samlet {
namespace {

struct Opened {
  std::string problem;
  std::unique_ptr<const HeifLibrary> library;
};

Opened open_installed() {
  Opened opened;
  opened.library = open_heif_library(kHeifLibraryName, opened.problem);
  return opened;
}

constexpr std::string_view kInstall =
    "install it (Debian 12: apt install libheif1; Debian 13: apt install libheif1 libheif-plugin-libde265 "
    "libheif-plugin-dav1d; macOS: brew install libheif) or convert the picture to JPEG or PNG";

HeifCodec codec_of(const HeifBoxes& boxes, HeifBrand brand) {
  if (boxes.item_type == "hvc1" || boxes.item_type == "hev1") return HeifCodec::kHevc;
  if (boxes.item_type == "av01") return HeifCodec::kAv1;
  // A picture made of others: of which kind, the brand tells.
  const bool composed = boxes.item_type == "grid" || boxes.item_type == "iovl" || boxes.item_type == "iden";
  if (!composed && !boxes.item_type.empty()) return HeifCodec::kOther;
  if (brand == HeifBrand::kAvif) return HeifCodec::kAv1;
  return brand == HeifBrand::kHeic ? HeifCodec::kHevc : HeifCodec::kOther;
}

std::string_view kind_of(HeifCodec codec) {
  switch (codec) {
    case HeifCodec::kHevc:
      return "HEIC";
    case HeifCodec::kAv1:
      return "AVIF";
    case HeifCodec::kOther:
      break;
  }
  return "HEIF";
}

/// Encoders round sides up to their blocks, of 64 pixels at most, and not all say so.
bool is_near(const HeifSize& a, const HeifSize& b) {
  constexpr std::int64_t kBlock = 64;
  return std::abs(std::int64_t{a.width} - b.width) <= kBlock &&
         std::abs(std::int64_t{a.height} - b.height) <= kBlock;
}

/// All that boxes and codec headers claim, also of tiles and thumbnails, is checked before libheif sees it:
/// it decodes pictures of any size, whatever the boxes say.
void check_sizes(std::string_view kind, const HeifBoxes& boxes, std::size_t file_bytes,
                 const DecodeOptions& options) {
  for (const auto* sizes : {&boxes.claimed, &boxes.coded}) {
    for (const HeifSize& size : *sizes) {
      check_claimed_size(kind, size.width, size.height, options);
      check_density(kind, size.width, size.height, file_bytes);
    }
  }
  if (boxes.claimed.empty()) return;
  for (const HeifSize& size : boxes.coded) {
    const bool known = std::any_of(boxes.claimed.begin(), boxes.claimed.end(),
                                   [&size](const HeifSize& claimed) { return is_near(size, claimed); });
    if (known) continue;
    throw_damaged(kind, fmt::format("its data holds {}x{} pixels, of which its header says nothing",
                                    size.width, size.height));
  }
}

void check_readable(const HeifLibrary* library, std::string_view problem, HeifCodec codec) {
  const std::string_view kind = kind_of(codec);
  const std::string_view article = codec == HeifCodec::kAv1 ? "an" : "a";
  if (library == nullptr) {
    throw Error(
        ErrorCode::kImageUnreadable,
        fmt::format("this is {} {} picture, and libheif, which reads it, could not be opened ({}); {}",
                    article, kind, problem, kInstall));
  }
  if (library->has_decoder(codec)) return;
  throw Error(
      ErrorCode::kImageUnreadable,
      fmt::format("this is {} {} picture, and the installed libheif has no decoder for it; install one "
                  "(Debian 13: apt install {}) or convert the picture to JPEG or PNG",
                  article, kind,
                  codec == HeifCodec::kAv1 ? "libheif-plugin-dav1d" : "libheif-plugin-libde265"));
}

/// v x 255 / largest, rounded, for every sample that the bits allow.
std::vector<std::uint8_t> table_of(int bits) {
  const std::uint32_t largest = (1U << bits) - 1;
  std::vector<std::uint8_t> table(std::size_t{largest} + 1);
  for (std::uint32_t v = 0; v <= largest; ++v) {
    table[v] = static_cast<std::uint8_t>((v * 255 + largest / 2) / largest);
  }
  return table;
}

Image to_image(const HeifPixels& pixels) {
  Image image{static_cast<int>(pixels.width), static_cast<int>(pixels.height), {}};
  const std::size_t samples = std::size_t{3} * pixels.width;
  image.rgb.resize(samples * pixels.height);
  const std::vector<std::uint8_t> table =
      pixels.bits > 8 ? table_of(pixels.bits) : std::vector<std::uint8_t>{};
  for (std::size_t y = 0; y < pixels.height; ++y) {
    const std::uint8_t* row = pixels.rows + y * pixels.stride;
    std::uint8_t* out = image.rgb.data() + y * samples;
    if (table.empty()) {
      std::copy_n(row, samples, out);
      continue;
    }
    for (std::size_t i = 0; i < samples; ++i) {
      const std::size_t value = row[2 * i] | std::size_t{row[2 * i + 1]} << 8;
      out[i] = table[std::min(value, table.size() - 1)];
    }
  }
  return image;
}

void describe(PictureInfo& info, std::string_view kind, const HeifBoxes& boxes, const HeifClaim& claim) {
  const bool turns = boxes.orientation >= Orientation::kTranspose;
  describe_stored(info, kind, turns ? claim.height : claim.width, turns ? claim.width : claim.height,
                  claim.bits, boxes.grey ? Colours::kGrey : Colours::kHeifYcbcr, claim.alpha);
  info.orientation = static_cast<int>(boxes.orientation);
  if (boxes.turned) info.orientation_source = kTurnedByLibheif;
  info.frames = std::max(claim.pictures, boxes.samples);
}

/// A grid of 256 x 256 tiles is the largest that HEIF has.
void check_parts(std::string_view kind, const HeifBoxes& boxes) {
  constexpr std::uint64_t kMostParts = 66'000;
  if (boxes.parts <= kMostParts) return;
  throw_damaged(
      kind,
      fmt::format(
          "its pictures are made of each other in a circle, of parts that are missing, or of more than {}",
          kMostParts));
}

}  // namespace

Picture decode_heif_with(const HeifLibrary* library, std::string_view problem,
                         std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  const HeifBoxes boxes = read_heif_boxes(bytes);
  const HeifCodec codec = codec_of(boxes, heif_brand(bytes));
  const std::string_view kind = kind_of(codec);
  check_sizes(kind, boxes, bytes.size(), options);
  if (boxes.truncated) throw_damaged(kind, "it is truncated: the data ends inside of a box");
  check_parts(kind, boxes);
  check_readable(library, problem, codec);
  const std::unique_ptr<HeifFile> file = library->parse(bytes, kind);
  const HeifClaim claim = file->claim();
  check_claimed_size(kind, claim.width, claim.height, options);
  check_density(kind, claim.width, claim.height, bytes.size());
  if (claim.premultiplied) {
    throw Error(
        ErrorCode::kImageUnreadable,
        fmt::format("the colours of this {} picture are multiplied with its alpha, which is not read; "
                    "convert it to JPEG or PNG",
                    kind));
  }
  const HeifPixels pixels = file->decode();
  // Again, from what was decoded: the data may be of another size than the boxes.
  check_claimed_size(kind, pixels.width, pixels.height, options);
  if (!is_near({pixels.width, pixels.height}, {claim.width, claim.height})) {
    throw_damaged(kind, fmt::format("its header says {}x{} pixels, its data holds {}x{}", claim.width,
                                    claim.height, pixels.width, pixels.height));
  }
  Picture picture;
  picture.image = to_image(pixels);
  describe(picture.info, kind, boxes, claim);
  if (!pixels.warning.empty()) {
    log(options.log, LogLevel::kWarning,
        fmt::format("parts of this {} picture are damaged and may look wrong ({})", kind, pixels.warning));
  }
  return picture;
}

Picture decode_heif(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  static const Opened kOpened = open_installed();
  return decode_heif_with(kOpened.library.get(), kOpened.problem, bytes, options);
}

}  // namespace samlet
