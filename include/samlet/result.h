// What comes back.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "samlet/mask.h"
#include "samlet/prompt.h"

namespace samlet {

/// One thing that was found.
struct Instance {
  std::size_t prompt_index = 0;  ///< Which of the prompts of the call found it.
  double score = 0;              ///< sigmoid(class logit) x sigmoid(presence logit), 0..1.
  std::optional<double>
      presence;  ///< Probability that the concept is in the picture; none where a folder gives none.
  Box box;       ///< Pixels of the upright picture, clamped to it.
  Mask mask;     ///< Of the picture's size.
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
