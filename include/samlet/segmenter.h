// Opening a model folder and asking it for instances.
//
//   auto model = samlet::open_concept_segmenter("models/sam3", {});
//   const samlet::Image image = samlet::read_image("photo.jpg");
//   const auto features = model->encode(image);                       // once a picture
//   const samlet::Result result = model->segment(*features, prompts); // as often as wanted
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "samlet/cancel.h"
#include "samlet/image.h"
#include "samlet/log.h"
#include "samlet/prompt.h"
#include "samlet/result.h"

namespace samlet {

/// How a model is run. Newer ONNX Runtimes keep a record of their use below the user's cache folder unless
/// the environment has ORT_DISABLE_TELEMETRY=1 when they are loaded; the library leaves the environment
/// alone, the samlet program sets it.
struct ModelOptions {
  /// "auto", "cpu", "cuda", "coreml", "tensorrt", "openvino" or "webgpu". A device asked for by name that
  /// cannot be used is an error; "auto" tries CUDA, then CoreML, then CPU.
  std::string device = "auto";
  /// Threads within an operator; 0 = the processors this process may really use (affinity mask, cgroup
  /// quota).
  int threads = 0;
  /// The ONNX Runtime library, or a folder that holds it; empty = search.
  std::filesystem::path runtime_library;
  /// Folders searched for it after the program's own folder and before the system. The library never reads
  /// the environment; an application passes what it read there.
  std::vector<std::filesystem::path> runtime_search;
  LogSink log;
  /// The text encoder: empty = the folder's first; a name that the folder has ("full", "litetext-s0", also
  /// "s0"); or a path (with a '/', or ending in .onnx) of a language graph or of another folder that has one.
  std::string text_encoder = {};
  /// A JSON file that says what the tensors of a folder without model.json are for; empty = their names must
  /// do. docs/model-folders.md has its format.
  std::filesystem::path aliases = {};
};

/// What a folder is and can do, read from its files without loading a graph.
struct ModelInfo {
  std::string name;                      ///< The folder's name.
  std::string family;                    ///< "sam3"
  std::string layout;                    ///< "sam3-onnx v0.3.0", "sam3-onnx v0.5.0", "samlet v1"
  std::optional<std::string> sha256;     ///< Of the source checkpoint, where the folder states it.
  std::string precision;                 ///< "fp32", "fp16"
  std::string text_encoder;              ///< "full", "litetext-s0", ...
  int image_side = 0;                    ///< S: pictures are resized to S x S.
  std::size_t context = 0;               ///< Tokens a phrase may have, start and end token included.
  std::optional<std::size_t> max_boxes;  ///< Exemplar boxes a prompt may have; none = any number.
  double min_threshold = 0;              ///< The lowest score threshold the graphs can serve.
};

/// Features of one picture. Opaque; made by the segmenter that uses them, independent of it in lifetime.
class EncodedImage {
 public:
  virtual ~EncodedImage() = default;
  [[nodiscard]] int width() const noexcept { return width_; }
  [[nodiscard]] int height() const noexcept { return height_; }
  [[nodiscard]] double encode_ms() const noexcept { return encode_ms_; }

 protected:
  EncodedImage(int width, int height, double encode_ms)
      : width_(width), height_(height), encode_ms_(encode_ms) {}
  EncodedImage(const EncodedImage&) = default;
  EncodedImage& operator=(const EncodedImage&) = default;

 private:
  int width_;
  int height_;
  double encode_ms_;
};

struct ConceptOptions {
  double threshold = 0.5;  ///< Instances with a score strictly above it are given.
  CancelToken cancel;
};

/// "Find every thing that matches": text and exemplar boxes. All functions may be called from several threads
/// at once; graphs are loaded when they are first needed.
class ConceptSegmenter {
 public:
  virtual ~ConceptSegmenter() = default;

  [[nodiscard]] virtual const ModelInfo& info() const noexcept = 0;

  /// ONNX Runtime's name of the provider that runs the graphs ("CPUExecutionProvider"), and samlet's name of
  /// the device
  /// ("cpu"). They resolve the device if that has not happened yet. Errors: kDeviceUnavailable.
  [[nodiscard]] virtual std::string provider() = 0;
  [[nodiscard]] virtual std::string device() = 0;

  /// Refuses what this folder cannot do, before any graph is loaded. Errors: kModelUnsupported (too many
  /// boxes, a threshold below min_threshold), kUsage (a threshold outside 0..1).
  virtual void check(std::span<const ConceptPrompt> prompts, double threshold) const = 0;

  /// Runs the image encoder. Errors: those of loading a graph, kCancelled, kOutOfMemory.
  [[nodiscard]] virtual std::unique_ptr<EncodedImage> encode(const Image& image,
                                                             const CancelToken& cancel = {}) = 0;

