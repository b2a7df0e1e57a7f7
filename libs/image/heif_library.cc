#include "libs/image/heif_library.h"

#include <dlfcn.h>

#include <libheif/heif.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/image/codec.h"
#include "samlet/error.h"

namespace samlet {
namespace {

/// What samlet calls, all of it in libheif 1.12 already. The types are those of the header; the pointers come
/// from the library at run time.
struct Functions {
  decltype(&::heif_get_version) get_version;
  decltype(&::heif_init) init;  // from 1.13 on; loads the plug-ins
  decltype(&::heif_have_decoder_for_format) have_decoder;
  decltype(&::heif_context_alloc) context_alloc;
  decltype(&::heif_context_free) context_free;
  decltype(&::heif_context_read_from_memory_without_copy) read;
  decltype(&::heif_context_get_number_of_top_level_images) picture_count;
  decltype(&::heif_context_get_primary_image_handle) primary;
  decltype(&::heif_image_handle_release) handle_release;
  decltype(&::heif_image_handle_get_width) handle_width;
  decltype(&::heif_image_handle_get_height) handle_height;
  decltype(&::heif_image_handle_get_luma_bits_per_pixel) handle_bits;
  decltype(&::heif_image_handle_has_alpha_channel) handle_alpha;
  decltype(&::heif_image_handle_is_premultiplied_alpha) handle_premultiplied;
  decltype(&::heif_decode_image) decode;
  decltype(&::heif_image_release) image_release;
  decltype(&::heif_image_get_width) image_width;
  decltype(&::heif_image_get_height) image_height;
  decltype(&::heif_image_get_bits_per_pixel_range) image_bits;
  decltype(&::heif_image_get_plane_readonly) image_plane;
  decltype(&::heif_image_get_decoding_warnings) image_warnings;
};

/// False when the library lacks the function.
template <typename F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(::dlsym(library, name));  // the only way dlsym offers
  return function != nullptr;
}

bool find_all(void* library, Functions& f) {
  return find(library, "heif_get_version", f.get_version) && find(library, "heif_init", f.init) &&
         find(library, "heif_have_decoder_for_format", f.have_decoder) &&
         find(library, "heif_context_alloc", f.context_alloc) &&
         find(library, "heif_context_free", f.context_free) &&
         find(library, "heif_context_read_from_memory_without_copy", f.read) &&
         find(library, "heif_context_get_number_of_top_level_images", f.picture_count) &&
         find(library, "heif_context_get_primary_image_handle", f.primary) &&
         find(library, "heif_image_handle_release", f.handle_release) &&
         find(library, "heif_image_handle_get_width", f.handle_width) &&
         find(library, "heif_image_handle_get_height", f.handle_height) &&
         find(library, "heif_image_handle_get_luma_bits_per_pixel", f.handle_bits) &&
         find(library, "heif_image_handle_has_alpha_channel", f.handle_alpha) &&
         find(library, "heif_image_handle_is_premultiplied_alpha", f.handle_premultiplied) &&
         find(library, "heif_decode_image", f.decode) &&
         find(library, "heif_image_release", f.image_release) &&
         find(library, "heif_image_get_width", f.image_width) &&
         find(library, "heif_image_get_height", f.image_height) &&
         find(library, "heif_image_get_bits_per_pixel_range", f.image_bits) &&
         find(library, "heif_image_get_plane_readonly", f.image_plane) &&
         find(library, "heif_image_get_decoding_warnings", f.image_warnings);
}

/// libheif's words, without the full stop and the line end that some have.
std::string words_of(const heif_error& answer) {
  std::string_view words = answer.message == nullptr ? "no reason given" : answer.message;
  while (!words.empty() && (words.back() == '\n' || words.back() == '.')) words.remove_suffix(1);
  return printable(words);
}

/// Throws what libheif's answer means, if it is an error.
void check(const heif_error& answer, const Functions& functions, std::string_view kind) {
  if (answer.code == heif_error_Ok) return;
  const std::string words = words_of(answer);
  const bool limit = answer.subcode == heif_suberror_Security_limit_exceeded;
  if (answer.code == heif_error_Memory_allocation_error && !limit) {
    throw Error(ErrorCode::kOutOfMemory,
                fmt::format("not enough memory for this {} picture; use a smaller one", kind));
  }
  if (answer.code == heif_error_Unsupported_feature || answer.code == heif_error_Unsupported_filetype ||
      limit) {
    throw Error(ErrorCode::kImageUnreadable,
                fmt::format("libheif {} does not read this {} picture: {}; convert it to JPEG or PNG",
                            functions.get_version(), kind, words));
  }
  throw_damaged(kind, words);
}

class File final : public HeifFile {
 public:
  File(const Functions& functions, std::span<const std::uint8_t> bytes, std::string_view kind)
      : f_(functions), kind_(kind), context_(f_.context_alloc(), f_.context_free) {
    if (context_ == nullptr) throw std::bad_alloc();
    check(f_.read(context_.get(), bytes.data(), bytes.size(), nullptr), f_, kind_);
    heif_image_handle* handle = nullptr;
    check(f_.primary(context_.get(), &handle), f_, kind_);
    handle_ = {handle, f_.handle_release};
  }

