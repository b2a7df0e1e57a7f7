// The seam between the pipeline and a layout's graphs: one implementation a layout, all with the same
// meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libs/ort/session.h"
#include "samlet/cancel.h"
#include "samlet/prompt.h"

namespace samlet::sam3 {

/// Outputs of an encoder, by tensor name, ready to be fed to the decoder.
struct Features {
  std::vector<std::string> names;
  std::vector<ort::Value> values;
};

/// An exemplar box in the decoder's frame: centre and size as fractions of the picture.
struct NormalizedBox {
  float cx = 0;
  float cy = 0;
  float w = 0;
  float h = 0;
  bool positive = true;
};

/// One prompt for the decoder.
struct DecoderPrompt {
  std::vector<std::int64_t> tokens;  ///< As many as the folder's text encoder takes.
  std::vector<NormalizedBox> boxes;
};

/// What the decoder says of one prompt. Rows keep query order.
struct Decoded {
  std::vector<float> boxes;            // [n, 4] x1, y1, x2, y2 in 0..1, unclamped
  std::vector<float> scores;           // [n]
  std::span<const float> mask_logits;  // [n, mask_rows, mask_columns]
  std::shared_ptr<const void> owner;   // of the memory that mask_logits shows: hundreds of megabytes at worst
  int mask_rows = 0;
  int mask_columns = 0;
  std::optional<float> presence;  // probability; none where the graph does not give it
};

/// Phrases that went through the language encoder, in a form that only their Graphs can read.
struct Phrases {
  std::vector<Features> features;
  std::size_t count = 0;
};

/// A point of an object, in pixels of the model's S x S input.
struct ModelPoint {
  float x = 0;
  float y = 0;
  std::int64_t label = 1;  ///< 1 on the object, 0 not on it; 2 and 3 the corners of a box, which come first
};

/// One object for the point decoder. The closing "not a point" is added where the graph wants it.
struct PointPrompt {
  std::vector<ModelPoint> points;  ///< At least one.
  std::vector<float> previous =
      {};  ///< Logits of an earlier answer, [mask_rows, mask_columns]; empty = none.
};

/// What the point decoder says of B objects, as it comes out of the graph: which of the M masks to take (one
/// may be the single-mask answer), holes and clamping are for the caller.
struct DecodedPoints {
  std::size_t objects = 0;  // B
  std::size_t masks = 0;    // M: 1, 3 or 4; of 4 the first is the single-mask answer
  int mask_rows = 0;
  int mask_columns = 0;
  std::vector<float> mask_logits;    // [B, M, mask_rows, mask_columns]
  std::vector<float> iou;            // [B, M]
  std::vector<float> object_scores;  // [B], logits; empty where the graph gives none
};

/// What the features of a picture are for. The image encoder runs once, whatever is wanted; what is not
/// wanted is not kept.
enum class FeaturesFor { kConcepts, kPoints, kBoth };

/// The graphs of one folder. Sessions open on first use. Thread-safe.
class Graphs {
 public:
  virtual ~Graphs() = default;

  /// The most prompts that may be encoded and decoded together.
  [[nodiscard]] virtual std::size_t prompts_per_call() const = 0;
  /// `planes` is u8 [3, S, S]. Errors: kModelUnsupported when points are wanted of a folder that has no point
  /// decoder, or one that cannot be run.
  [[nodiscard]] virtual Features encode_image(const Tensor& planes, FeaturesFor wanted,
                                              const CancelToken& cancel) = 0;
  /// 1 to prompts_per_call() prompts.
  [[nodiscard]] virtual Phrases encode_text(std::span<const DecoderPrompt> prompts,
                                            const CancelToken& cancel) = 0;
  /// One row a prompt; `phrases` is of the same prompts. Gives at least every instance with a score above
  /// `threshold`; it may give more. Of those with a score above it the masks are finite. Errors: kInternal
  /// when they are not.
  [[nodiscard]] virtual std::vector<Decoded> decode(const Features& image, const Phrases& phrases,
                                                    std::span<const DecoderPrompt> prompts, double threshold,
                                                    const CancelToken& cancel) = 0;
  /// Refuses clicks before anything is loaded. Errors: kModelUnsupported for a folder without a point
  /// decoder.
  virtual void require_points() const;
  /// One row a prompt, of features for points. `several` asks for the candidates instead of the one answer,
  /// where the graph is told which (multimask_output); others give what they always give. All is finite.
  /// Errors: kModelUnsupported for a folder without a point decoder, and for what it cannot do (a number of
  /// points, an earlier answer); kModelDamaged.
  [[nodiscard]] virtual DecodedPoints decode_points(const Features& image,
                                                    std::span<const PointPrompt> prompts, bool several,
                                                    const CancelToken& cancel);
  /// The device the sessions run on. Resolves it if needed.
  [[nodiscard]] virtual ort::Device device() = 0;
};

/// The features as inputs of the decoder. They must outlive what is given.
[[nodiscard]] std::vector<ort::Feed> feeds_of(const Features& features);
/// Those of some names only, in their order. Errors: kInternal when one is not there.
[[nodiscard]] std::vector<ort::Feed> feeds_of(const Features& features,
                                              std::span<const std::string_view> names);

/// Appends the outputs of a point decoder for some objects: masks [B, M, rows, columns] (dimensions of 1 may
/// stand between), IoU of B x M elements, and B object scores or none. Errors: kModelDamaged when they do not
/// fit together, kInternal for what is not finite.
void append_points(DecodedPoints& all, std::size_t objects, const TensorView& masks, const TensorView& iou,
                   const std::optional<TensorView>& object_scores);

/// kModelUnsupported: clicks cannot be served. `why` is a sentence without its end.
[[noreturn]] void refuse_points(std::string_view why);

/// A NaN or an infinity means that a stage broke down (fp16 overflow, a faulty provider); its results must
/// not pass as "nothing found". Errors: kInternal naming `what`.
void require_finite(std::span<const float> values, std::string_view what);

}  // namespace samlet::sam3