  /// Finds the instances of every prompt; check() and check_prompts() are part of it.
  /// Errors: those of check() and check_prompts(), those of loading a graph, kCancelled, kOutOfMemory.
  [[nodiscard]] virtual Result segment(const EncodedImage& image, std::span<const ConceptPrompt> prompts,
                                       const ConceptOptions& options = {}) = 0;
};

struct ObjectOptions {
  /// All candidates of each object, best first, instead of the one answer.
  bool all_masks = false;
  /// Fills what is enclosed by an object's mask, or cut off at its border, in at most this many cells of the
  /// model's mask, as Meta's predictor does; 0 = nothing.
  int fill_holes = 256;
  CancelToken cancel;
};

/// What the features of a picture are for. The image encoder runs once whatever it is; what is not wanted is
/// not kept.
enum class EncodeFor { kConcepts, kObjects, kBoth };

/// A model that also answers clicks: "exactly this thing". Threads: as ConceptSegmenter.
class Segmenter : public ConceptSegmenter {
 public:
  using ConceptSegmenter::encode;

  /// Refuses objects where the folder has no point decoder. Errors: kModelUnsupported.
  virtual void check_objects() const = 0;

  /// As encode(); for objects also the errors of check_objects().
  [[nodiscard]] virtual std::unique_ptr<EncodedImage> encode(const Image& image, EncodeFor wanted,
                                                             const CancelToken& cancel) = 0;

  /// One instance a prompt (three with `all_masks`), in the order of the prompts, of kind kObject. Meta's
  /// rules: a single click takes the candidate with the best expected IoU; more clicks, a box, or an earlier
  /// mask take the single answer where its outline is stable (|logit > 0.05| >= 0.98 |logit > -0.05|), else
  /// the best candidate. Neither the language encoder nor the detector is loaded. Errors: kPromptInvalid (see
  /// check_object_prompts), kUsage when the picture was not encoded for objects, kModelUnsupported, those of
  /// loading a graph, kCancelled, kOutOfMemory.
  [[nodiscard]] virtual Result segment_objects(const EncodedImage& image,
                                               std::span<const ObjectPrompt> prompts,
                                               const ObjectOptions& options) = 0;
};

/// Opens a model folder: recognises its layout, reads what its graphs declare, and checks that they belong
/// together. No graph is loaded. Errors: kModelMissing, kModelDamaged, kModelUnsupported (also for a text
/// encoder that is not there), kUsage (unknown device name). Thread-safe.
std::unique_ptr<Segmenter> open_segmenter(const std::filesystem::path& folder, const ModelOptions& options);

/// The same for callers who need no objects.
std::unique_ptr<ConceptSegmenter> open_concept_segmenter(const std::filesystem::path& folder,
                                                         const ModelOptions& options);

/// What is wrong with prompts can be said without a model, and much of it without a picture: nothing asked
/// for, empty text, ill-formed UTF-8, NaN or infinite corners, zero area, only negative boxes. Errors:
/// kPromptInvalid. Thread-safe.
void check_prompts(std::span<const ConceptPrompt> prompts);

/// Prompts whose boxes are fractions of the picture (0 to 1), in pixels. `width` and `height` are of the
/// upright picture. Errors: kPromptInvalid for numbers that can be no fractions. Thread-safe.
std::vector<ConceptPrompt> prompts_from_fractions(std::span<const ConceptPrompt> prompts, int width,
                                                  int height);

/// check_prompts(), and what is wrong with them on a picture. Gives them back as they are used: corners
/// sorted, blank text beside boxes dropped. Appends a sentence to `warnings` for each thing that was changed
/// or looks mistaken (values that look normalised, a box that reaches over the border). `width` and `height`
/// are of the upright picture. Errors: kPromptInvalid, as check_prompts(), and for boxes outside of the
/// picture. Thread-safe.
std::vector<ConceptPrompt> check_prompts(std::span<const ConceptPrompt> prompts, int width, int height,
                                         std::vector<std::string>& warnings);

/// What is wrong with object prompts whatever the picture: nothing pointed at, only negative clicks, a place
/// that is positive and negative at once, numbers that are none, a box without area, a mask whose size does
/// not fit its numbers. Errors: kPromptInvalid. Thread-safe.
void check_object_prompts(std::span<const ObjectPrompt> prompts);

/// The same, and what is wrong on a picture: clicks and boxes outside of it. Gives the prompts back with
/// corners sorted. Errors: kPromptInvalid. Thread-safe.
std::vector<ObjectPrompt> check_object_prompts(std::span<const ObjectPrompt> prompts, int width, int height,
                                               std::vector<std::string>& warnings);

/// Object prompts whose points and boxes are fractions of the picture (0 to 1), in pixels. Errors:
/// kPromptInvalid for numbers that can be no fractions. Thread-safe.
std::vector<ObjectPrompt> object_prompts_from_fractions(std::span<const ObjectPrompt> prompts, int width,
                                                        int height);

/// The same for clicks by themselves, which choose among instances; negative ones alone are fine here.
void check_points(std::span<const ObjectPoint> points);
void check_points(std::span<const ObjectPoint> points, int width, int height,
                  std::vector<std::string>& warnings);
std::vector<ObjectPoint> points_from_fractions(std::span<const ObjectPoint> points, int width, int height);

}  // namespace samlet
