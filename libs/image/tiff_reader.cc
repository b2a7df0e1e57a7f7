#include "libs/image/tiff_reader.h"

#include <tiffio.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "libs/image/codec.h"
#include "samlet/error.h"

namespace samlet {
namespace {

constexpr std::string_view kKind = "TIFF";

// ---- The file for libtiff, in memory.

struct Source {
  std::span<const std::uint8_t> bytes;
  std::array<std::uint8_t, 4> head{};  // what libtiff sees instead of the first four
  std::uint64_t position = 0;
  std::array<char, 256> error{};    // libtiff's first
  std::array<char, 256> warning{};  // libtiff's first since the directory was read
};

extern "C" {

tmsize_t samlet_tiff_read(thandle_t handle, void* out, tmsize_t count) {
  auto* source = static_cast<Source*>(handle);
  if (count <= 0 || source->position >= source->bytes.size()) return 0;
  const auto start = static_cast<std::size_t>(source->position);
  const std::size_t size = std::min(static_cast<std::size_t>(count), source->bytes.size() - start);
  auto* to = static_cast<std::uint8_t*>(out);
  std::memcpy(to, source->bytes.data() + start, size);
  for (std::size_t i = start; i < source->head.size() && i - start < size; ++i)
    to[i - start] = source->head[i];
  source->position += size;
  return static_cast<tmsize_t>(size);
}

tmsize_t samlet_tiff_write(thandle_t, void*, tmsize_t) {
  return 0;
}

toff_t samlet_tiff_seek(thandle_t handle, toff_t offset, int whence) {
  auto* source = static_cast<Source*>(handle);
  if (whence == SEEK_CUR) offset += source->position;
  if (whence == SEEK_END) offset += source->bytes.size();
  source->position = offset;  // Past the end there is nothing to read; offsets are unsigned.
  return offset;
}

int samlet_tiff_close(thandle_t) {
  return 0;
}

toff_t samlet_tiff_size(thandle_t handle) {
  return static_cast<Source*>(handle)->bytes.size();
}

// Lends libtiff the bytes, so that it copies no strip. It only reads them: files are mapped read-only
// usually.
int samlet_tiff_map(thandle_t handle, void** base, toff_t* size) {
  auto* source = static_cast<Source*>(handle);
  *base = const_cast<std::uint8_t*>(source->bytes.data());
  *size = source->bytes.size();
  return 1;
}

void samlet_tiff_unmap(thandle_t, void*, toff_t) {}

int samlet_tiff_error(TIFF*, void* user, const char*, const char* format, std::va_list words)
    __attribute__((format(printf, 4, 0)));
int samlet_tiff_warning(TIFF*, void* user, const char*, const char* format, std::va_list words)
    __attribute__((format(printf, 4, 0)));

// A result other than 0 keeps libtiff from calling the process's handlers, which print.
int samlet_tiff_error(TIFF*, void* user, const char*, const char* format, std::va_list words) {
  auto* source = static_cast<Source*>(user);
  if (source->error[0] == 0) (void)std::vsnprintf(source->error.data(), source->error.size(), format, words);
  return 1;
}

int samlet_tiff_warning(TIFF*, void* user, const char*, const char* format, std::va_list words) {
  auto* source = static_cast<Source*>(user);
  if (source->warning[0] == 0)
    (void)std::vsnprintf(source->warning.data(), source->warning.size(), format, words);
  return 1;
}

}  // extern "C"

[[noreturn]] void throw_words(std::string_view words) {
  if (words.empty()) words = "libtiff could not read it";
  // What libtiff says where data ends too early.
  const bool truncated = words.find("Not enough data") != std::string_view::npos ||
                         words.find("Read error") != std::string_view::npos ||
                         words.find("Premature") != std::string_view::npos;
  throw_damaged(kKind, fmt::format("{}{}", truncated ? "it is truncated: " : "", words));
}

}  // namespace

struct TiffReader::State {
  Source source;
  std::unique_ptr<TIFF, decltype(&TIFFClose)> tiff{nullptr, &TIFFClose};
};

TiffReader::TiffReader(std::span<const std::uint8_t> bytes, const TiffPage& page)
    : state_(std::make_unique<State>()) {
  Source& source = state_->source;
  source.bytes = bytes;
  std::copy_n(bytes.begin(), source.head.size(), source.head.begin());
  // The two headers with the 42 in the wrong byte order, which Pillow reads and libtiff does not.
  if (source.head[source.head[0] == 'I' ? 3 : 2] == 0x2A) std::swap(source.head[2], source.head[3]);
  const std::unique_ptr<TIFFOpenOptions, decltype(&TIFFOpenOptionsFree)> options(TIFFOpenOptionsAlloc(),
                                                                                 &TIFFOpenOptionsFree);
  if (options == nullptr) throw std::bad_alloc();
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), &samlet_tiff_error, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), &samlet_tiff_warning, &source);
  constexpr std::size_t kOwnMemory = std::size_t{64} << 20;
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), static_cast<tmsize_t>(kOwnMemory + 4 * bytes.size()));
  state_->tiff.reset(TIFFClientOpenExt("", "r", &source, &samlet_tiff_read, &samlet_tiff_write,
                                       &samlet_tiff_seek, &samlet_tiff_close, &samlet_tiff_size,
                                       &samlet_tiff_map, &samlet_tiff_unmap, options.get()));
  if (state_->tiff == nullptr) throw_words(source.error.data());
  compare(page);
  source.error[0] = 0;
  source.warning[0] = 0;
}