  [[nodiscard]] HeifClaim claim() const override {
    HeifClaim claim;
    claim.width = static_cast<std::uint32_t>(std::max(0, f_.handle_width(handle_.get())));
    claim.height = static_cast<std::uint32_t>(std::max(0, f_.handle_height(handle_.get())));
    claim.bits = f_.handle_bits(handle_.get());
    if (claim.bits <= 0) claim.bits = 8;  // not known before it is decoded
    claim.alpha = f_.handle_alpha(handle_.get()) != 0;
    claim.premultiplied = f_.handle_premultiplied(handle_.get()) != 0;
    claim.pictures = static_cast<std::uint64_t>(std::max(1, f_.picture_count(context_.get())));
    return claim;
  }

  [[nodiscard]] HeifPixels decode() override {
    const heif_chroma layout =
        claim().bits > 8 ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RGB;
    heif_image* image = nullptr;
    check(f_.decode(handle_.get(), &image, heif_colorspace_RGB, layout, nullptr), f_, kind_);
    image_ = {image, f_.image_release};
    constexpr heif_channel kAll = heif_channel_interleaved;
    HeifPixels pixels;
    int stride = 0;
    pixels.rows = f_.image_plane(image, kAll, &stride);
    pixels.width = static_cast<std::uint32_t>(std::max(0, f_.image_width(image, kAll)));
    pixels.height = static_cast<std::uint32_t>(std::max(0, f_.image_height(image, kAll)));
    pixels.bits = f_.image_bits(image, kAll);
    pixels.stride = static_cast<std::size_t>(std::max(0, stride));
    const std::size_t sample = layout == heif_chroma_interleaved_RGB ? 1 : 2;
    const bool fits = sample == 1 ? pixels.bits == 8 : pixels.bits > 8 && pixels.bits <= 16;
    if (pixels.rows == nullptr || !fits || pixels.stride < 3 * sample * pixels.width) {
      throw Error(
          ErrorCode::kInternal,
          fmt::format(
              "libheif {} gives {} bits and {} bytes a row for a {} picture of {}x{}; please report it",
              f_.get_version(), pixels.bits, pixels.stride, kind_, pixels.width, pixels.height));
    }
    heif_error warning{};
    // Its words may lie in memory that libheif has given back by now (1.15), so only its number is looked at.
    if (f_.image_warnings(image, 0, &warning, 1) > 0)
      pixels.warning = fmt::format("libheif's warning {}.{}", static_cast<int>(warning.code),
                                   static_cast<int>(warning.subcode));
    return pixels;
  }

 private:
  template <typename T, typename Release>
  using Owner = std::unique_ptr<T, Release>;

  const Functions& f_;
  std::string kind_;
  Owner<heif_context, decltype(&::heif_context_free)> context_;
  Owner<heif_image_handle, decltype(&::heif_image_handle_release)> handle_{nullptr, nullptr};
  Owner<heif_image, decltype(&::heif_image_release)> image_{nullptr, nullptr};
};

class Library final : public HeifLibrary {
 public:
  explicit Library(const Functions& functions) : functions_(functions) { functions_.init(nullptr); }

  [[nodiscard]] bool has_decoder(HeifCodec codec) const override {
    switch (codec) {
      case HeifCodec::kHevc:
        return functions_.have_decoder(heif_compression_HEVC) != 0;
      case HeifCodec::kAv1:
        return functions_.have_decoder(heif_compression_AV1) != 0;
      case HeifCodec::kOther:
        break;
    }
    return true;  // libheif finds out when it decodes
  }

  [[nodiscard]] std::unique_ptr<HeifFile> parse(std::span<const std::uint8_t> bytes,
                                                std::string_view kind) const override {
    return std::make_unique<File>(functions_, bytes, kind);
  }

 private:
  Functions functions_;
};

}  // namespace

std::unique_ptr<const HeifLibrary> open_heif_library(const char* name, std::string& problem) {
  void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* message = ::dlerror();
    problem = message == nullptr ? "unknown reason" : printable(message);
    return nullptr;
  }
  Functions functions{};
  if (!find_all(library, functions)) {
    problem = fmt::format("{} lacks functions of libheif 1.13", name);
    ::dlclose(library);
    return nullptr;
  }
  return std::make_unique<Library>(functions);
}

}  // namespace samlet
