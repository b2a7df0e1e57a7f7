#include "libs/checkpoint/sniff.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/checkpoint/safetensors.h"
#include "libs/checkpoint/torch_file.h"
#include "libs/checkpoint/zip.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace {

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kModelDamaged, what);
}

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(ErrorCode::kModelUnsupported, what);
}

bool begins_with_ignoring_case(std::string_view text, std::string_view lower_case) {
  return text.size() >= lower_case.size() &&
         std::equal(lower_case.begin(), lower_case.end(), text.begin(), [](char a, char b) {
           return a == (b >= 'A' && b <= 'Z' ? static_cast<char>(b - 'A' + 'a') : b);
         });
}

/// "size 3450062241" in the third line of a pointer.
std::string size_in_pointer(std::string_view text) {
  const auto at = text.find("\nsize ");
  if (at == std::string_view::npos) return "";
  const std::string_view rest = text.substr(at + 6);
  const std::string_view digits = rest.substr(0, rest.find_first_not_of("0123456789"));
  return digits.empty() || digits.size() > 20 ? "" : fmt::format(" ({} bytes)", digits);
}

void refuse_what_stands_in(std::string_view text) {
  if (text.starts_with("version https://git-lfs")) {
    damaged(
        fmt::format("the file is a Git LFS pointer, not the checkpoint{} that it points to; fetch that with "
                    "'git lfs pull'",
                    size_in_pointer(text)));
  }
  const std::string_view trimmed =
      text.substr(std::min(text.find_first_not_of(" \t\r\n\xEF\xBB\xBF"), text.size()));
  static constexpr std::array<std::string_view, 4> kPages{"<!doctype", "<html", "<?xml", "<head"};
  for (const std::string_view page : kPages) {
    if (begins_with_ignoring_case(trimmed, page)) {
      damaged(
          "the file is a web page, not a checkpoint; the download may need a login or an accepted licence");
    }
  }
}

void refuse_other_formats(std::span<const std::uint8_t> bytes, std::string_view text) {
  if (looks_like_legacy_torch(bytes)) {
    unsupported(
        "the file was saved in torch's format of before version 1.6; load it and save it again with a newer "
        "torch.save");
  }
  if (text.starts_with("GGUF"))
    unsupported("the file is a GGUF file; a .pt or .safetensors checkpoint is needed");
  if (text.starts_with("\x89HDF"))
    unsupported("the file is an HDF5 file; a .pt or .safetensors checkpoint is needed");
  if (text.starts_with("\x1F\x8B") || text.starts_with("BZh") ||
      text.starts_with("\xFD"
                       "7zXZ")) {
    unsupported("the file is compressed; unpack it first");
  }
}

}  // namespace

FileKind sniff(std::span<const std::uint8_t> bytes) {
  if (bytes.empty()) damaged("the file is empty (0 bytes); download it again");
  constexpr std::size_t kLookedAt = 512;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kLookedAt));
  refuse_what_stands_in(text);
  refuse_other_formats(bytes, text);
  if (looks_like_zip(bytes)) return FileKind::kTorchZip;
  if (looks_like_safetensors(bytes)) return FileKind::kSafetensors;
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return FileKind::kShardIndex;
  const bool all_zero = std::all_of(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(text.size()),
                                    [](std::uint8_t byte) { return byte == 0; });
  if (all_zero)
    damaged("the file begins with nothing but zeros: a download that was never filled; download it again");
  damaged(fmt::format(
      "the file is neither a .pt nor a .safetensors checkpoint nor an index of shards: it has {} bytes "
      "and begins with '{}'",
      bytes.size(), printable(text.substr(0, 24))));
}

}  // namespace samlet::checkpoint
