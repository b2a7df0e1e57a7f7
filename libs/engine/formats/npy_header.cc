#include "libs/engine/formats/npy_header.h"

#include <cstddef>

#include <fmt/format.h>

#include "libs/base/checked.h"

namespace samlet::formats {
namespace {

/// Reads pieces of Python literals. A piece that is not there is nothing, and moves nothing but blanks.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  [[nodiscard]] bool take(std::string_view word) {
    skip_blanks();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  [[nodiscard]] bool at_end() {
    skip_blanks();
    return at_ == text_.size();
  }

  /// A string without escapes.
  [[nodiscard]] std::optional<std::string> string() {
    skip_blanks();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const std::size_t end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string value(text_.substr(at_ + 1, end - at_ - 1));
    if (value.find('\\') != std::string::npos) return std::nullopt;
    at_ = end + 1;
    return value;
  }

  [[nodiscard]] std::optional<std::uint64_t> whole_number() {
    skip_blanks();
    const std::size_t begin = at_;
    std::uint64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      const auto tens = checked_mul<std::uint64_t>(value, 10);
      const auto next = tens ? checked_add<std::uint64_t>(*tens, static_cast<std::uint64_t>(text_[at_] - '0'))
                             : std::nullopt;
      if (!next) return std::nullopt;
      value = *next;
    }
    if (at_ == begin) return std::nullopt;
    (void)take("L");  // Python 2's long numbers
    return value;
  }

 private:
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::optional<std::vector<std::uint64_t>> shape_of(Scanner& scanner) {
  if (!scanner.take("(")) return std::nullopt;
  std::vector<std::uint64_t> shape;
  while (!scanner.take(")")) {
    const auto side = scanner.whole_number();
    if (!side) return std::nullopt;
    shape.push_back(*side);
    if (scanner.take(",")) continue;
    if (!scanner.take(")")) return std::nullopt;
    break;
  }
  return shape;
}

/// Which of the three members have been seen.
struct Seen {
  bool descr = false;
  bool order = false;
  bool shape = false;
};

bool read_member(Scanner& scanner, NpyHeader& header, Seen& seen) {
  const auto name = scanner.string();
  if (!name || !scanner.take(":")) return false;
  if (*name == "descr" && !seen.descr) {
    const auto value = scanner.string();
    if (value) header.descr = *value;
    return seen.descr = value.has_value();
  }
  if (*name == "fortran_order" && !seen.order) {
    header.fortran_order = scanner.take("True");
    return seen.order = header.fortran_order || scanner.take("False");
  }
  if (*name == "shape" && !seen.shape) {
    const auto value = shape_of(scanner);
    if (value) header.shape = *value;
    return seen.shape = value.has_value();
  }
  return false;
}

}  // namespace

std::optional<NpyHeader> parse_npy_header(std::string_view text) {
  Scanner scanner(text);
  NpyHeader header;
  Seen seen;
  if (!scanner.take("{")) return std::nullopt;
  while (!scanner.take("}")) {
    if (!read_member(scanner, header, seen)) return std::nullopt;
    if (scanner.take(",")) continue;
    if (!scanner.take("}")) return std::nullopt;
    break;
  }
  if (!seen.descr || !seen.order || !seen.shape || !scanner.at_end()) return std::nullopt;
  return header;
}

std::string npy_header(const NpyHeader& header) {
  std::string shape;
  for (const std::uint64_t side : header.shape) {
    if (!shape.empty()) shape += ", ";
    shape += fmt::format("{}", side);
  }
  if (header.shape.size() == 1) shape += ',';
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': ({}), }}", header.descr,
                     header.fortran_order ? "True" : "False", shape);
}

}  // namespace samlet::formats
