#include "models/sam3/manifest.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "libs/base/file.h"
#include "libs/base/sha256.h"
#include "libs/base/utf8.h"
#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

using Json = nlohmann::ordered_json;

// Far above anything real; they only keep a damaged or hostile file from asking for much.
constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxRows = 256;
constexpr std::size_t kMaxWords = 255;
constexpr std::size_t kMaxSourceName = 1000;
constexpr std::int64_t kMaxSide = 8192;
constexpr std::int64_t kMaxContext = 4096;

// These say what is wrong; the callers put it into the sentence that names the file.
[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kModelDamaged, what);
}

[[noreturn]] void unsupported(const std::string& what) {
  throw Error(ErrorCode::kModelUnsupported, what);
}

// --- what must be true of a manifest, read or about to be written ---

bool is_hash(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// Words that end up in messages, file names and on command lines.
bool is_label(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_';
  });
}

/// "1.21": two numbers.
bool is_version(std::string_view text) {
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || text.size() > 8) return false;
  const auto all_digits = [](std::string_view part) {
    return !part.empty() &&
           std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return all_digits(text.substr(0, dot)) && all_digits(text.substr(dot + 1));
}

void require_label(std::string_view key, std::string_view text) {
  if (!is_label(text)) {
    damaged(fmt::format("'{}' is '{}', which is no word of small letters, digits, '-', '.' and '_'", key,
                        printable(text)));
  }
}

void require_text(std::string_view key, std::string_view text) {
  if (text.size() > kMaxWords || find_invalid_utf8(text))
    damaged(fmt::format("'{}' is too long or not UTF-8", key));
}

void require_file_name(std::string_view name) {
  if (!is_plain_file_name(name)) {
    damaged(fmt::format("it names the file '{}', which would not lie in the folder itself", printable(name)));
  }
}

void require_hash(std::string_view of, std::string_view hash) {
  if (!is_hash(hash)) damaged(fmt::format("the sha256 of '{}' is no 64 hexadecimal digits", printable(of)));
}

void require_sizes(const ManifestSizes& s) {
  const bool in_range = s.image > 0 && s.image <= kMaxSide && s.patch > 0 && s.width > 0 &&
                        s.width <= kMaxSide && s.queries > 0 && s.queries <= kMaxSide;
  if (!in_range || s.image % s.patch != 0 || s.grid != s.image / s.patch || s.mask != 4 * s.grid) {
    damaged(
        fmt::format("its sizes contradict each other (image {}, patch {}, grid {}, width {}, queries {}, "
                    "mask {})",
                    s.image, s.patch, s.grid, s.width, s.queries, s.mask));
  }
}

void require_preprocessing(const ManifestPreprocessing& p) {
  const ManifestPreprocessing known;
  if (p.resize != known.resize || p.layout != known.layout) {
    unsupported(
        fmt::format("it wants pictures resized by '{}' in the layout '{}'; this samlet knows '{}' "
                    "and '{}'",
                    printable(p.resize), printable(p.layout), known.resize, known.layout));
  }
  // The image encoder holds them; this only tells a folder whose graphs were made for others.
  if (p.mean != known.mean || p.std != known.std) {
    unsupported(
        fmt::format("it wants pictures with the means {} and deviations {}; this samlet knows 0.5 for all",
                    fmt::join(p.mean, ", "), fmt::join(p.std, ", ")));
  }
}

void require_sources(const Manifest& m) {
  for (const ManifestSource& source : m.sources) {
    // Only told, never opened: a checkpoint may have any name.
    if (source.file.size() > kMaxSourceName || find_invalid_utf8(source.file))
      damaged("the name of a source is too long or not UTF-8");
    require_hash(source.file, source.sha256);
    require_label("role", source.role);
    require_label("layout", source.layout);
  }
}

void require_text_encoders(const Manifest& m) {
  std::set<std::string_view> names;
  for (const ManifestTextEncoder& encoder : m.text_encoders) {
    require_label("name", encoder.name);
    if (!names.insert(encoder.name).second)
      damaged(fmt::format("it names two text encoders '{}'", encoder.name));
    if (!m.graphs.contains(encoder.file)) {
      damaged(fmt::format("the text encoder '{}' is '{}', which is not among the graphs", encoder.name,
                          printable(encoder.file)));
    }
    if (encoder.context < 2 || encoder.context > kMaxContext) {
      damaged(fmt::format("the text encoder '{}' has a context of {} tokens", encoder.name, encoder.context));
    }
  }
}

