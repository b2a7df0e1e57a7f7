#include "apps/cli/check_json.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "libs/base/utf8.h"
#include "samlet/version.h"

namespace samlet::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* name_of(CheckStatus status) {
  switch (status) {
    case CheckStatus::kPassed:
      return "passed";
    case CheckStatus::kFailed:
      return "failed";
    case CheckStatus::kNote:
      return "note";
  }
  return "";
}

}  // namespace

std::string check_json(std::span<const CheckLine> lines, const std::string& folder) {
  Json json;
  json["schema"] = 1;
  json["samlet"] = version();
  json["folder"] = printable(folder);
  json["passed"] = std::none_of(lines.begin(), lines.end(),
                                [](const CheckLine& line) { return line.status == CheckStatus::kFailed; });
  json["checks"] = Json::array();
  for (const CheckLine& line : lines) {
    Json numbers = Json::object();
    for (const auto& [name, value] : line.numbers) numbers[name] = value;
    json["checks"].push_back({{"part", line.part},
                              {"subject", printable(line.subject)},
                              {"status", name_of(line.status)},
                              {"message", printable(line.message)},
                              {"numbers", std::move(numbers)}});
  }
  return json.dump();
}

}  // namespace samlet::cli
