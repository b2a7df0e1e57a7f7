// libheif, found at run time: a machine without it still reads every other kind of picture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace samlet {

/// The codecs of the pictures in HEIF files.
enum class HeifCodec : std::uint8_t { kHevc, kAv1, kOther };

/// What libheif says of the primary picture before any pixel is decoded.
struct HeifClaim {
  std::uint32_t width = 0;  ///< After clap, irot and imir.
  std::uint32_t height = 0;
  int bits = 8;  ///< Of the brightness samples.
  bool alpha = false;
  bool premultiplied = false;
  std::uint64_t pictures = 1;  ///< That stand for themselves: no thumbnails, no tiles.
};

/// Interleaved RGB, cropped and turned as clap, irot and imir say. 8 bits: a byte a sample; more bits: two,
/// the low one first.
struct HeifPixels {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  int bits = 8;
  std::size_t stride = 0;  ///< In bytes.
  const std::uint8_t* rows = nullptr;
  std::string warning;  ///< Of damage that did not keep libheif from decoding; often empty.
};

/// A parsed file. Not thread-safe.
class HeifFile {
 public:
  HeifFile() = default;
  HeifFile(const HeifFile&) = delete;
  HeifFile& operator=(const HeifFile&) = delete;
  virtual ~HeifFile() = default;
  [[nodiscard]] virtual HeifClaim claim() const = 0;
  /// The primary picture. The pixels live as long as this file. Errors: as HeifLibrary::parse.
  [[nodiscard]] virtual HeifPixels decode() = 0;
};

/// An opened libheif. Thread-safe.
class HeifLibrary {
 public:
  HeifLibrary() = default;
  HeifLibrary(const HeifLibrary&) = delete;
  HeifLibrary& operator=(const HeifLibrary&) = delete;
  virtual ~HeifLibrary() = default;
  /// Whether it can decode that codec; its decoders may be packages of their own.
  [[nodiscard]] virtual bool has_decoder(HeifCodec codec) const = 0;
  /// Parses the file, whose bytes must outlive the result, without decoding. `kind` names it in errors.
  /// Errors: kImageUnreadable, kOutOfMemory.
  [[nodiscard]] virtual std::unique_ptr<HeifFile> parse(std::span<const std::uint8_t> bytes,
                                                        std::string_view kind) const = 0;
};

/// The name by which the system's loader finds libheif.
#ifdef __APPLE__
inline constexpr const char* kHeifLibraryName = "libheif.1.dylib";
#else
inline constexpr const char* kHeifLibraryName = "libheif.so.1";
#endif

/// Opens libheif and its plug-ins. Without it: nothing, and `problem` is the loader's sentence. It stays
/// loaded for good, since its plug-ins may have threads.
[[nodiscard]] std::unique_ptr<const HeifLibrary> open_heif_library(const char* name, std::string& problem);

}  // namespace samlet