void require_figures(const Manifest& m) {
  if (!m.self_test) return;
  require_text("onnxruntime", m.self_test->runtime);
  for (const auto& [graph, outputs] : m.self_test->figures) {
    if (!m.graphs.contains(graph)) {
      damaged(fmt::format("the self-test is of '{}', which is not among the graphs", printable(graph)));
    }
    for (const auto& [output, f] : outputs) {
      if (f.count < 0 || !std::isfinite(f.mean) || !std::isfinite(f.std) || !std::isfinite(f.max)) {
        damaged(fmt::format("the self-test's figures of '{}' cannot be", printable(output)));
      }
    }
  }
}

void require_sound(const Manifest& m) {
  require_sizes(m.sizes);
  require_preprocessing(m.preprocessing);
  require_label("target", m.target);
  require_text("name", m.name);
  require_text("exporter", m.exporter);
  if (m.precision != "fp32" && m.precision != "fp16") {
    unsupported(
        fmt::format("its precision is '{}'; this samlet knows fp32 and fp16", printable(m.precision)));
  }
  if (m.opset < 1 || m.opset > 1000) damaged(fmt::format("its operator set is {}", m.opset));
  if (!is_version(m.minimum_runtime)) {
    damaged(fmt::format("'minimum_onnxruntime' is '{}', which is no version such as 1.21",
                        printable(m.minimum_runtime)));
  }
  for (const auto& [name, file] : m.files) {
    require_file_name(name);
    require_hash(name, file.sha256);
  }
  for (const auto& [name, graph] : m.graphs) {
    if (!m.files.contains(name))
      damaged(fmt::format("the graph '{}' is not among the files", printable(name)));
  }
  require_sources(m);
  require_text_encoders(m);
  require_figures(m);
}

// --- reading ---

/// The parser would keep one of two equal keys without a word, and another reader the other. Made to be
/// copied by the parser; only calls of the copy that it uses matter.
class UniqueKeys {
 public:
  bool operator()(int /*depth*/, Json::parse_event_t event, const Json& parsed) {
    if (event == Json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == Json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_.back().insert(key).second) damaged(fmt::format("it has the key '{}' twice", printable(key)));
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> open_;
};

/// An object of the file, and where it stands, for messages.
class Reader {
 public:
  Reader(const Json& json, std::string where) : json_(json), where_(std::move(where)) {
    if (!json_.is_object()) damaged(fmt::format("{} is not an object", where_));
    if (json_.size() > kMaxRows) damaged(fmt::format("{} has more than {} entries", where_, kMaxRows));
  }

  [[nodiscard]] bool has(const char* key) const { return json_.contains(key); }

  [[nodiscard]] const Json& at(const char* key) const {
    const auto found = json_.find(key);
    if (found == json_.end()) damaged(fmt::format("{} has no '{}'", where_, key));
    return *found;
  }

  [[nodiscard]] Reader object(const char* key) const { return {at(key), fmt::format("'{}'", key)}; }

  [[nodiscard]] std::string text(const char* key, std::size_t most = kMaxWords) const {
    const Json& value = at(key);
    if (!value.is_string() || value.get_ref<const std::string&>().size() > most) wrong(key, "a short text");
    return value.get<std::string>();
  }

  [[nodiscard]] std::uint64_t count(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number_unsigned()) wrong(key, "a whole number");
    return value.get<std::uint64_t>();
  }

  [[nodiscard]] std::int64_t integer(const char* key) const {
    const std::uint64_t value = count(key);
    if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      wrong(key, "a smaller number");
    return static_cast<std::int64_t>(value);
  }

  [[nodiscard]] double number(const char* key) const {
    const Json& value = at(key);
    if (!value.is_number()) wrong(key, "a number");
    return value.get<double>();
  }

  [[nodiscard]] std::array<double, 3> three_numbers(const char* key) const {
    const Json& value = at(key);
    std::array<double, 3> numbers{};
    if (!value.is_array() || value.size() != numbers.size()) wrong(key, "a list of three numbers");
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (!value[i].is_number()) wrong(key, "a list of three numbers");
      numbers[i] = value[i].get<double>();
    }
    return numbers;
  }

  /// Calls `read(name, object)` for each entry of an object of objects.
  template <typename Read>
  void entries(const Read& read) const {
    for (const auto& [name, value] : json_.items())
      read(name, Reader(value, fmt::format("'{}'", printable(name))));
  }

  /// Calls `read(object)` for each element of a list of objects.
  template <typename Read>
  void list(const char* key, const Read& read) const {
    const Json& value = at(key);
    if (!value.is_array() || value.size() > kMaxRows)
      wrong(key, fmt::format("a list of {} at most", kMaxRows));
    for (const Json& element : value) read(Reader(element, fmt::format("an entry of '{}'", key)));
  }

 private:
  [[noreturn]] void wrong(const char* key, std::string_view wanted) const {
    damaged(fmt::format("'{}' of {} is not {}", key, where_, wanted));
  }

  const Json& json_;
  std::string where_;
};

