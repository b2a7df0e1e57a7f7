// model.json, what samlet's own model folders say of themselves. The export half fills and writes it, the run
// half reads it: it depends on neither.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace samlet::sam3 {

/// The format of model.json itself. Keys may be added without a new version: unknown ones are passed over.
inline constexpr int kManifestFormat = 1;

struct ManifestSizes {
  std::int64_t image = 0;    ///< S, side of the model's picture
  std::int64_t patch = 0;    ///< pixels a side
  std::int64_t grid = 0;     ///< g = S / patch
  std::int64_t width = 0;    ///< D, of the detector
  std::int64_t queries = 0;  ///< Q, the most instances a prompt can have
  std::int64_t mask = 0;     ///< side of the mask logits, 4g
  friend bool operator==(const ManifestSizes&, const ManifestSizes&) = default;
};

/// What happens to a picture. The run half makes u8 [3, S, S] by `resize`; the image encoder does the rest.
struct ManifestPreprocessing {
  std::string resize = "pillow-bilinear";  ///< to S x S, whatever the aspect; the only rule so far
  std::string layout = "rgb-planes";       ///< the only one so far
  std::array<double, 3> mean{0.5, 0.5, 0.5};
  std::array<double, 3> std{0.5, 0.5, 0.5};
  friend bool operator==(const ManifestPreprocessing&, const ManifestPreprocessing&) = default;
};

/// A file that the graphs were made from.
struct ManifestSource {
  std::string role = "checkpoint";  ///< or "text_encoder"
  std::string file;                 ///< its name, without folders; any text, never opened
  std::uint64_t bytes = 0;
  std::string sha256;
  std::string layout;  ///< "meta", "meta-3.1", "transformers", ...
  friend bool operator==(const ManifestSource&, const ManifestSource&) = default;
};

struct ManifestFile {
  std::uint64_t bytes = 0;
  std::string sha256;
  friend bool operator==(const ManifestFile&, const ManifestFile&) = default;
};

struct ManifestGraph {
  std::uint64_t flops = 0;  ///< of one run; 0 = not counted
  friend bool operator==(const ManifestGraph&, const ManifestGraph&) = default;
};

struct ManifestTextEncoder {
  std::string name;          ///< "full", "litetext-s0", "litetext-s1", "litetext-l"
  std::string file;          ///< its graph
  std::int64_t context = 0;  ///< tokens a phrase may have: 16 or 32
  friend bool operator==(const ManifestTextEncoder&, const ManifestTextEncoder&) = default;
};

/// What an output was like in the self-test.
struct OutputFigures {
  std::int64_t count = 0;  ///< elements
  double mean = 0;
  double std = 0;
  double max = 0;  ///< largest magnitude
  friend bool operator==(const OutputFigures&, const OutputFigures&) = default;
};

/// graph's file -> output's name -> figures
using SelfTestFigures = std::map<std::string, std::map<std::string, OutputFigures>>;

struct ManifestSelfTest {
  std::string runtime;  ///< version of the ONNX Runtime that ran it
  SelfTestFigures figures;
  friend bool operator==(const ManifestSelfTest&, const ManifestSelfTest&) = default;
};

enum class DecoderForm { kDynamic, kStatic };

/// "dynamic", "static"
[[nodiscard]] std::string_view name_of(DecoderForm form) noexcept;

struct Manifest {
  std::string name;      ///< of the model; empty = the folder's name
  std::string exporter;  ///< "samlet 0.1.0"
  ManifestSizes sizes;
  ManifestPreprocessing preprocessing;
  DecoderForm decoder = DecoderForm::kDynamic;
  std::string target = "portable";
  std::string precision = "fp32";  ///< "fp32" or "fp16"
  std::int64_t opset = 20;
  std::string minimum_runtime = "1.21";  ///< ONNX Runtime, major.minor
  std::vector<ManifestSource> sources;
  std::map<std::string, ManifestGraph> graphs;     ///< by file name; each is also in `files`
  std::vector<ManifestTextEncoder> text_encoders;  ///< the first is what is used when none is named
  std::map<std::string, ManifestFile> files;       ///< every file of the folder but model.json, by name
  std::optional<ManifestSelfTest> self_test;       ///< none = "unchecked"
  friend bool operator==(const Manifest&, const Manifest&) = default;
};

/// The text of model.json: the same bytes for the same content. Figures are rounded to 6 digits. Errors:
/// kInternal when parse_manifest would refuse it. Thread-safe.
[[nodiscard]] std::string manifest_to_json(const Manifest& manifest);

/// Reads the text; nothing in it is trusted. `name` is said in errors. Errors: kModelUnsupported (a newer
/// format or contract, another family, a precision or preprocessing we do not know), kModelDamaged (all
/// else). Thread-safe.
[[nodiscard]] Manifest parse_manifest(std::string_view text, std::string_view name);

/// parse_manifest of the folder's model.json. Errors: also kModelMissing, kIo when it may not be read.
[[nodiscard]] Manifest read_manifest(const std::filesystem::path& folder);

/// One hash for what the model was made from: that of the checkpoint, or, for several shards, the hash of
/// their hashes, one a line. None when the manifest names no checkpoint.
[[nodiscard]] std::optional<std::string> checkpoint_hash(const Manifest& manifest);

/// True for a name that can only lie in the folder itself: no separators, not hidden, not empty.
[[nodiscard]] bool is_plain_file_name(std::string_view name);

}  // namespace samlet::sam3
