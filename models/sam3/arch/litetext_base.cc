#include "models/sam3/arch/litetext_base.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/checkpoint/checkpoint.h"

namespace samlet::sam3 {
namespace {

/// Enough to tell trained weights apart: two models share no thousand floats by chance.
constexpr std::size_t kLooked = 4096;

bool same_ends(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  const std::size_t size = std::min(kLooked, a.size());
  return a.size() == b.size() && std::ranges::equal(a.first(size), b.first(size)) &&
         std::ranges::equal(a.last(size), b.last(size));
}

}  // namespace

std::string base_difference(const std::filesystem::path& checkpoint, const std::filesystem::path& student) {
  const checkpoint::Checkpoint base(checkpoint);
  const checkpoint::Checkpoint other(student);
  std::size_t shared = 0;
  std::size_t different = 0;
  for (const checkpoint::TensorInfo& theirs : other.tensors()) {
    if (theirs.name.find("language_backbone") != std::string::npos) continue;
    const checkpoint::TensorInfo* ours = base.find(theirs.name);
    if (ours == nullptr || ours->type.name != theirs.type.name) continue;
    ++shared;
    if (!same_ends(ours->data, theirs.data)) ++different;
  }
  if (different == 0) return "";
  return fmt::format(
      "'{}' is a whole model, and {} of the {} tensors that it shares with '{}' have other values: its text "
      "encoder was "
      "trained for its own. For that model export '{}' itself, without --text-encoder",
      path_to_utf8(student), different, shared, path_to_utf8(checkpoint), path_to_utf8(student));
}

}  // namespace samlet::sam3
