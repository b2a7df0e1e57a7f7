#include "libs/image/sniff.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <fmt/format.h>

#include "libs/image/heif_boxes.h"

namespace samlet {
namespace {

using std::string_view_literals::operator""sv;

/// What is read, as the refusals list it.
constexpr std::string_view kReadKinds = "JPEG, PNG, WebP, TIFF, BMP, GIF, PPM, PGM, PBM, HEIC, AVIF";

/// Bytes at a fixed place, and what they mean.
struct Signature {
  std::size_t offset;
  std::string_view bytes;
  std::string_view name;
};

// Order matters where one signature begins with another.
constexpr std::array kPictures{
    Signature{8, "CR\2\0"sv, "a Canon raw picture (CR2)"},
    Signature{0, "IIRO"sv, "an Olympus raw picture (ORF)"},
    Signature{0, "IIU\0"sv, "a Panasonic raw picture (RW2)"},
    Signature{0, "FUJIFILMCCD-RAW"sv, "a Fujifilm raw picture (RAF)"},
    Signature{4, "ftypcrx "sv, "a Canon raw picture (CR3)"},
    Signature{0, "\0\0\0\x0CJXL \r\n\x87\n"sv, "a JPEG XL picture"},
    Signature{0, "\xFF\x0A"sv, "a JPEG XL picture"},
    Signature{0, "\0\0\0\x0CjP  \r\n\x87\n"sv, "a JPEG 2000 picture"},
    Signature{0, "\xFF\x4F\xFF\x51"sv, "a JPEG 2000 picture"},
    Signature{0, "8BPS"sv, "a Photoshop picture"},
    Signature{0, "gimp xcf"sv, "a GIMP picture"},
    Signature{0, "\x76\x2F\x31\x01"sv, "an OpenEXR picture"},
    Signature{0, "#?RADIANCE"sv, "a Radiance HDR picture"},
    Signature{0, "qoif"sv, "a QOI picture"},
    Signature{0, "DDS "sv, "a DDS picture"},
    Signature{0, "\0\0\1\0"sv, "an icon (ICO)"},
    Signature{0, "\x8BJNG\r\n\x1A\n"sv, "a JNG picture"},
    Signature{0, "\x8AMNG\r\n\x1A\n"sv, "an MNG animation"},
};

constexpr std::array kOtherFiles{
    Signature{0, "%PDF-"sv, "a PDF document"},
    Signature{0, "%!PS"sv, "a PostScript document"},
    Signature{4, "ftyp"sv, "a video (MP4 or QuickTime)"},
    Signature{0, "\x1A\x45\xDF\xA3"sv, "a video (WebM or Matroska)"},
    Signature{8, "AVI "sv, "a video (AVI)"},
    Signature{0, "PK\3\4"sv, "a ZIP archive or an Office document"},
    Signature{0, "\x1F\x8B"sv, "a gzip archive"},
    Signature{0, "7z\xBC\xAF\x27\x1C"sv, "a 7-Zip archive"},
    Signature{0, "\x93NUMPY"sv, "a NumPy array"},
    Signature{0,
              "\x7F"
              "ELF"sv,
              "a program (ELF)"},
    Signature{0, "version https://git-lfs"sv, "a Git LFS pointer, whose content was not downloaded"},
};

std::string_view as_text(std::span<const std::uint8_t> bytes, std::string& storage) {
  constexpr std::size_t kLooked = 1024;
  storage.assign(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(bytes.size(), kLooked)));
  return storage;
}

template <std::size_t N>
std::string_view find_signature(const std::array<Signature, N>& table, std::string_view head) {
  for (const Signature& signature : table) {
    if (head.size() > signature.offset && head.substr(signature.offset).starts_with(signature.bytes)) {
      return signature.name;
    }
  }
  return {};
}

/// "P6" and a blank, for the letters of `known`.
bool is_portable_anymap(std::string_view head, std::string_view known) noexcept {
  return head.size() >= 3 && head[0] == 'P' && known.find(head[1]) != std::string_view::npos &&
         (head[2] == ' ' || (head[2] >= '\t' && head[2] <= '\r'));
}

std::string lower_case(std::string_view text) {
  std::string lowered(text);
  std::transform(lowered.begin(), lowered.end(), lowered.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lowered;
}

/// The text without a byte order mark and leading white space, in lower case.
std::string text_start(std::string_view head) {
  if (head.starts_with("\xEF\xBB\xBF")) head.remove_prefix(3);
  const std::size_t start = head.find_first_not_of(" \t\r\n");
  return start == std::string_view::npos ? std::string() : lower_case(head.substr(start));
}

bool looks_like_text(std::string_view head) {
  return std::none_of(head.begin(), head.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\n' && c != '\r' && c != '\t' && c != '\f';
  });
}

std::string_view text_kind(std::string_view head) {
  const std::string text = text_start(head);
  if (text.starts_with("<!doctype html") || text.starts_with("<html") || text.starts_with("<head"))
    return "HTML";
  if (text.find("<html") != std::string::npos && text.starts_with("<")) return "HTML";
  if (text.starts_with("<")) return "XML";
  if (text.starts_with("{") || text.starts_with("[")) return "JSON";
  return looks_like_text(head) ? "text" : std::string_view{};
}

std::string refuse_picture(std::string_view name) {
  return fmt::format("this is {}, which is not read; convert it to JPEG or PNG", name);
}

bool has_bytes(std::span<const std::uint8_t> bytes, std::size_t offset, std::string_view expected) noexcept {
  return bytes.size() >= offset + expected.size() &&
         std::equal(expected.begin(), expected.end(), bytes.begin() + static_cast<std::ptrdiff_t>(offset),
                    [](char a, std::uint8_t b) { return static_cast<std::uint8_t>(a) == b; });
}

/// Two letters are little: the size of the header that follows must look like one, unless the file ends
/// before.
bool is_bmp(std::span<const std::uint8_t> bytes) noexcept {
  return has_bytes(bytes, 0, "BM") && (bytes.size() < 18 || (bytes[15] | bytes[16] | bytes[17]) == 0);
}

bool is_pnm(std::span<const std::uint8_t> bytes) noexcept {
  std::array<char, 3> head{};
  std::copy_n(bytes.begin(), std::min(bytes.size(), head.size()), head.begin());
  return is_portable_anymap({head.data(), head.size()}, "123456");
}

/// Also the two with the 42 in the wrong byte order, and BigTIFF, but not Canon's raw kind.
bool is_tiff(std::span<const std::uint8_t> bytes) noexcept {
  constexpr std::array kHeads{"II*\0"sv, "MM\0*"sv, "II\0*"sv, "MM*\0"sv, "II+\0"sv, "MM\0+"sv};
  return std::any_of(kHeads.begin(), kHeads.end(),
                     [&](std::string_view h) { return has_bytes(bytes, 0, h); }) &&
         !has_bytes(bytes, 8, "CR\2\0"sv);
}

bool is_webp(std::span<const std::uint8_t> bytes) noexcept {
  return has_bytes(bytes, 0, "RIFF") && has_bytes(bytes, 8, "WEBP");
}

}  // namespace

