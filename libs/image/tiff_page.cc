#include "libs/image/tiff_page.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "libs/base/checked.h"
#include "libs/image/codec.h"
#include "libs/image/tiff_directory.h"
#include "samlet/error.h"

namespace samlet {
namespace {

constexpr std::string_view kKind = "TIFF";

/// Pages are counted up to this number only.
constexpr std::uint64_t kMostPages = 100'000;
/// libtiff takes time by the square of a directory's entries. Camera raw files have some 150.
constexpr std::uint64_t kMostEntries = 1000;
/// Pillow's limit too.
constexpr std::uint32_t kMostBands = 6;
/// Of a palette for 16 bits.
constexpr std::uint64_t kMostPaletteValues = 196'608;

// Tags.
constexpr std::uint16_t kNewSubfileType = 254;
constexpr std::uint16_t kImageWidth = 256;
constexpr std::uint16_t kImageLength = 257;
constexpr std::uint16_t kBitsPerSample = 258;
constexpr std::uint16_t kCompression = 259;
constexpr std::uint16_t kPhotometric = 262;
constexpr std::uint16_t kOrientation = 274;
constexpr std::uint16_t kSamplesPerPixel = 277;
constexpr std::uint16_t kPlanarConfiguration = 284;
constexpr std::uint16_t kColorMap = 320;
constexpr std::uint16_t kSubIfds = 330;
constexpr std::uint16_t kInkSet = 332;
constexpr std::uint16_t kExtraSamples = 338;
constexpr std::uint16_t kSampleFormat = 339;
constexpr std::uint16_t kXmp = 700;
constexpr std::uint16_t kDngVersion = 50706;

constexpr std::uint32_t kColourFilterArray = 32803;
constexpr std::uint32_t kLinearRaw = 34892;

// Extra samples.
constexpr std::uint32_t kUnspecified = 0;
constexpr std::uint32_t kPremultiplied = 1;
constexpr std::uint32_t kAlpha = 2;
constexpr std::uint32_t kCorelAlpha = 999;  // Corel Draw 10

struct Name {
  std::uint32_t number;
  std::string_view name;
};

// Compressions of sensor data alone.
constexpr std::uint32_t kSonyRaw = 32767;
constexpr std::uint32_t kNikonRaw = 34713;

constexpr std::array kCompressions{
    Name{1, "none"},          Name{2, "CCITT run lengths"},
    Name{3, "CCITT group 3"}, Name{4, "CCITT group 4"},
    Name{5, "LZW"},           Name{7, "JPEG"},
    Name{8, "deflate"},       Name{32771, "CCITT run lengths in words"},
    Name{32773, "PackBits"},  Name{32809, "ThunderScan"},
    Name{32946, "deflate"},   Name{34925, "LZMA"},
    Name{50000, "Zstandard"}, Name{50001, "WebP"},
};
constexpr std::array kRefusedCompressions{
    Name{6, "old-style JPEG"}, Name{9, "JBIG"},           Name{10, "JBIG colour"},   Name{32766, "NeXT"},
    Name{32908, "PixarFilm"},  Name{32909, "PixarLog"},   Name{33003, "JPEG 2000"},  Name{33005, "JPEG 2000"},
    Name{34661, "JBIG"},       Name{34676, "SGI LogL"},   Name{34677, "SGI LogLuv"}, Name{34712, "JPEG 2000"},
    Name{34887, "LERC"},       Name{34892, "lossy JPEG"}, Name{50002, "JPEG XL"},    Name{52546, "JPEG XL"},
};
constexpr std::array kRefusedColours{
    Name{4, "a transparency mask"}, Name{8, "CIE L*a*b*"},      Name{9, "ICC L*a*b*"},
    Name{10, "ITU L*a*b*"},         Name{32844, "CIE Log2(L)"}, Name{32845, "CIE Log2(L) (u',v')"},
};

template <std::size_t N>
std::string_view find_name(const std::array<Name, N>& names, std::uint32_t number) {
  const auto found =
      std::find_if(names.begin(), names.end(), [number](const Name& name) { return name.number == number; });
  return found == names.end() ? std::string_view{} : found->name;
}

[[noreturn]] void refuse(std::string_view what, std::string_view next_step) {
  throw Error(ErrorCode::kImageUnreadable,
              fmt::format("this TIFF picture has {}, which is not read; {}", what, next_step));
}

// ---- Reading the directory.

std::optional<std::uint32_t> to_u32(std::optional<double> value) {
  // The comparison is false for a NaN.
  if (!value || !(*value >= 0.0 && *value <= 4294967295.0)) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

std::uint32_t first_number(const TiffField& field) {
  const auto value = to_u32(field.number());
  if (!value) throw_damaged(kKind, fmt::format("the value of its tag {} is not a number", field.tag));
  return *value;
}

/// Up to `most` values; more are no use, and the count is the file's word.
std::vector<std::uint32_t> numbers(const TiffField& field, std::uint64_t most) {
  std::vector<std::uint32_t> values;
  for (std::uint64_t i = 0; i < std::min(field.count, most); ++i) {
    const auto value = to_u32(field.number(i));
    if (!value) throw_damaged(kKind, fmt::format("a value of its tag {} is not a number", field.tag));
    values.push_back(*value);
  }
  return values;
}

/// Collects the fields of the first directory.
struct Found {
  TiffPage page;
  std::uint32_t subfile_type = 0;
  std::uint32_t ink_set = 1;
  std::optional<std::uint32_t> orientation;
  std::string_view xmp;
  std::vector<std::uint32_t> sub_directories;
  bool dng = false;
};

void take_colours(const TiffField& field, Found& found) {
  switch (field.tag) {
    case kBitsPerSample:
      found.page.bits = numbers(field, kMostBands + 1);
      break;
    case kSampleFormat:
      found.page.sample_formats = numbers(field, kMostBands + 1);
      break;
    case kExtraSamples:
      found.page.extras = numbers(field, kMostBands + 1);
      break;
    case kColorMap:
      found.page.palette = numbers(field, kMostPaletteValues);
      break;
    case kSamplesPerPixel:
      found.page.bands = first_number(field);
      break;
    case kCompression:
      found.page.compression = static_cast<TiffCompression>(first_number(field));
      break;
    case kPhotometric:
      found.page.photometric = static_cast<TiffPhotometric>(first_number(field));
      break;
    case kPlanarConfiguration:
      found.page.planar = to_u32(field.number()) == 2;
      break;
    case kInkSet:
      found.ink_set = to_u32(field.number()).value_or(1);
      break;
    default:
      break;
  }
}

void take(const TiffField& field, Found& found) {
  switch (field.tag) {
    case kNewSubfileType:
      found.subfile_type = to_u32(field.number()).value_or(0);
      break;
    case kImageWidth:
      found.page.width = first_number(field);
      break;
    case kImageLength:
      found.page.height = first_number(field);
      break;
    case kOrientation:
      // What is no number counts as upright, as everywhere.
      found.orientation = to_u32(field.number()).value_or(1);
      break;
    case kSubIfds:
      for (std::uint64_t i = 0; i < std::min<std::uint64_t>(field.count, 16); ++i) {
        if (const auto offset = to_u32(field.number(i))) found.sub_directories.push_back(*offset);
      }
      break;
    case kXmp:
      found.xmp = {reinterpret_cast<const char*>(field.data.data()), field.data.size()};
      break;
    case kDngVersion:
      found.dng = true;
      break;
    default:
      take_colours(field, found);
  }
}

/// Whether a directory's pixels are those of a camera's sensor.
bool is_sensor_data(std::span<const std::uint8_t> bytes, const TiffHeader& header, std::uint64_t offset) {
  TiffDirectory directory(bytes, header, offset);
  for (std::uint64_t i = 0; i < kMostEntries; ++i) {
    const auto field = directory.next();
    if (!field) break;
    const auto value = to_u32(field->number());
    if (field->tag == kPhotometric && (value == kColourFilterArray || value == kLinearRaw)) return true;
    if (field->tag == kCompression && (value == kSonyRaw || value == kNikonRaw)) return true;
  }
  return false;
}

void refuse_camera_raw(const Found& found, std::span<const std::uint8_t> bytes, const TiffHeader& header) {
  const auto photometric = static_cast<std::uint32_t>(found.page.photometric);
  // Pillow shows the preview of such files: a picture of 160x120 instead of the photograph.
  const bool preview = (found.subfile_type & 1) != 0 && !found.sub_directories.empty();
  // A thumbnail may also have the sensor's data in the page after it.
  const std::uint64_t after = next_tiff_directory(bytes, header, header.first).value_or(0);
  const bool followed = (found.subfile_type & 1) != 0 && after != 0 && is_sensor_data(bytes, header, after);
  const bool sensor =
      followed || photometric == kColourFilterArray || photometric == kLinearRaw ||
      std::any_of(found.sub_directories.begin(), found.sub_directories.end(),
                  [&](std::uint32_t offset) { return is_sensor_data(bytes, header, offset); });
  if (!found.dng && !preview && !sensor) return;
  throw Error(ErrorCode::kImageUnreadable,
              fmt::format("this is a camera raw picture ({}), which is not read; convert it to JPEG or PNG",
                          found.dng ? "DNG" : "NEF, ARW or a similar kind of TIFF"));
}

/// What libtiff would take time and memory for: the number of entries, and the data they refer to, which may
/// be the whole file over and over.
void check_weight(std::span<const std::uint8_t> bytes, const TiffHeader& header) {
  const TiffDirectoryWeight weight = weigh_tiff_directory(bytes, header, header.first);
  if (weight.entries > kMostEntries) {
    throw_damaged(kKind,
                  fmt::format("its directory has {} entries, more than {}", weight.entries, kMostEntries));
  }
  constexpr std::uint64_t kSmall = 1 << 20;
  if (weight.data_bytes > 2 * std::uint64_t{bytes.size()} + kSmall) {
    throw_damaged(
        kKind, fmt::format("its directory claims {} bytes of a file of {}", weight.data_bytes, bytes.size()));
  }
}

/// One value stands for all bands; surplus values are dropped, and equal ones are told once.
void unify(std::vector<std::uint32_t>& values, std::uint32_t bands) {
  if (values.size() > bands) values.resize(std::max<std::uint32_t>(bands, 1));
  if (std::all_of(values.begin(), values.end(),
                  [&](std::uint32_t value) { return value == values.front(); })) {
    values.resize(1);
  }
}

// ---- Judging what it says.

std::string_view format_name(std::uint32_t format) {
  switch (format) {
    case 1:
    case 4:  // "undefined", to be read as unsigned
      return "unsigned integers";
    case 2:
      return "signed integers";
    case 3:
      return "floating-point numbers";
    case 5:
      return "complex integers";
    case 6:
      return "complex floating-point numbers";
    default:
      return "numbers of an unknown format";
  }
}

/// "5 bands of 32-bit floating-point numbers".
std::string describe_samples(const TiffPage& page) {
  return fmt::format("{} band{} of {}-bit {}", page.bands, page.bands == 1 ? "" : "s",
                     fmt::join(page.bits, "/"),
                     page.sample_formats.size() > 1 ? "numbers of several formats"
                                                    : format_name(page.sample_formats.front()));
}

constexpr std::string_view kConvertSamples =
    "convert it to 8 or 16 bits a sample (unsigned integers), in one band (grey) or three (RGB)";

void check_samples(const TiffPage& page) {
  const std::uint32_t format = page.sample_formats.front();
  const bool whole = page.sample_formats.size() == 1 && (format == 1 || format == 4);
  const bool even = page.bits.size() == 1 && page.bits_each() >= 1 && page.bits_each() <= 16;
  if (!whole || !even) refuse(describe_samples(page), kConvertSamples);
}

void check_photometric(const TiffPage& page) {
  const auto number = static_cast<std::uint32_t>(page.photometric);
  if (page.colour_bands() != 0) return;
  const std::string_view name = find_name(kRefusedColours, number);
  refuse(fmt::format("colours that are {} ({})",
                     name.empty() ? fmt::format("of the unknown kind {}", number) : name,
                     describe_samples(page)),
         "convert it to RGB");
}

/// Grey and palettes may have one band more, colours up to Pillow's six; the first of them is what it says,
/// and the others must not be anything.
bool known_extras(const TiffPage& page) {
  const std::uint32_t colours = page.colour_bands();
  if (page.bands == colours) return page.extras.empty();
  // Four bands of RGB without a word about the fourth: alpha.
  if (page.photometric == TiffPhotometric::kRgb && page.bands == 4 && page.extras.empty()) return true;
  if (page.bands < colours || page.bands > kMostBands || page.extras.size() != page.bands - colours)
    return false;
  const std::uint32_t first = page.extras.front();
  if (std::any_of(page.extras.begin() + 1, page.extras.end(),
                  [](std::uint32_t e) { return e != kUnspecified; }))
    return false;
  switch (page.photometric) {
    case TiffPhotometric::kRgb:
      return first <= kAlpha || (first == kCorelAlpha && page.bands == 4);
    case TiffPhotometric::kBlackIsZero:
      return page.bands == 2 && first <= kAlpha;
    case TiffPhotometric::kWhiteIsZero:
    case TiffPhotometric::kPalette:
      return page.bands == 2 && (first == kUnspecified || first == kAlpha);
    case TiffPhotometric::kCmyk:
      return first == kUnspecified || first == kAlpha;
    case TiffPhotometric::kYcbcr:
      break;
  }
  return false;
}

void check_depth(const TiffPage& page) {
  const std::uint32_t bits = page.bits_each();
  bool known = true;
  switch (page.photometric) {
    case TiffPhotometric::kPalette:
      known = bits == 1 || bits == 2 || bits == 4 || bits == 8;
      break;
    case TiffPhotometric::kCmyk:
      known = bits == 8 || bits == 16;
      break;
    case TiffPhotometric::kYcbcr:
      known = bits == 8;
      break;
    default:
      break;
  }
  if (page.compression == TiffCompression::kJpeg) known = known && bits == 8;
  if (!known) refuse(describe_samples(page), kConvertSamples);
}

void check_palette(const TiffPage& page) {
  if (page.photometric != TiffPhotometric::kPalette) return;
  const std::size_t needed = std::size_t{3} << page.bits_each();
  if (page.palette.size() < needed) {
    throw_damaged(kKind,
                  fmt::format("its palette has {} values, {} are needed", page.palette.size(), needed));
  }
}

void check_compression(const TiffPage& page) {
  const auto number = static_cast<std::uint32_t>(page.compression);
  if (!find_name(kCompressions, number).empty()) return;
  const std::string_view name = find_name(kRefusedCompressions, number);
  refuse(
      name.empty() ? fmt::format("the unknown compression {}", number) : fmt::format("{} compression", name),
      "save it anew without compression or with LZW or deflate");
}

/// Bytes of packed data out of which the densest codes make all of the picture.
std::uint64_t least_bytes(const TiffPage& page) {
  const std::uint64_t pixels = std::uint64_t{page.width} * page.height;
  const std::uint64_t row = (std::uint64_t{page.width} * page.bands * page.bits_each() + 7) / 8;
  // Sides of 32 bits, with up to 12 bytes a pixel, may need more bits than there are.
  const std::uint64_t raw = checked_mul<std::uint64_t>(row, page.height).value_or(UINT64_MAX);
  switch (page.compression) {
    case TiffCompression::kNone:
      // YCbCr may have one chroma sample for 16 pixels.
      return page.photometric == TiffPhotometric::kYcbcr ? pixels : raw;
    case TiffCompression::kPackBits:
      return raw / 64;  // two bytes repeat one 128 times
    case TiffCompression::kLzw:
      return raw / 3 / 4096;  // 12 bits stand for at most 4096 bytes; chroma may be missing here too
    case TiffCompression::kDeflate:
    case TiffCompression::kOldDeflate:
      return raw / 3 / 1032;
    case TiffCompression::kJpeg:
      return pixels / 64 / 8;  // a block of 64 pixels has at least one bit
    case TiffCompression::kCcittRle:
    case TiffCompression::kCcittG3:
    case TiffCompression::kCcittG4:
    case TiffCompression::kCcittRleWords:
    case TiffCompression::kThunderScan:
    case TiffCompression::kLzma:
    case TiffCompression::kZstd:
    case TiffCompression::kWebp:
      break;
  }
  // No bound; a blank page of 35 million pixels has a thousand bytes in group 4.
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 24;
  return pixels <= kSmall ? 0 : pixels / 65536;
}

}  // namespace

std::uint32_t TiffPage::colour_bands() const {
  switch (photometric) {
    case TiffPhotometric::kWhiteIsZero:
    case TiffPhotometric::kBlackIsZero:
    case TiffPhotometric::kPalette:
      return 1;
    case TiffPhotometric::kRgb:
    case TiffPhotometric::kYcbcr:
      return 3;
    case TiffPhotometric::kCmyk:
      return 4;
  }
  return 0;
}

bool TiffPage::premultiplied() const {
  return !extras.empty() && extras.front() == kPremultiplied;
}

bool TiffPage::alpha() const {
  if (extras.empty()) return bands > colour_bands();
  return extras.front() != kUnspecified;
}

TiffPage read_tiff_page(std::span<const std::uint8_t> bytes) {
  const auto header = read_tiff_header(bytes);
  if (!header) throw_damaged(kKind, "it is truncated: it ends in its header");
  check_weight(bytes, *header);
  Found found;
  TiffDirectory directory(bytes, *header, header->first);
  // The first of equal tags wins, for Pillow as for libtiff.
  std::vector<std::uint16_t> seen;
  while (const auto field = directory.next()) {
    if (std::find(seen.begin(), seen.end(), field->tag) != seen.end()) continue;
    seen.push_back(field->tag);
    take(*field, found);
  }
  if (seen.empty()) throw_damaged(kKind, "it is truncated: its first directory is not in the file");
  refuse_camera_raw(found, bytes, *header);
  if (found.page.photometric == TiffPhotometric::kCmyk && found.ink_set != 1) {
    refuse(fmt::format("{} inks that are not CMYK", found.page.bands), "convert it to RGB");
  }
  unify(found.page.bits, found.page.bands);
  unify(found.page.sample_formats, found.page.bands);
  if (found.orientation) {
    const std::uint32_t value = *found.orientation;
    found.page.orientation = {
        value >= 1 && value <= 8 ? static_cast<Orientation>(value) : Orientation::kUpright, "TIFF"};
  } else if (const auto by_xmp = read_xmp_orientation(found.xmp)) {
    found.page.orientation = {*by_xmp, "XMP"};
  }
  found.page.frames = count_tiff_directories(bytes, *header, kMostPages);
  return std::move(found.page);
}

void check_tiff_page(const TiffPage& page, std::size_t file_bytes, const DecodeOptions& options) {
  check_claimed_size(kKind, page.width, page.height, options);
  check_samples(page);
  check_photometric(page);
  if (!known_extras(page)) refuse(describe_samples(page), kConvertSamples);
  check_depth(page);
  check_palette(page);
  check_compression(page);
  const std::uint64_t least = least_bytes(page);
  if (least > file_bytes) {
    throw_damaged(kKind,
                  fmt::format("it is truncated: a picture of {}x{} needs at least {} bytes, the file has {}",
                              page.width, page.height, least, file_bytes));
  }
}

std::string tiff_compression_name(TiffCompression compression) {
  const auto number = static_cast<std::uint32_t>(compression);
  const std::string_view name = find_name(kCompressions, number);
  return name.empty() ? fmt::format("compression {}", number) : std::string(name);
}

}  // namespace samlet
