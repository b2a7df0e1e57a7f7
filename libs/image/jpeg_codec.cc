// JPEG through libjpeg-turbo's jpeglib API.
//
// libjpeg reports errors by leaving through longjmp, which must not pass over a C++ object that has a
// destructor. So every call into libjpeg stands in a function of the first part of this file: those have
// setjmp, touch only a plain struct, own nothing, and return a status. The second part owns memory and
// throws.
#include <csetjmp>
#include <cstddef>
#include <cstdio>  // jpeglib.h needs FILE and size_t
#include <cstdlib>

#include <jpeglib.h>
// jerror.h gives the message codes; it needs jpeglib.h first.
#include <jerror.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/image/codec.h"
#include "libs/image/jpeg_header.h"
#include "samlet/error.h"

namespace samlet {
namespace {

constexpr std::string_view kKind = "JPEG";

/// A picture needs about ten scans. Each scan costs a pass over the whole picture whatever it weighs in
/// bytes, so their number bounds what a small file can cost.
constexpr int kMaxScans = 100;

// ---- First part: plain structs and calls that may end in longjmp.
// NOLINTBEGIN(cert-err52-cpp): the C library leaves its functions by longjmp only.

/// What the callbacks share with the calls. `client_data` of the libjpeg object points to it.
struct Escape {
  std::jmp_buf target;
  std::array<char, JMSG_LENGTH_MAX> message;
  int message_code;
  std::array<char, JMSG_LENGTH_MAX> damage;  // the first warning that means lost pixels
};

struct Decoder {
  jpeg_decompress_struct jpeg;
  jpeg_error_mgr errors;
  jpeg_source_mgr source;
  jpeg_progress_mgr progress;
  Escape escape;
};

struct Encoder {
  jpeg_compress_struct jpeg;
  jpeg_error_mgr errors;
  Escape escape;
  unsigned char* bytes;  // malloc'ed by libjpeg
  unsigned long size;
};

enum class Status { kDone, kOutOfData, kFailed };

extern "C" {

void samlet_jpeg_error_exit(j_common_ptr jpeg) {
  auto* escape = static_cast<Escape*>(jpeg->client_data);
  escape->message_code = jpeg->err->msg_code;
  (*jpeg->err->format_message)(jpeg, escape->message.data());
  std::longjmp(escape->target, 1);
}

void samlet_jpeg_ignore_message(j_common_ptr) {}

// Keeps the first warning that means lost pixels; others are about bytes between the parts, which many
// cameras leave there. The default would print them all on standard error.
void samlet_jpeg_keep_damage(j_common_ptr jpeg, int level) {
  if (level >= 0) return;  // a trace message
  switch (jpeg->err->msg_code) {
    case JWRN_ARITH_BAD_CODE:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_JPEG_EOF:
    case JWRN_MUST_RESYNC:
      break;
    default:
      return;
  }
  auto* escape = static_cast<Escape*>(jpeg->client_data);
  if (escape->damage[0] == 0) (*jpeg->err->format_message)(jpeg, escape->damage.data());
}

void samlet_jpeg_ignore_source(j_decompress_ptr) {}

// "No more bytes": libjpeg then suspends, and its calls return early instead of inventing pixels.
boolean samlet_jpeg_no_more_bytes(j_decompress_ptr) {
  return FALSE;
}

void samlet_jpeg_skip_bytes(j_decompress_ptr jpeg, long count) {
  if (count <= 0) return;
  const std::size_t skipped = std::min(static_cast<std::size_t>(count), jpeg->src->bytes_in_buffer);
  jpeg->src->next_input_byte += skipped;
  jpeg->src->bytes_in_buffer -= skipped;
}

void samlet_jpeg_limit_scans(j_common_ptr jpeg) {
  // Only decompressors get this callback.
  const auto* decompressor = reinterpret_cast<j_decompress_ptr>(jpeg);
  if (decompressor->input_scan_number <= kMaxScans) return;
  auto* escape = static_cast<Escape*>(jpeg->client_data);
  std::snprintf(escape->message.data(), escape->message.size(), "more than %d scans", kMaxScans);
  std::longjmp(escape->target, 1);
}

}  // extern "C"

/// Sets up error handling, source and limits, and reads the header until the first scan.
Status read_header(Decoder& decoder, const std::uint8_t* bytes, std::size_t size) noexcept {
  decoder.jpeg.err = jpeg_std_error(&decoder.errors);
  decoder.errors.error_exit = samlet_jpeg_error_exit;
  decoder.errors.output_message = samlet_jpeg_ignore_message;
  decoder.errors.emit_message = samlet_jpeg_keep_damage;
  decoder.jpeg.client_data = &decoder.escape;
  if (setjmp(decoder.escape.target) != 0) return Status::kFailed;
  jpeg_create_decompress(&decoder.jpeg);
  decoder.source.init_source = samlet_jpeg_ignore_source;
  decoder.source.fill_input_buffer = samlet_jpeg_no_more_bytes;
  decoder.source.skip_input_data = samlet_jpeg_skip_bytes;
  decoder.source.resync_to_restart = jpeg_resync_to_restart;
  decoder.source.term_source = samlet_jpeg_ignore_source;
  decoder.source.next_input_byte = bytes;
  decoder.source.bytes_in_buffer = size;
  decoder.jpeg.src = &decoder.source;
  decoder.progress.progress_monitor = samlet_jpeg_limit_scans;
  decoder.jpeg.progress = &decoder.progress;
  return jpeg_read_header(&decoder.jpeg, TRUE) == JPEG_SUSPENDED ? Status::kOutOfData : Status::kDone;
}

/// Chooses the output colours: RGB, or CMYK where the file has four components (libjpeg turns YCCK into
/// CMYK).
Status start(Decoder& decoder) noexcept {
  if (setjmp(decoder.escape.target) != 0) return Status::kFailed;
  decoder.jpeg.out_color_space = decoder.jpeg.num_components == 4 ? JCS_CMYK : JCS_RGB;
  return jpeg_start_decompress(&decoder.jpeg) == FALSE ? Status::kOutOfData : Status::kDone;
}

/// Decodes the next rows, each of [output_width, output_components], `stride` bytes apart.
Status read_rows(Decoder& decoder, std::uint8_t* out, std::size_t stride, int rows) noexcept {
  if (setjmp(decoder.escape.target) != 0) return Status::kFailed;
  for (int i = 0; i < rows; ++i) {
    JSAMPROW row = out + static_cast<std::size_t>(i) * stride;
    if (jpeg_read_scanlines(&decoder.jpeg, &row, 1) != 1) return Status::kOutOfData;
  }
  return Status::kDone;
}

/// Reads on to the end marker. Data that ends before it is fine when all rows are there.
Status finish(Decoder& decoder) noexcept {
  if (setjmp(decoder.escape.target) != 0) return Status::kFailed;
  jpeg_finish_decompress(&decoder.jpeg);
  return Status::kDone;
}

/// Writes the whole picture into memory that libjpeg allocates.
Status write_file(Encoder& encoder, const Image& image) noexcept {
  encoder.jpeg.err = jpeg_std_error(&encoder.errors);
  encoder.errors.error_exit = samlet_jpeg_error_exit;
  encoder.errors.output_message = samlet_jpeg_ignore_message;
  encoder.jpeg.client_data = &encoder.escape;
  if (setjmp(encoder.escape.target) != 0) return Status::kFailed;
  jpeg_create_compress(&encoder.jpeg);
  jpeg_mem_dest(&encoder.jpeg, &encoder.bytes, &encoder.size);
  encoder.jpeg.image_width = static_cast<JDIMENSION>(image.width);
  encoder.jpeg.image_height = static_cast<JDIMENSION>(image.height);
  encoder.jpeg.input_components = 3;
  encoder.jpeg.in_color_space = JCS_RGB;
  jpeg_set_defaults(&encoder.jpeg);  // YCbCr with 4:2:0
  jpeg_set_quality(&encoder.jpeg, 90, TRUE);
  jpeg_start_compress(&encoder.jpeg, TRUE);
  const std::size_t stride = std::size_t{3} * encoder.jpeg.image_width;
  while (encoder.jpeg.next_scanline < encoder.jpeg.image_height) {
    // libjpeg reads rows through a pointer to non-const.
    JSAMPROW row = const_cast<JSAMPROW>(image.rgb.data()) + encoder.jpeg.next_scanline * stride;
    jpeg_write_scanlines(&encoder.jpeg, &row, 1);
  }
  jpeg_finish_compress(&encoder.jpeg);
  return Status::kDone;
}

// NOLINTEND(cert-err52-cpp)
// ---- Second part: ownership, checks and exceptions.

[[noreturn]] void throw_failure(const Escape& escape) {
  if (escape.message_code == JERR_OUT_OF_MEMORY) {
    throw Error(ErrorCode::kOutOfMemory, "not enough memory for this JPEG picture; use a smaller one");
  }
  throw_damaged(kKind, escape.message.data());
}

void check(Status status, const Decoder& decoder) {
  if (status == Status::kDone) return;
  if (status == Status::kFailed) throw_failure(decoder.escape);
  throw_damaged(kKind, fmt::format("it is truncated: the data ends at row {} of {}",
                                   decoder.jpeg.output_scanline, decoder.jpeg.image_height));
}

/// Owns the libjpeg object. A zeroed object that was never created is safe to destroy.
class DecoderOwner {
 public:
  DecoderOwner() = default;
  ~DecoderOwner() { jpeg_destroy_decompress(&decoder_.jpeg); }
  DecoderOwner(const DecoderOwner&) = delete;
  DecoderOwner& operator=(const DecoderOwner&) = delete;
  [[nodiscard]] Decoder& get() { return decoder_; }

