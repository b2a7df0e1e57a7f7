#include "libs/checkpoint/json.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "libs/base/utf8.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace {

/// Builds the tree from nlohmann's events, which it gives without recursion, whatever the depth of the text.
// The names of the members are the parser's.
// NOLINTBEGIN(readability-identifier-naming)
class TreeBuilder {
 public:
  explicit TreeBuilder(std::string_view what) : what_(what) {}

  bool null() { return put(Json::Kind::kNull) != nullptr; }
  bool boolean(bool value) {
    put(Json::Kind::kBool)->boolean = value;
    return true;
  }
  bool number_integer(std::int64_t value) {
    Json* const json = put(Json::Kind::kInteger);
    json->integer = value;
    json->number = static_cast<double>(value);
    return true;
  }
  bool number_unsigned(std::uint64_t value) {
    if (std::in_range<std::int64_t>(value)) return number_integer(static_cast<std::int64_t>(value));
    return number_float(static_cast<double>(value), {});
  }
  bool number_float(double value, const std::string&) {
    put(Json::Kind::kNumber)->number = value;
    return true;
  }
  bool string(std::string& value) {
    put(Json::Kind::kString)->text = std::move(value);
    return true;
  }
  bool binary(nlohmann::json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(Json::Kind::kObject); }
  bool key(std::string& value) {
    open_.back()->keys.push_back(std::move(value));
    return true;
  }
  bool end_object() {
    require_unique_keys(*open_.back());
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) { return open(Json::Kind::kArray); }
  bool end_array() {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    fail(fmt::format("is no JSON from byte {} on", position));
  }

  [[nodiscard]] Json take() { return std::move(root_); }

 private:
  [[noreturn]] void fail(const std::string& how) const {
    throw Error(ErrorCode::kModelDamaged, fmt::format("{} {}; download the file again", what_, how));
  }

  /// A pointer to the newest value stays good while it is open: its siblings come after it.
  Json* put(Json::Kind kind) {
    if (++count_ > kMaxJsonValues) fail(fmt::format("holds more than {} values", kMaxJsonValues));
    Json* place = &root_;
    if (!open_.empty()) place = &open_.back()->items.emplace_back();
    place->kind = kind;
    return place;
  }

  bool open(Json::Kind kind) {
    if (open_.size() >= kMaxJsonDepth) fail(fmt::format("is nested deeper than {} levels", kMaxJsonDepth));
    open_.push_back(put(kind));
    return true;
  }

  void require_unique_keys(const Json& object) const {
    std::vector<std::string_view> sorted(object.keys.begin(), object.keys.end());
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) fail(fmt::format("has the key '{}' twice", printable(*twice)));
  }

  std::string_view what_;
  Json root_;
  std::vector<Json*> open_;
  std::size_t count_ = 0;
};
// NOLINTEND(readability-identifier-naming)

}  // namespace

const Json* Json::find(std::string_view key) const noexcept {
  const auto it = std::find(keys.begin(), keys.end(), key);
  if (kind != Kind::kObject || it == keys.end()) return nullptr;
  return &items[static_cast<std::size_t>(it - keys.begin())];
}

std::optional<std::int64_t> Json::as_integer() const noexcept {
  if (kind != Kind::kInteger) return std::nullopt;
  return integer;
}

Json parse_json(std::string_view text, std::string_view what) {
  TreeBuilder builder(what);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

}  // namespace samlet::checkpoint