/// Before anything else is looked at: a newer file may differ in all the rest.
void require_known_version(const Reader& root, const char* key, std::uint64_t known) {
  const std::uint64_t found = root.count(key);
  if (found > known) {
    unsupported(fmt::format("it was written by a newer samlet ({} {}, this one knows {}); update samlet", key,
                            found, known));
  }
  if (found == 0) damaged(fmt::format("'{}' is 0", key));
}

void read_sizes(const Reader& sizes, ManifestSizes& into) {
  into = {sizes.integer("image"), sizes.integer("patch"),   sizes.integer("grid"),
          sizes.integer("width"), sizes.integer("queries"), sizes.integer("mask")};
}

DecoderForm decoder_form(const std::string& word) {
  if (word == "dynamic") return DecoderForm::kDynamic;
  if (word == "static") return DecoderForm::kStatic;
  unsupported(
      fmt::format("its decoder has the form '{}'; this samlet knows dynamic and static", printable(word)));
}

void read_self_test(const Reader& root, Manifest& m) {
  const Json& given = root.at("self_test");
  if (given.is_string() && given == "unchecked") return;
  const Reader test = root.object("self_test");
  ManifestSelfTest& result = m.self_test.emplace();
  result.runtime = test.text("onnxruntime");
  test.object("figures").entries([&](const std::string& graph, const Reader& outputs) {
    auto& figures = result.figures[graph];
    outputs.entries([&](const std::string& output, const Reader& f) {
      figures[output] = {f.integer("count"), f.number("mean"), f.number("std"), f.number("max")};
    });
  });
}

Manifest read_root(const Reader& root) {
  require_known_version(root, "format", kManifestFormat);
  require_known_version(root, "contract", v1::kVersion);
  Manifest m;
  const std::string family = root.text("family");
  if (family != kFamily) unsupported(fmt::format("it is of the family '{}'", printable(family)));
  if (root.has("name")) m.name = root.text("name");
  m.exporter = root.text("exporter");
  read_sizes(root.object("sizes"), m.sizes);
  const Reader preprocessing = root.object("preprocessing");
  m.preprocessing = {preprocessing.text("resize"), preprocessing.text("layout"),
                     preprocessing.three_numbers("mean"), preprocessing.three_numbers("std")};
  m.decoder = decoder_form(root.text("decoder"));
  m.target = root.text("target");
  m.precision = root.text("precision");
  m.opset = root.integer("opset");
  m.minimum_runtime = root.text("minimum_onnxruntime");
  root.list("sources", [&](const Reader& s) {
    m.sources.push_back({s.text("role"), s.text("file", kMaxSourceName), s.count("bytes"), s.text("sha256"),
                         s.text("layout")});
  });
  root.object("graphs").entries(
      [&](const std::string& name, const Reader& g) { m.graphs[name] = {g.count("flops")}; });
  root.list("text_encoders", [&](const Reader& t) {
    m.text_encoders.push_back({t.text("name"), t.text("file"), t.integer("context")});
  });
  root.object("files").entries([&](const std::string& name, const Reader& f) {
    m.files[name] = {f.count("bytes"), f.text("sha256")};
  });
  read_self_test(root, m);
  return m;
}

// --- writing ---

/// Six digits: what a comparison needs, and less than what two machines differ in.
double rounded(double value) {
  const std::string digits = fmt::format("{:.6g}", value);
  double result = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), result);
  return result;
}

Json self_test_json(const ManifestSelfTest& test) {
  Json figures = Json::object();
  for (const auto& [graph, outputs] : test.figures) {
    Json& rows = figures[graph] = Json::object();
    for (const auto& [output, f] : outputs) {
      rows[output] = {
          {"count", f.count}, {"mean", rounded(f.mean)}, {"std", rounded(f.std)}, {"max", rounded(f.max)}};
    }
  }
  return {{"onnxruntime", test.runtime}, {"figures", figures}};
}