 private:
  Decoder decoder_{};
};

class EncoderOwner {
 public:
  EncoderOwner() = default;
  ~EncoderOwner() {
    jpeg_destroy_compress(&encoder_.jpeg);
    std::free(encoder_.bytes);  // NOLINT(cppcoreguidelines-no-malloc): libjpeg allocates it
  }
  EncoderOwner(const EncoderOwner&) = delete;
  EncoderOwner& operator=(const EncoderOwner&) = delete;
  [[nodiscard]] Encoder& get() { return encoder_; }

 private:
  Encoder encoder_{};
};

/// The least bytes that can hold the picture's blocks. Huffman codes have at least one bit, and a block has
/// one code when progressive (its DC value), two when sequential (DC and end of block). Arithmetic coding has
/// no such bound; one byte for 4096 blocks (a quarter of a million pixels) is what flat pictures need in
/// practice.
std::uint64_t least_bytes(const jpeg_decompress_struct& jpeg) {
  std::uint64_t blocks = 0;
  for (int i = 0; i < jpeg.num_components; ++i) {
    blocks += std::uint64_t{jpeg.comp_info[i].width_in_blocks} * jpeg.comp_info[i].height_in_blocks;
  }
  if (jpeg.arith_code != FALSE) return blocks / 4096;
  return blocks * (jpeg.progressive_mode != FALSE ? 1 : 2) / 8;
}

/// A header whose picture could not possibly be in the file is refused before memory is taken for it.
void check_plausible(const Decoder& decoder) {
  const jpeg_decompress_struct& jpeg = decoder.jpeg;
  const std::uint64_t least = least_bytes(jpeg);
  if (decoder.source.bytes_in_buffer >= least) return;
  throw_damaged(
      kKind, fmt::format("it is truncated: a picture of {}x{} needs at least {} more bytes after its header, "
                         "{} follow",
                         jpeg.image_width, jpeg.image_height, least, decoder.source.bytes_in_buffer));
}

void check_components(int components) {
  // What Pillow opens: grey, three colours, four colours.
  if (components == 1 || components == 3 || components == 4) return;
  throw Error(ErrorCode::kImageUnreadable,
              fmt::format("this JPEG picture has {} colour components, which is not read; convert it to RGB",
                          components));
}

Colours colours_of(const jpeg_decompress_struct& jpeg) {
  switch (jpeg.jpeg_color_space) {
    case JCS_GRAYSCALE:
      return Colours::kGrey;
    case JCS_RGB:
      return Colours::kRgb;
    case JCS_CMYK:
      return Colours::kCmyk;
    case JCS_YCCK:
      return Colours::kYcck;
    default:
      return Colours::kYcbcr;
  }
}

/// Pillow Convert.c, cmyk2rgb, on values that Pillow inverts while it unpacks ("CMYK;I"): with c and k the
/// stored bytes, channel = k - round((255 - c) * k / 255).
void cmyk_to_rgb(const std::uint8_t* cmyk, std::size_t pixels, std::uint8_t* rgb) {
  for (std::size_t i = 0; i < pixels; ++i) {
    const unsigned k = cmyk[4 * i + 3];
    for (std::size_t c = 0; c < 3; ++c) {
      const unsigned product = (255U - cmyk[4 * i + c]) * k + 128U;
      rgb[3 * i + c] = static_cast<std::uint8_t>(k - ((product + (product >> 8)) >> 8));
    }
  }
}

/// The rows are appended as they are decoded, so that memory is only touched for data that is really there.
Image decode_pixels(Decoder& decoder) {
  const std::size_t width = decoder.jpeg.output_width;
  const std::size_t height = decoder.jpeg.output_height;
  const auto components = static_cast<std::size_t>(decoder.jpeg.output_components);
  constexpr std::size_t kRowsAtOnce = 16;
  Image image{static_cast<int>(width), static_cast<int>(height), {}};
  image.rgb.reserve(3 * width * height);
  std::vector<std::uint8_t> cmyk(components == 4 ? 4 * width * kRowsAtOnce : 0);
  for (std::size_t y = 0; y < height; y += kRowsAtOnce) {
    const std::size_t rows = std::min(kRowsAtOnce, height - y);
    image.rgb.resize(3 * width * (y + rows));
    std::uint8_t* out = image.rgb.data() + 3 * width * y;
    std::uint8_t* target = components == 4 ? cmyk.data() : out;
    check(read_rows(decoder, target, components * width, static_cast<int>(rows)), decoder);
    if (components == 4) cmyk_to_rgb(cmyk.data(), rows * width, out);
  }
  return image;
}

}  // namespace

Picture decode_jpeg(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  const JpegHeader header = read_jpeg_header(bytes);
  if (header.has_frame) check_claimed_size(kKind, header.width, header.height, options);
  DecoderOwner owner;
  Decoder& decoder = owner.get();
  check(read_header(decoder, bytes.data(), bytes.size()), decoder);
  // Again, from the header that counts: a crooked file may have two.
  check_claimed_size(kKind, decoder.jpeg.image_width, decoder.jpeg.image_height, options);
  check_components(decoder.jpeg.num_components);
  check_plausible(decoder);
  check(start(decoder), decoder);
  Picture picture;
  describe_stored(picture.info, kKind, decoder.jpeg.image_width, decoder.jpeg.image_height, 8,
                  colours_of(decoder.jpeg), false);
  describe_orientation(picture.info, header.exif, header.xmp);
  picture.image = decode_pixels(decoder);
  check(finish(decoder), decoder);
  // Pillow shows such pictures too, so they are no error; what is missing is grey or smeared.
  if (decoder.escape.damage[0] != 0) {
    log(options.log, LogLevel::kWarning,
        fmt::format("parts of this JPEG picture are damaged and may look wrong ({})",
                    printable(decoder.escape.damage.data())));
  }
  return picture;
}

std::vector<std::uint8_t> encode_jpeg(const Image& image) {
  EncoderOwner owner;
  Encoder& encoder = owner.get();
  if (write_file(encoder, image) != Status::kDone) {
    throw Error(ErrorCode::kInternal, fmt::format("libjpeg could not write a picture of {}x{}: {}",
                                                  image.width, image.height, encoder.escape.message.data()));
  }
  return {encoder.bytes, encoder.bytes + encoder.size};
}

}  // namespace samlet
