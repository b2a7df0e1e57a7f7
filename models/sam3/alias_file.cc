#include "models/sam3/alias_file.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "models/sam3/manifest.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string_view>;

constexpr std::size_t kMaxBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxName = 255;
/// Deeper than the format goes; what is below is never made.
constexpr int kMaxDepth = 8;

constexpr std::array<std::string_view, 2> kKinds{"probabilities", "logits"};
constexpr std::array<std::string_view, 3> kClosing{"inside", "outside", "ignored"};
constexpr std::array<std::string_view, 2> kLayouts{"boxes_first", "prompt_first"};
constexpr std::array<std::string_view, 2> kForms{"cxcywh", "xyxy"};
constexpr std::array<std::string_view, 3> kPixelForms{"normalized", "unit", "bytes"};
constexpr std::array kFacts{KnownFact{kFactMasks, kKinds},       KnownFact{kFactScores, kKinds},
                            KnownFact{kFactPresence, kKinds},    KnownFact{kFactClosingPoint, kClosing},
                            KnownFact{kFactBoxLayout, kLayouts}, KnownFact{kFactBoxCoords, kForms},
                            KnownFact{kFactBoxes, kForms},       KnownFact{kFactPixels, kPixelForms}};

/// Says what is wrong; the caller puts it into the sentence that names the file.
[[noreturn]] void wrong(const std::string& what) {
  throw Error(ErrorCode::kUsage, what);
}

/// Letters to insert, leave out or exchange.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t k = 1; k <= b.size(); ++k) {
      const std::size_t exchanged = diagonal + (a[i - 1] == b[k - 1] ? 0 : 1);
      diagonal = std::exchange(row[k], std::min({row[k] + 1, row[k - 1] + 1, exchanged}));
    }
  }
  return row.back();
}

[[noreturn]] void refuse_word(std::string_view where, const char* kind, std::string_view word,
                              const Words& known) {
  const auto nearest = std::min_element(
      known.begin(), known.end(),
      [&](std::string_view a, std::string_view b) { return distance(word, a) < distance(word, b); });
  wrong(fmt::format("{} has the {} '{}', which is not known; the nearest is '{}' (known are {})", where, kind,
                    first_characters(word, 60), *nearest, fmt::join(known, ", ")));
}

void require_known(std::string_view where, const char* kind, std::string_view word, const Words& known) {
  if (std::find(known.begin(), known.end(), word) == known.end()) refuse_word(where, kind, word, known);
}

