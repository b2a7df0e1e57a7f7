// WebP through libwebp; the container through libwebpdemux, as Pillow does, so that both refuse the same
// files and heed the same chunks (EXIF and XMP count only when VP8X says that they are there).
//
// Only the first frame is decoded, straight to its place on the canvas; what it leaves free is black, the
// colours below alpha stay. That is what Pillow's animation decoder makes of a first frame.
#include <webp/decode.h>
#include <webp/demux.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "libs/base/byte_reader.h"
#include "libs/image/codec.h"
#include "samlet/error.h"

namespace samlet {
namespace {

constexpr std::string_view kKind = "WebP";

struct Size {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

std::string_view text_of(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::uint32_t u24_le(std::span<const std::uint8_t> bytes) {
  return bytes[0] | std::uint32_t{bytes[1]} << 8 | std::uint32_t{bytes[2]} << 16;
}

/// The size that the header of the first chunk claims, before anything is parsed.
std::optional<Size> claimed_size(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kHeaderEnd = 30;
  constexpr std::uint32_t kSideBits = 0x3FFF;
  if (bytes.size() < kHeaderEnd) return std::nullopt;
  const std::string_view form = text_of(bytes.subspan(12, 4));
  if (form == "VP8X") return Size{u24_le(bytes.subspan(24)) + 1, u24_le(bytes.subspan(27)) + 1};
  if (form == "VP8 " && text_of(bytes.subspan(23, 3)) == "\x9D\x01\x2A") {
    return Size{u24_le(bytes.subspan(26)) & kSideBits, (u24_le(bytes.subspan(27)) >> 8) & kSideBits};
  }
  if (form == "VP8L" && bytes[20] == 0x2F) {
    const std::uint32_t sides = u24_le(bytes.subspan(21)) | std::uint32_t{bytes[24]} << 24;
    return Size{(sides & kSideBits) + 1, ((sides >> 14) & kSideBits) + 1};
  }
  return std::nullopt;
}

/// libwebpdemux only says no; these are the reasons that a person can do something about.
void check_container(std::span<const std::uint8_t> bytes) {
  constexpr std::uint64_t kHead = 8;  // "RIFF" and the size of what follows
  ByteReader reader(bytes);
  const auto size = reader.seek(4) ? reader.u32_le() : std::nullopt;
  if (!size || bytes.size() < 16) throw_damaged(kKind, "it is truncated: the data ends in its header");
  if (kHead + *size > bytes.size()) {
    throw_damaged(kKind, fmt::format("it is truncated: its header says {} bytes, the file has {}",
                                     kHead + *size, bytes.size()));
  }
  const std::string_view first = text_of(bytes.subspan(12, 4));
  if (first != "VP8 " && first != "VP8L" && first != "VP8X") {
    throw_damaged(kKind, fmt::format("its first chunk is '{}' and holds no picture", first));
  }
}

class Demuxer {
 public:
  explicit Demuxer(std::span<const std::uint8_t> bytes) {
    const WebPData data{bytes.data(), bytes.size()};
    demuxer_ = WebPDemux(&data);
    if (demuxer_ == nullptr || WebPDemuxGetFrame(demuxer_, 1, &frame_) == 0) {
      WebPDemuxDelete(demuxer_);
      throw_damaged(kKind, "its chunks are cut short or contradict each other (sizes, flags, frames)");
    }
  }
  ~Demuxer() {
    WebPDemuxReleaseIterator(&frame_);
    WebPDemuxDelete(demuxer_);
  }
  Demuxer(const Demuxer&) = delete;
  Demuxer& operator=(const Demuxer&) = delete;

  [[nodiscard]] const WebPIterator& first_frame() const { return frame_; }
  [[nodiscard]] std::uint32_t number(WebPFormatFeature feature) const {
    return WebPDemuxGetI(demuxer_, feature);
  }
  /// The first chunk of that name, within the file's bytes; empty when there is none.
  [[nodiscard]] std::span<const std::uint8_t> chunk(const char* name) const {
    WebPChunkIterator found{};
    std::span<const std::uint8_t> bytes;
    if (WebPDemuxGetChunk(demuxer_, name, 1, &found) != 0) bytes = {found.chunk.bytes, found.chunk.size};
    WebPDemuxReleaseChunkIterator(&found);
    return bytes;
  }

 private:
  WebPDemuxer* demuxer_ = nullptr;
  WebPIterator frame_{};
};

/// What the two bitstreams are called in WebPBitstreamFeatures.
constexpr int kLossy = 1;

WebPBitstreamFeatures features_of(const WebPIterator& frame) {
  WebPBitstreamFeatures features{};
  const VP8StatusCode status = WebPGetFeatures(frame.fragment.bytes, frame.fragment.size, &features);
  if (status != VP8_STATUS_OK || features.width != frame.width || features.height != frame.height) {
    throw_damaged(kKind, "the header of its picture is damaged");
  }
  return features;
}

/// A macroblock of 16x16 pixels has a prediction mode for brightness and one for colour, whose fixed
/// probabilities make the cheapest pair cost more than three bits. Lossless data has no such bound:
/// check_density has to do.
void check_plausible(const WebPIterator& frame, const WebPBitstreamFeatures& features) {
  if (features.format != kLossy) return;
  const auto blocks_of = [](int side) { return (static_cast<std::uint64_t>(side) + 15) / 16; };
  const std::uint64_t least = blocks_of(frame.width) * blocks_of(frame.height) * 3 / 8;
  if (frame.fragment.size >= least) return;
  throw_damaged(kKind, fmt::format("it is truncated: a picture of {}x{} needs at least {} bytes, it has {}",
                                   frame.width, frame.height, least, frame.fragment.size));
}

[[noreturn]] void throw_status(VP8StatusCode status) {
  switch (status) {
    case VP8_STATUS_OUT_OF_MEMORY:
      throw Error(ErrorCode::kOutOfMemory, "not enough memory for this WebP picture; use a smaller one");
    case VP8_STATUS_NOT_ENOUGH_DATA:
    case VP8_STATUS_SUSPENDED:
      throw_damaged(kKind, "it is truncated: the data of its picture ends too early");
    case VP8_STATUS_UNSUPPORTED_FEATURE:
      throw_damaged(kKind, "its picture uses a feature that libwebp does not know");
    default:
      throw_damaged(kKind, "libwebp cannot make sense of the data of its picture");
  }
}

WebPDecoderConfig decoder_config() {
  WebPDecoderConfig config;
  if (WebPInitDecoderConfig(&config) == 0) {
    throw Error(ErrorCode::kInternal, "libwebp is of another version than its header; please report it");
  }
  config.output.colorspace = MODE_RGB;
  return config;
}

/// Memory for a huge canvas is taken, and written to, before its picture is decoded. So that damaged data is
/// refused without it, the picture is first decoded to a few pixels.
void check_by_decoding_small(const WebPIterator& frame, Size canvas) {
  constexpr std::uint64_t kHugePixels = std::uint64_t{1} << 25;
  if (std::uint64_t{canvas.width} * canvas.height < kHugePixels) return;
  WebPDecoderConfig config = decoder_config();
  config.options.use_scaling = 1;
  config.options.scaled_width = std::max(1, frame.width / 64);
  config.options.scaled_height = std::max(1, frame.height / 64);
  const VP8StatusCode status = WebPDecode(frame.fragment.bytes, frame.fragment.size, &config);
  WebPFreeDecBuffer(&config.output);
  if (status != VP8_STATUS_OK) throw_status(status);
}

Image decode_pixels(const WebPIterator& frame, Size canvas) {
  check_by_decoding_small(frame, canvas);
  Image image{static_cast<int>(canvas.width), static_cast<int>(canvas.height), {}};
  const std::size_t stride = std::size_t{3} * canvas.width;
  image.rgb.resize(stride * canvas.height);
  // The demuxer has checked that the frame lies within the canvas.
  const std::size_t start = static_cast<std::size_t>(frame.y_offset) * stride +
                            std::size_t{3} * static_cast<std::size_t>(frame.x_offset);
  WebPDecoderConfig config = decoder_config();
  config.output.is_external_memory = 1;
  config.output.u.RGBA.rgba = image.rgb.data() + start;
  config.output.u.RGBA.stride = static_cast<int>(stride);
  config.output.u.RGBA.size = image.rgb.size() - start;
  const VP8StatusCode status = WebPDecode(frame.fragment.bytes, frame.fragment.size, &config);
  WebPFreeDecBuffer(&config.output);
  if (status != VP8_STATUS_OK) throw_status(status);
  return image;
}

}  // namespace

Picture decode_webp(std::span<const std::uint8_t> bytes, const DecodeOptions& options) {
  const auto claimed = claimed_size(bytes);
  if (claimed) check_claimed_size(kKind, claimed->width, claimed->height, options);
  check_container(bytes);
  const Demuxer demuxer(bytes);
  const Size canvas{demuxer.number(WEBP_FF_CANVAS_WIDTH), demuxer.number(WEBP_FF_CANVAS_HEIGHT)};
  check_claimed_size(kKind, canvas.width, canvas.height, options);
  check_density(kKind, canvas.width, canvas.height, bytes.size());
  const WebPIterator& frame = demuxer.first_frame();
  const WebPBitstreamFeatures features = features_of(frame);
  check_plausible(frame, features);
  Picture picture;
  picture.image = decode_pixels(frame, canvas);
  describe_stored(picture.info, kKind, canvas.width, canvas.height, 8,
                  features.format == kLossy ? Colours::kVideoYcbcr : Colours::kRgb, features.has_alpha != 0);
  describe_orientation(picture.info, demuxer.chunk("EXIF"), text_of(demuxer.chunk("XMP ")));
  picture.info.frames = demuxer.number(WEBP_FF_FRAME_COUNT);
  return picture;
}

}  // namespace samlet
