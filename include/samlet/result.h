// What comes back.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "samlet/mask.h"
#include "samlet/prompt.h"

namespace samlet {

/// Whether an instance is one of the things that match a concept, or the object that was pointed at.
enum class InstanceKind { kConcept, kObject };

/// One thing that was found.
struct Instance {
  InstanceKind kind = InstanceKind::kConcept;
  std::size_t prompt_index = 0;  ///< Which of the prompts of the call found it, counted among its kind.
  /// Concept: sigmoid(class logit) x sigmoid(presence logit). Object: the IoU that the model expects of the
  /// mask. 0..1.
  double score = 0;
  std::optional<double>
      presence;  ///< Probability that the concept is in the picture; none where a folder gives none.
  Box box;       ///< Pixels of the upright picture, clamped to it. Of an object: the tight box of its mask.
  Mask mask;     ///< Of the picture's size.
  /// Of objects: the mask to refine by a further call, clamped to +-32, before holes are filled.
  std::optional<LowResMask> low_res = {};
};

/// Milliseconds of wall time spent on each step of a call.
struct Timings {
  double decode = 0;        ///< reading and decoding the picture
  double encode = 0;        ///< resize and image encoder
  double language = 0;      ///< tokenizer and language encoder, all prompts
  double decode_masks = 0;  ///< decoder and mask upsampling, all prompts
  double write = 0;         ///< drawing and writing outputs
};

/// The instances of all prompts of one call: by prompt, then score descending, ties by query order.
struct Result {
  std::vector<Instance> instances;
  Timings timings;
  std::vector<std::string> warnings;  ///< Sentences a user should see, each once.
};

}  // namespace samlet