PictureKind picture_kind(std::span<const std::uint8_t> bytes) noexcept {
  constexpr std::array<std::uint8_t, 8> kPng{0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  if (bytes.size() >= 3 && bytes[0] == 0xFF && bytes[1] == 0xD8 && bytes[2] == 0xFF)
    return PictureKind::kJpeg;
  if (bytes.size() >= kPng.size() && std::equal(kPng.begin(), kPng.end(), bytes.begin()))
    return PictureKind::kPng;
  if (is_bmp(bytes)) return PictureKind::kBmp;
  if (is_pnm(bytes)) return PictureKind::kPnm;
  if (is_tiff(bytes)) return PictureKind::kTiff;
  if (is_webp(bytes)) return PictureKind::kWebp;
  if (has_bytes(bytes, 0, "GIF87a") || has_bytes(bytes, 0, "GIF89a")) return PictureKind::kGif;
  if (heif_brand(bytes) != HeifBrand::kNone) return PictureKind::kHeif;
  return PictureKind::kOther;
}

std::string refusal_of_other_kind(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) return "the file is empty; check that it was downloaded or copied wholly";
  std::string storage;
  const std::string_view head = as_text(bytes, storage);
  if (head.starts_with("\x89PNG") || head.starts_with("PNG\r\n")) {
    return "this is a PNG file whose signature is damaged (often a copy made in text mode); get it again";
  }
  if (head.starts_with("\xFF\xD8"))
    return "this is a JPEG file that is damaged after its first two bytes; get it again";
  if (const auto name = find_signature(kPictures, head); !name.empty()) return refuse_picture(name);
  if (is_portable_anymap(head, "Ff")) return refuse_picture("a PFM picture of floating-point numbers");
  if (is_portable_anymap(head, "7")) return refuse_picture("a PAM picture (P7)");
  if (text_start(head).find("<svg") != std::string::npos) return refuse_picture("an SVG drawing");
  if (const auto name = find_signature(kOtherFiles, head); !name.empty()) {
    return fmt::format("not a picture: this is {}; give a picture ({})", name, kReadKinds);
  }
  if (const auto kind = text_kind(head); !kind.empty()) {
    return fmt::format("not a picture: it looks like {}; give a picture ({})", kind, kReadKinds);
  }
  return fmt::format("not a picture of a kind that is known; give one that is ({})", kReadKinds);
}

}  // namespace samlet