TiffReader::~TiffReader() = default;

bool TiffReader::tiled() const {
  return TIFFIsTiled(state_->tiff.get()) != 0;
}

std::array<std::uint32_t, 2> TiffReader::tile_size() const {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  TIFFGetField(state_->tiff.get(), TIFFTAG_TILEWIDTH, &width);
  TIFFGetField(state_->tiff.get(), TIFFTAG_TILELENGTH, &height);
  if (width == 0 || height == 0)
    throw_damaged(kKind, fmt::format("its tiles have {}x{} pixels", width, height));
  return {width, height};
}

std::uint32_t TiffReader::rows_per_strip() const {
  std::uint32_t rows = 0;
  TIFFGetFieldDefaulted(state_->tiff.get(), TIFFTAG_ROWSPERSTRIP, &rows);
  if (rows == 0) throw_damaged(kKind, "its strips have no rows");
  return rows;
}

std::array<std::uint16_t, 2> TiffReader::chroma_subsampling() const {
  std::uint16_t across = 0;
  std::uint16_t down = 0;
  TIFFGetFieldDefaulted(state_->tiff.get(), TIFFTAG_YCBCRSUBSAMPLING, &across, &down);
  return {across, down};
}

std::int64_t TiffReader::row_bytes() const {
  return TIFFScanlineSize(state_->tiff.get());
}

std::int64_t TiffReader::tile_bytes() const {
  return TIFFTileSize(state_->tiff.get());
}

std::int64_t TiffReader::strip_bytes(std::uint32_t rows) const {
  return TIFFVStripSize(state_->tiff.get(), rows);
}

void TiffReader::let_jpeg_make_rgb() {
  TIFFSetField(state_->tiff.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
}

std::string_view TiffReader::warning() const {
  return state_->source.warning.data();
}

/// libtiff must read the same picture out of the directory as we have judged.
void TiffReader::compare(const TiffPage& page) const {
  TIFF* tiff = state_->tiff.get();
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint16_t bands = 0;
  std::uint16_t bits = 0;
  std::uint16_t compression = 0;
  std::uint16_t planar = 0;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &bands);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_COMPRESSION, &compression);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_PLANARCONFIG, &planar);
  if (width != page.width || height != page.height || bands != page.bands || bits != page.bits_each() ||
      compression != static_cast<std::uint32_t>(page.compression) ||
      (planar == PLANARCONFIG_SEPARATE) != page.planar) {
    throw_damaged(kKind, state_->source.error[0] != 0 ? state_->source.error.data()
                                                      : "its directory contradicts itself");
  }
}

void TiffReader::check_present(std::uint32_t strile) const {
  TIFF* tiff = state_->tiff.get();
  const std::uint64_t offset = TIFFGetStrileOffset(tiff, strile);
  const std::uint64_t count = TIFFGetStrileByteCount(tiff, strile);
  if (offset <= state_->source.bytes.size() && count <= state_->source.bytes.size() - offset) return;
  throw_damaged(
      kKind, fmt::format("it is truncated: the {} bytes of its {} {} begin at byte {} of a file of {}", count,
                         tiled() ? "tile" : "strip", strile, offset, state_->source.bytes.size()));
}

