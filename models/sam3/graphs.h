// The seam between the pipeline and a layout's graphs: one implementation a layout, all with the same
// meaning.
#pragma once

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

/// What the decoder says of one prompt. Rows keep query order.
struct Decoded {
  std::vector<float> boxes;        // [n, 4] x1, y1, x2, y2 in 0..1, unclamped
  std::vector<float> scores;       // [n]
  std::vector<float> mask_logits;  // [n, mask_rows, mask_columns]
  int mask_rows = 0;
  int mask_columns = 0;
  std::optional<float> presence;  // probability; none where the graph does not give it
};

/// The graphs of one folder. Sessions open on first use. Thread-safe.
class Graphs {
 public:
  virtual ~Graphs() = default;

  /// `planes` is u8 [3, S, S].
  [[nodiscard]] virtual Features encode_image(const Tensor& planes, const CancelToken& cancel) = 0;
  /// `ids` has the folder's context length.
  [[nodiscard]] virtual Features encode_text(std::span<const std::int64_t> ids,
                                             const CancelToken& cancel) = 0;
  /// Gives at least every instance with a score above `threshold`; it may give more.
  [[nodiscard]] virtual Decoded decode(const Features& image, const Features& text,
                                       std::span<const NormalizedBox> boxes, double threshold,
                                       const CancelToken& cancel) = 0;
  /// The device the sessions run on. Resolves it if needed.
  [[nodiscard]] virtual ort::Device device() = 0;
};

}  // namespace samlet::sam3
