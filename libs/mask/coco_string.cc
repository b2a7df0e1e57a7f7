// COCO's compressed run lengths (pycocotools, maskApi.c: rleToString, rleFrString).
//
// A number is written as groups of five bits, lowest first; 0x20 marks that another group follows; each group
// plus 48 is one character ('0' .. 'o'). The sign is that of bit 0x10 of the last group. From the fourth run
// on, the number is the difference to the run two before (the last one of the same colour).
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "libs/mask/runs.h"
#include "samlet/error.h"
#include "samlet/mask.h"

namespace samlet {
namespace {

constexpr int kBase = 48;
constexpr std::int64_t kPayload = 0x1f;
constexpr std::int64_t kSign = 0x10;
constexpr std::int64_t kMore = 0x20;
constexpr std::size_t kFirstDifference = 3;
// A difference of two 32-bit runs needs 33 bits and a sign: seven groups. No writer makes more, and a limit
// keeps the shifts below within 64 bits whatever the text.
constexpr int kMaxGroups = 7;

void write_number(std::int64_t value, std::string& out) {
  bool more = true;
  while (more) {
    std::int64_t group = value & kPayload;
    value >>= 5;
    more = (group & kSign) != 0 ? value != -1 : value != 0;
    if (more) group |= kMore;
    out.push_back(static_cast<char>(group + kBase));
  }
}

[[noreturn]] void refuse(std::size_t offset, std::string_view what) {
  throw Error(
      ErrorCode::kUsage,
      fmt::format("the text at character {} {}, so it is no COCO run-length string; give the `counts` of a "
                  "compressed RLE unchanged",
                  offset, what));
}

/// Reads the number that starts at `at` and moves behind it.
std::int64_t read_number(std::string_view text, std::size_t& at) {
  const std::size_t start = at;
  std::int64_t value = 0;
  for (int group = 0; group < kMaxGroups; ++group) {
    if (at == text.size()) refuse(start, "ends within a number");
    const std::int64_t code = static_cast<unsigned char>(text[at]) - kBase;
    if (code < 0 || code > (kMore | kPayload)) refuse(at, "is none of the characters '0' to 'o'");
    ++at;
    const int shift = 5 * group;
    value |= (code & kPayload) << shift;
    if ((code & kMore) != 0) continue;
    if ((code & kSign) != 0) value -= std::int64_t{1} << (shift + 5);
    return value;
  }
  refuse(start, "holds a number of more than 32 bits");
}

}  // namespace

std::string to_coco_string(const Mask& mask) {
  std::string out;
  out.reserve(mask.counts.size() * 2);
  for (std::size_t i = 0; i < mask.counts.size(); ++i) {
    std::int64_t value = mask.counts[i];
    if (i >= kFirstDifference) value -= static_cast<std::int64_t>(mask.counts[i - 2]);
    write_number(value, out);
  }
  return out;
}

Mask from_coco_string(const std::string& counts, int width, int height) {
  Mask mask{width, height, {}};
  for (std::size_t at = 0; at < counts.size();) {
    const std::size_t start = at;
    std::int64_t run = read_number(counts, at);
    const std::size_t index = mask.counts.size();
    if (index >= kFirstDifference) run += static_cast<std::int64_t>(mask.counts[index - 2]);
    if (run < 0) refuse(start, "makes a negative run");
    if (run > std::numeric_limits<std::uint32_t>::max()) refuse(start, "makes a run of more than 32 bits");
    mask.counts.push_back(static_cast<std::uint32_t>(run));
  }
  check_runs(mask);
  return mask;
}

}  // namespace samlet