void add_rows(const Manifest& m, Json& json) {
  Json& sources = json["sources"] = Json::array();
  for (const ManifestSource& s : m.sources) {
    sources.push_back(
        {{"role", s.role}, {"file", s.file}, {"bytes", s.bytes}, {"sha256", s.sha256}, {"layout", s.layout}});
  }
  Json& graphs = json["graphs"] = Json::object();
  for (const auto& [name, graph] : m.graphs) graphs[name] = {{"flops", graph.flops}};
  Json& encoders = json["text_encoders"] = Json::array();
  for (const ManifestTextEncoder& t : m.text_encoders) {
    encoders.push_back({{"name", t.name}, {"file", t.file}, {"context", t.context}});
  }
  Json& files = json["files"] = Json::object();
  for (const auto& [name, file] : m.files) files[name] = {{"bytes", file.bytes}, {"sha256", file.sha256}};
}

}  // namespace

std::string manifest_to_json(const Manifest& m) {
  try {
    require_sound(m);
  } catch (const Error& error) {
    throw Error(ErrorCode::kInternal, fmt::format("a {} that could not be read again: {}; please report this",
                                                  kManifestFile, error.what()));
  }
  Json json;
  json["format"] = kManifestFormat;
  json["contract"] = v1::kVersion;
  json["family"] = kFamily;
  if (!m.name.empty()) json["name"] = m.name;
  json["exporter"] = m.exporter;
  json["sizes"] = {{"image", m.sizes.image}, {"patch", m.sizes.patch},     {"grid", m.sizes.grid},
                   {"width", m.sizes.width}, {"queries", m.sizes.queries}, {"mask", m.sizes.mask}};
  json["preprocessing"] = {{"resize", m.preprocessing.resize},
                           {"layout", m.preprocessing.layout},
                           {"mean", m.preprocessing.mean},
                           {"std", m.preprocessing.std}};
  json["decoder"] = name_of(m.decoder);
  json["target"] = m.target;
  json["precision"] = m.precision;
  json["opset"] = m.opset;
  json["minimum_onnxruntime"] = m.minimum_runtime;
  add_rows(m, json);
  json["self_test"] = m.self_test ? self_test_json(*m.self_test) : Json("unchecked");
  return json.dump(2) + "\n";
}

Manifest parse_manifest(std::string_view text, std::string_view name) {
  try {
    const Json json = Json::parse(text, UniqueKeys(), false);
    if (json.is_discarded()) damaged("it is not JSON, or cut");
    Manifest manifest = read_root(Reader(json, "it"));
    require_sound(manifest);
    return manifest;
  } catch (const Error& error) {
    const bool is_damaged = error.code() == ErrorCode::kModelDamaged;
    throw Error(error.code(), fmt::format("'{}' cannot be used: {}{}", printable(name), error.what(),
                                          is_damaged ? "; export or download the model again" : ""));
  }
}

Manifest read_manifest(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kManifestFile;
  std::string text;
  try {
    // Unlike read_file, this never waits for a pipe.
    stream_file(path, [&](std::span<const std::uint8_t> piece) {
      text.append(piece.begin(), piece.end());
      if (text.size() <= kMaxBytes) return;
      throw Error(ErrorCode::kModelDamaged, fmt::format("'{}' holds more than {} bytes, the most it may have",
                                                        path_to_utf8(path), kMaxBytes));
    });
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kNotFound) throw Error(ErrorCode::kModelMissing, error.what());
    // A pipe or a folder in its place is the model's fault, a file that may not be read is not.
    std::error_code ignored;
    if (error.code() != ErrorCode::kIo || std::filesystem::is_regular_file(path, ignored)) throw;
    throw Error(ErrorCode::kModelDamaged, error.what());
  }
  return parse_manifest(text, path_to_utf8(path));
}

std::string_view name_of(DecoderForm form) noexcept {
  return form == DecoderForm::kDynamic ? "dynamic" : "static";
}

std::optional<std::string> checkpoint_hash(const Manifest& manifest) {
  std::vector<std::string_view> hashes;
  for (const ManifestSource& source : manifest.sources) {
    if (source.role == "checkpoint") hashes.push_back(source.sha256);
  }
  if (hashes.empty()) return std::nullopt;
  if (hashes.size() == 1) return std::string(hashes.front());
  Sha256 hash;
  for (const std::string_view one : hashes) {
    const std::string line = std::string(one) + "\n";
    hash.update({reinterpret_cast<const std::uint8_t*>(line.data()), line.size()});
  }
  return hash.hex();
}

bool is_plain_file_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxWords || name.front() == '.' || find_invalid_utf8(name)) return false;
  // A backslash separates on other systems.
  return std::none_of(name.begin(), name.end(), [](char c) {
    return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
  });
}

}  // namespace samlet::sam3
