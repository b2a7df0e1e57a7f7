#include "models/sam3/arch/config.h"

#include <fmt/format.h>

#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

using checkpoint::Json;

/// A real one has 12 KB.
constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;

}  // namespace

Config::Config(const std::filesystem::path& path) : name_(path_to_utf8(path.filename())) {
  const auto bytes = read_regular_file(path, kMaxConfigBytes);
  json_ = checkpoint::parse_json({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                                 fmt::format("'{}'", path_to_utf8(path)));
  if (!json_.is(Json::Kind::kObject)) {
    throw Error(
        ErrorCode::kModelDamaged,
        fmt::format("'{}' is no config of transformers: a JSON object is needed", path_to_utf8(path)));
  }
}

const Json* Config::find(std::string_view keys) const {
  const Json* json = &json_;
  while (json != nullptr && !keys.empty()) {
    const std::string_view key = keys.substr(0, keys.find('.'));
    json = json->find(key);
    keys.remove_prefix(key.size() == keys.size() ? key.size() : key.size() + 1);
  }
  return json == nullptr || json->is(Json::Kind::kNull) ? nullptr : json;
}

std::optional<std::int64_t> Config::integer(std::string_view keys) const {
  const Json* const json = find(keys);
  if (json == nullptr) return std::nullopt;
  const auto value = json->as_integer();
  if (!value) {
    throw Error(ErrorCode::kModelDamaged, fmt::format("'{}' has no whole number at '{}'", name_, keys));
  }
  return value;
}

std::optional<std::vector<std::int64_t>> Config::integers(std::string_view keys) const {
  const Json* const json = find(keys);
  if (json == nullptr) return std::nullopt;
  std::vector<std::int64_t> values;
  for (const Json& item : json->items) {
    const auto value = item.as_integer();
    if (!value) break;
    values.push_back(*value);
  }
  if (!json->is(Json::Kind::kArray) || values.size() != json->items.size()) {
    throw Error(ErrorCode::kModelDamaged,
                fmt::format("'{}' has no list of whole numbers at '{}'", name_, keys));
  }
  return values;
}

}  // namespace samlet::sam3
