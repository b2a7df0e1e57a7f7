// The seam between the pipeline and a layout's graphs: one implementation a layout, all with the same
// meaning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

/// The graphs of one folder. Sessions open on first use. Thread-safe.
class Graphs {
 public:
  virtual ~Graphs() = default;

  /// The most prompts that may be encoded and decoded together.
  [[nodiscard]] virtual std::size_t prompts_per_call() const = 0;
  /// `planes` is u8 [3, S, S].
  [[nodiscard]] virtual Features encode_image(const Tensor& planes, const CancelToken& cancel) = 0;
  /// 1 to prompts_per_call() prompts.
  [[nodiscard]] virtual Phrases encode_text(std::span<const DecoderPrompt> prompts,
                                            const CancelToken& cancel) = 0;
  /// One row a prompt; `phrases` is of the same prompts. Gives at least every instance with a score above
  /// `threshold`; it may give more. Of those with a score above it the masks are finite. Errors: kInternal
  /// when they are not.
  [[nodiscard]] virtual std::vector<Decoded> decode(const Features& image, const Phrases& phrases,
                                                    std::span<const DecoderPrompt> prompts, double threshold,
                                                    const CancelToken& cancel) = 0;
  /// The device the sessions run on. Resolves it if needed.
  [[nodiscard]] virtual ort::Device device() = 0;
};

/// The features as inputs of the decoder. They must outlive what is given.
[[nodiscard]] std::vector<ort::Feed> feeds_of(const Features& features);

/// A NaN or an infinity means that a stage broke down (fp16 overflow, a faulty provider); its results must
/// not pass as "nothing found". Errors: kInternal naming `what`.
void require_finite(std::span<const float> values, std::string_view what);

}  // namespace samlet::sam3