/// Where a fax or a JPEG ends too early libtiff only warns, and leaves the rest of the rows as they were.
void TiffReader::check_damage() const {
  if (warning().find("Premature") != std::string_view::npos) throw_words(warning());
}

void TiffReader::read_row(std::uint32_t y, std::uint16_t band, std::span<std::uint8_t> out) {
  TIFF* tiff = state_->tiff.get();
  const std::uint32_t rows = rows_per_strip();
  if (y % rows == 0) check_present(TIFFComputeStrip(tiff, y, band));
  if (TIFFReadScanline(tiff, out.data(), y, band) != 1) throw_words(state_->source.error.data());
  check_damage();
}

void TiffReader::read_tile(std::size_t x, std::size_t y, std::uint16_t band, std::span<std::uint8_t> out) {
  TIFF* tiff = state_->tiff.get();
  const std::uint32_t tile =
      TIFFComputeTile(tiff, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y), 0, band);
  check_present(tile);
  const auto size = static_cast<tmsize_t>(out.size());
  if (TIFFReadEncodedTile(tiff, tile, out.data(), size) != size) throw_words(state_->source.error.data());
  check_damage();
}

void TiffReader::read_strip(std::uint32_t y, std::uint16_t band, std::span<std::uint8_t> out) {
  TIFF* tiff = state_->tiff.get();
  const std::uint32_t strip = TIFFComputeStrip(tiff, y, band);
  check_present(strip);
  const auto size = static_cast<tmsize_t>(out.size());
  if (TIFFReadEncodedStrip(tiff, strip, out.data(), size) != size) throw_words(state_->source.error.data());
  check_damage();
}

namespace {

TIFFYCbCrToRGB* table_in(std::vector<std::max_align_t>& memory) {
  return reinterpret_cast<TIFFYCbCrToRGB*>(memory.data());
}

}  // namespace

TiffYcbcr::TiffYcbcr(const TiffReader& reader) {
  // libtiff puts its tables behind the struct: one of clamped bytes, two of int, three of int32_t.
  constexpr std::size_t kBytes = sizeof(TIFFYCbCrToRGB) + sizeof(long) + 1024 * sizeof(TIFFRGBValue) +
                                 512 * sizeof(int) + 768 * sizeof(std::int32_t);
  memory_.resize(kBytes / sizeof(std::max_align_t) + 1);
  TIFF* tiff = reader.state_->tiff.get();
  float* luma = nullptr;
  float* reference = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_YCBCRCOEFFICIENTS, &luma);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_REFERENCEBLACKWHITE, &reference);
  constexpr float kLargest = 1e6F;
  const auto sane = [](float value) { return std::fabs(value) <= kLargest; };  // false for a NaN
  if (luma == nullptr || reference == nullptr || !std::all_of(luma, luma + 3, sane) ||
      std::fabs(luma[1]) < 1e-3F || !std::all_of(reference, reference + 6, sane) ||
      TIFFYCbCrToRGBInit(table_in(memory_), luma, reference) < 0) {
    throw_damaged(kKind, "the numbers of its YCbCr colours make no sense");
  }
  constexpr std::array kLuma{0.299F, 0.587F, 0.114F};
  constexpr std::array kReference{0.0F, 255.0F, 128.0F, 255.0F, 128.0F, 255.0F};
  const auto near = [](float a, float b) { return std::fabs(a - b) < 1e-4F; };
  plain_ = std::equal(kLuma.begin(), kLuma.end(), luma, near) &&
           std::equal(kReference.begin(), kReference.end(), reference, near);
}

void TiffYcbcr::convert(std::uint8_t y, std::uint8_t cb, std::uint8_t cr, std::uint8_t* rgb) {
  std::uint32_t r = 0;
  std::uint32_t g = 0;
  std::uint32_t b = 0;
  TIFFYCbCrtoRGB(table_in(memory_), y, cb, cr, &r, &g, &b);
  rgb[0] = static_cast<std::uint8_t>(r);
  rgb[1] = static_cast<std::uint8_t>(g);
  rgb[2] = static_cast<std::uint8_t>(b);
}

bool tiff_codec_present(TiffCompression compression) {
  return TIFFIsCODECConfigured(static_cast<std::uint16_t>(compression)) != 0;
}

}  // namespace samlet
