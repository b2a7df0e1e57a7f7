// PNG through libpng.
//
// libpng reports errors by leaving through longjmp, which must not pass over a C++ object that has a
// destructor. So every call into libpng stands in a function of the first part of this file: those have
// setjmp, touch only a plain struct, own nothing, and return whether they succeeded. The second part owns
// memory and throws.
#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "libs/base/checked.h"
#include "libs/image/codec.h"
#include "libs/image/png_metadata.h"
#include "libs/image/png_writer.h"
#include "samlet/error.h"

namespace samlet {
namespace {

constexpr std::string_view kKind = "PNG";
/// zlib's Z_RLE: run lengths and Huffman codes, no search for matches. With the Paeth filter it is both the
/// fastest and the smallest on photographs (1500x1125: 70 ms and 2.2 MB; level 6 with all filters: 715 ms
/// and 2.2 MB); on diagrams it is as fast as level 1 and up to 40 % larger than level 6.
constexpr int kRunLengthStrategy = 3;

// ---- First part: plain structs and calls that may end in longjmp.
// NOLINTBEGIN(cert-err52-cpp): the C library leaves its functions by longjmp only.

struct Message {
  std::array<char, 256> text;
};

struct Reader {
  png_structp png;
  png_infop info;
  Message message;
  const std::uint8_t* next;
  std::size_t left;
};

struct Writer {
  png_structp png;
  png_infop info;
  Message message;
  std::vector<std::uint8_t>* out;  // not owned
};

struct Samples {
  png_uint_32 width;
  png_uint_32 height;
  int bits;
  int colour_type;
  std::size_t stride;        // bytes of a row
  const std::uint8_t* rows;  // not owned
};

extern "C" {

void samlet_png_error(png_structp png, png_const_charp text) {
  auto* message = static_cast<Message*>(png_get_error_ptr(png));
  std::strncpy(message->text.data(), text, message->text.size() - 1);
  png_longjmp(png, 1);
}

void samlet_png_ignore_warning(png_structp, png_const_charp) {}

void samlet_png_read(png_structp png, png_bytep out, std::size_t count) {
  auto* reader = static_cast<Reader*>(png_get_io_ptr(png));
  if (count > reader->left) png_error(png, "it is truncated: the data ends too early");
  std::memcpy(out, reader->next, count);
  reader->next += count;
  reader->left -= count;
}

void samlet_png_write(png_structp png, png_bytep bytes, std::size_t count) {
  auto* writer = static_cast<Writer*>(png_get_io_ptr(png));
  bool stored = true;
  try {
    writer->out->insert(writer->out->end(), bytes, bytes + count);
  } catch (const std::exception&) {
    stored = false;
  }
  // Not inside of the handler: longjmp out of it would leave the exception alive.
  if (!stored) png_error(png, "out of memory");
}

void samlet_png_no_flush(png_structp) {}

}  // extern "C"

/// Reads up to the first IDAT, and asks for 8-bit RGB rows. Returns false on error.
bool start_reading(Reader& reader) noexcept {
  reader.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reader.message, samlet_png_error,
                                      samlet_png_ignore_warning);
  if (reader.png == nullptr) return false;
  reader.info = png_create_info_struct(reader.png);
  if (reader.info == nullptr) return false;
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  png_set_read_fn(reader.png, &reader, samlet_png_read);
  // The sides were checked against our own limit; libpng's default refuses sides above a million.
  png_set_user_limits(reader.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  // Colour profiles, gamma, text and transparency do not change the pixels (Pillow ignores them too): neither
  // unpacked nor stored, so they cannot be bombs either.
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  static constexpr png_byte kTransparency[] = "tRNS";
  png_set_keep_unknown_chunks(reader.png, PNG_HANDLE_CHUNK_NEVER, kTransparency, 1);
  png_read_info(reader.png, reader.info);
  png_set_scale_16(reader.png);  // round(v / 257)
  png_set_expand_gray_1_2_4_to_8(reader.png);
  if (png_get_color_type(reader.png, reader.info) == PNG_COLOR_TYPE_PALETTE)
    png_set_palette_to_rgb(reader.png);
  png_set_gray_to_rgb(reader.png);
  png_set_strip_alpha(reader.png);
  png_set_interlace_handling(reader.png);
  png_read_update_info(reader.png, reader.info);
  return true;
}

/// Reads `rows` rows of `stride` bytes each. Interlaced files need all of them at once, once for each pass.
bool read_rows(Reader& reader, std::uint8_t* out, std::size_t stride, std::size_t rows) noexcept {
  if (setjmp(png_jmpbuf(reader.png)) != 0) return false;
  for (std::size_t y = 0; y < rows; ++y) png_read_row(reader.png, out + y * stride, nullptr);
  return true;
}

bool write_file(Writer& writer, const Samples& samples) noexcept {
  writer.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &writer.message, samlet_png_error,
                                       samlet_png_ignore_warning);
  if (writer.png == nullptr) return false;
  writer.info = png_create_info_struct(writer.png);
  if (writer.info == nullptr) return false;
  if (setjmp(png_jmpbuf(writer.png)) != 0) return false;
  png_set_write_fn(writer.png, &writer, samlet_png_write, samlet_png_no_flush);
  png_set_user_limits(writer.png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
  png_set_compression_level(writer.png, 1);
  png_set_compression_strategy(writer.png, kRunLengthStrategy);
  png_set_filter(writer.png, PNG_FILTER_TYPE_BASE, PNG_FILTER_PAETH);
  png_set_IHDR(writer.png, writer.info, samples.width, samples.height, samples.bits, samples.colour_type,
               PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(writer.png, writer.info);
  for (std::size_t y = 0; y < samples.height; ++y) {
    png_write_row(writer.png, samples.rows + y * samples.stride);
  }
  png_write_end(writer.png, nullptr);
  return true;
}

// NOLINTEND(cert-err52-cpp)
// ---- Second part: ownership, checks and exceptions.

class ReaderOwner {
 public:
  explicit ReaderOwner(std::span<const std::uint8_t> bytes) {
    reader_.next = bytes.data();
    reader_.left = bytes.size();
  }
  ~ReaderOwner() { png_destroy_read_struct(&reader_.png, &reader_.info, nullptr); }
  ReaderOwner(const ReaderOwner&) = delete;
  ReaderOwner& operator=(const ReaderOwner&) = delete;
  [[nodiscard]] Reader& get() { return reader_; }

 private:
  Reader reader_{};
};

class WriterOwner {
 public:
  explicit WriterOwner(std::vector<std::uint8_t>& out) { writer_.out = &out; }
  ~WriterOwner() { png_destroy_write_struct(&writer_.png, &writer_.info); }
  WriterOwner(const WriterOwner&) = delete;
  WriterOwner& operator=(const WriterOwner&) = delete;
  [[nodiscard]] Writer& get() { return writer_; }

 private:
  Writer writer_{};
};

void check(bool succeeded, const Reader& reader) {
  if (succeeded) return;
  const std::string_view text = reader.message.text.data();
  throw_damaged(kKind, text.empty() ? "libpng could not start" : text);
}

/// Deflate makes at most 1032 bytes out of one. A header whose picture could not possibly be in the file is
/// refused before memory is taken for it.
void check_plausible(const PngHeader& header, std::size_t file_bytes) {
  constexpr std::uint64_t kMaxRatio = 1032;
  static constexpr std::array<std::uint64_t, 7> kChannels{1, 0, 3, 1, 2, 0, 4};
  const std::uint64_t channels = header.colour_type < kChannels.size() ? kChannels[header.colour_type] : 0;
  const std::uint64_t row_bits = std::uint64_t{header.width} * channels * header.bit_depth;
  const auto raw_bytes = checked_mul<std::uint64_t>(row_bits / 8, header.height);
  if (raw_bytes && *raw_bytes / kMaxRatio <= file_bytes) return;
  throw_damaged(kKind, fmt::format("it is truncated: a picture of {}x{} cannot be in {} bytes", header.width,
                                   header.height, file_bytes));
}

Colours colours_of(const PngHeader& header) {
  if ((header.colour_type & PNG_COLOR_MASK_PALETTE) != 0) return Colours::kPalette;
  if ((header.colour_type & PNG_COLOR_MASK_COLOR) != 0) return Colours::kRgb;
  return header.bit_depth == 1 ? Colours::kBilevel : Colours::kGrey;
}

/// The rows are appended as they are decoded, so that memory is only touched for data that is really there.
Image decode_pixels(Reader& reader) {
  const std::size_t width = png_get_image_width(reader.png, reader.info);
  const std::size_t height = png_get_image_height(reader.png, reader.info);
  const std::size_t stride = 3 * width;
  if (png_get_rowbytes(reader.png, reader.info) != stride) {
    throw Error(ErrorCode::kInternal, "libpng does not give RGB rows for this PNG picture; please report it");
  }
  Image image{static_cast<int>(width), static_cast<int>(height), {}};
  if (png_get_interlace_type(reader.png, reader.info) != PNG_INTERLACE_NONE) {
    image.rgb.resize(stride * height);
    for (int pass = 0; pass < 7; ++pass) check(read_rows(reader, image.rgb.data(), stride, height), reader);
    return image;
  }
  image.rgb.reserve(stride * height);
  constexpr std::size_t kRowsAtOnce = 16;
  for (std::size_t y = 0; y < height; y += kRowsAtOnce) {
    const std::size_t rows = std::min(kRowsAtOnce, height - y);
    image.rgb.resize(stride * (y + rows));
    check(read_rows(reader, image.rgb.data() + stride * y, stride, rows), reader);
  }
  return image;
}

}  // namespace

Picture decode_png(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  const auto header = read_png_header(bytes);
  if (!header) throw_damaged(kKind, "it is truncated or its header chunk IHDR is damaged");
  check_claimed_size(kKind, header->width, header->height, options);
  check_plausible(*header, bytes.size());
  ReaderOwner owner(bytes);
  Reader& reader = owner.get();
  check(start_reading(reader), reader);
  Picture picture;
  picture.image = decode_pixels(reader);
  const PngMetadata metadata = read_png_metadata(bytes);
  describe_stored(picture.info, kKind, header->width, header->height, header->bit_depth, colours_of(*header),
                  (header->colour_type & PNG_COLOR_MASK_ALPHA) != 0);
  describe_orientation(picture.info, metadata.exif, metadata.xmp);
  picture.info.frames = metadata.frames;
  return picture;
}

std::size_t bytes_per_pixel(PngPixels pixels) noexcept {
  switch (pixels) {
    case PngPixels::kGrey8:
      return 1;
    case PngPixels::kGrey16:
      return 2;
    case PngPixels::kRgb8:
      return 3;
    case PngPixels::kRgba8:
      return 4;
  }
  return 0;
}

std::vector<std::uint8_t> write_png(PngPixels pixels, int width, int height,
                                    std::span<const std::uint8_t> samples) {
  const std::size_t stride = bytes_per_pixel(pixels) * static_cast<std::size_t>(std::max(width, 0));
  if (width <= 0 || height <= 0 || samples.size() % stride != 0 ||
      samples.size() / stride != static_cast<std::size_t>(height)) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{} bytes are not the samples of a PNG picture of {}x{} with {} "
                            "byte(s) a pixel; give all rows and nothing else",
                            samples.size(), width, height, bytes_per_pixel(pixels)));
  }
  int colour_type = PNG_COLOR_TYPE_GRAY;
  if (pixels == PngPixels::kRgb8) colour_type = PNG_COLOR_TYPE_RGB;
  if (pixels == PngPixels::kRgba8) colour_type = PNG_COLOR_TYPE_RGB_ALPHA;
  std::vector<std::uint8_t> bytes;
  WriterOwner owner(bytes);
  Writer& writer = owner.get();
  const int bits = pixels == PngPixels::kGrey16 ? 16 : 8;
  if (!write_file(writer, {static_cast<png_uint_32>(width), static_cast<png_uint_32>(height), bits,
                           colour_type, stride, samples.data()})) {
    throw Error(ErrorCode::kInternal, fmt::format("libpng could not write a picture of {}x{}: {}", width,
                                                  height, writer.message.text.data()));
  }
  return bytes;
}

std::vector<std::uint8_t> encode_png(const Image& image) {
  return write_png(PngPixels::kRgb8, image.width, image.height, image.rgb);
}

}  // namespace samlet