/// As the parser goes: a key that comes twice, and nesting beyond the format, are refused at once. Made to be
/// copied by the parser.
class Strict {
 public:
  bool operator()(int depth, Json::parse_event_t event, const Json& parsed) {
    if (depth > kMaxDepth) wrong("it is nested deeper than an alias file goes");
    if (event == Json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_.back().insert(key).second)
        wrong(fmt::format("it has the key '{}' twice", first_characters(key, 60)));
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> open_;
};

void require_object(const Json& json, std::string_view where) {
  if (!json.is_object()) wrong(fmt::format("{} is no object in braces", where));
}

std::string name_in(const Json& json, std::string_view where) {
  if (!json.is_string()) wrong(fmt::format("{} is no text in quotes", where));
  const auto& text = json.get_ref<const std::string&>();
  if (text.empty() || text.size() > kMaxName)
    wrong(fmt::format("{} is empty or longer than {} bytes", where, kMaxName));
  return text;
}

std::map<std::string, std::string, std::less<>> read_side(const Json& json, GraphKind kind,
                                                          Direction direction) {
  const std::string where =
      fmt::format("'{}' of '{}'", direction == Direction::kInput ? "inputs" : "outputs", name_of(kind));
  Words known;
  for (const Role& role : roles()) {
    if (role.graph == kind && role.direction == direction) known.push_back(role.name);
  }
  require_object(json, where);
  std::map<std::string, std::string, std::less<>> names;
  std::set<std::string> taken;
  for (const auto& [role, tensor] : json.items()) {
    require_known(where, "role", role, known);
    std::string name = name_in(tensor, fmt::format("'{}' in {}", role, where));
    if (!taken.insert(name).second) wrong(fmt::format("{} names '{}' for two roles", where, printable(name)));
    names.emplace(role, std::move(name));
  }
  return names;
}

GraphAliases read_graph_aliases(const Json& json, GraphKind kind) {
  const std::string where = fmt::format("'{}'", name_of(kind));
  require_object(json, where);
  GraphAliases aliases;
  for (const auto& [key, value] : json.items()) {
    require_known(where, "key", key, {"file", "inputs", "outputs"});
    if (key == "inputs") {
      aliases.inputs = read_side(value, kind, Direction::kInput);
    } else if (key == "outputs") {
      aliases.outputs = read_side(value, kind, Direction::kOutput);
    } else {
      aliases.file = name_in(value, fmt::format("'file' of {}", where));
      if (!is_plain_file_name(*aliases.file))
        wrong(fmt::format("'file' of {} is '{}', which would not lie in the model's folder", where,
                          printable(*aliases.file)));
    }
  }
  return aliases;
}

void read_facts(const Json& json, AliasFile& file) {
  require_object(json, "'facts'");
  Words known{kFactThreshold};
  for (const KnownFact& fact : kFacts) known.push_back(fact.name);
  for (const auto& [key, value] : json.items()) {
    require_known("'facts'", "fact", key, known);
    if (key == kFactThreshold) {
      const double threshold = value.is_number() ? value.get<double>() : -1;
      if (!(threshold >= 0 && threshold <= 1))
        wrong(fmt::format("the fact '{}' is no number from 0 to 1", kFactThreshold));
      file.threshold_in_graph = threshold;
      continue;
    }
    const std::string where = fmt::format("the fact '{}'", key);
    const std::string word = name_in(value, where);
    for (const KnownFact& fact : kFacts) {
      if (fact.name == key) require_known(where, "word", word, {fact.words.begin(), fact.words.end()});
    }
    file.facts.emplace(key, word);
  }
}

AliasFile read_root(const Json& json) {
  Words known{"facts"};
  for (const GraphKind kind : kGraphKinds) known.push_back(name_of(kind));
  require_object(json, "it");
  AliasFile file;
  for (const auto& [key, value] : json.items()) {
    require_known("it", "key", key, known);
    if (key == "facts") {
      read_facts(value, file);
      continue;
    }
    for (const GraphKind kind : kGraphKinds) {
      if (name_of(kind) == key) file.graphs[static_cast<std::size_t>(kind)] = read_graph_aliases(value, kind);
    }
  }
  return file;
}

}  // namespace

std::span<const KnownFact> known_facts() noexcept {
  return kFacts;
}

std::string_view AliasFile::fact(std::string_view name) const {
  const auto at = facts.find(name);
  return at == facts.end() ? std::string_view() : at->second;
}

AliasFile parse_alias_file(std::string_view text, std::string_view name) {
  try {
    if (text.size() > kMaxBytes) wrong(fmt::format("it holds more than {} bytes", kMaxBytes));
    if (const auto bad = find_invalid_utf8(text)) wrong(fmt::format("it is not UTF-8 (byte {})", *bad));
    const Json json = Json::parse(text, Strict(), false);
    if (json.is_discarded()) wrong("it is not JSON, or cut");
    return read_root(json);
  } catch (const Error& error) {
    throw Error(error.code(),
                fmt::format("the alias file '{}' cannot be used: {}", printable(name), error.what()));
  }
}

AliasFile read_alias_file(const std::filesystem::path& path) {
  const auto bytes = read_regular_file(path, kMaxBytes);
  return parse_alias_file({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path_to_utf8(path));
}

}  // namespace samlet::sam3
