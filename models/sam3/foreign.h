// A folder whose names and layout are only partly known, such as one of sam3-onnx v0.5.0: which tensor is
// what, and what was found out about them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/sam3/alias_file.h"
#include "models/sam3/mapping.h"
#include "models/sam3/shape_rules.h"

namespace samlet::sam3 {

/// An output of the image encoder and the input it goes into.
struct FeatureLink {
  std::string made;
  std::string taken;
  bool is_constant = false;  ///< A position encoding: no picture moves it.
};

/// Something that is true of the folder's graphs, and how that is known.
struct Fact {
  std::string name;
  std::string value;
  std::string whence;
};

/// What becomes of the "not a point" that closes the points of an object.
enum class ClosingPoint {
  kInside,   ///< The graph appends it.
  kOutside,  ///< The caller appends it, with label -1.
  kIgnored,  ///< The graph appends it, and points with label -1 change nothing.
};

struct ForeignModel {
  AliasFile aliases;  ///< Empty without one.
  MappedGraph image;
  MappedGraph language;
  MappedGraph decoder;
  std::optional<MappedGraph> points;
  std::string no_points;        ///< Why there is no point decoder, as a sentence; empty when there is one.
  bool has_bad_points = false;  ///< There is a file, but it cannot be run.
  std::vector<FeatureLink> decoder_features;
  std::vector<FeatureLink> point_features;

  Order coords_order = Order::kEither;  ///< of box_coords [N, 1, 4] or [1, N, 4]
  Order labels_order = Order::kEither;
  Order masks_order = Order::kEither;
  std::optional<std::size_t> box_slots;  ///< Fixed by the graph; none = any number.
  bool all_rows = false;                 ///< Every query comes out, or the threshold is an input.
  ClosingPoint closing = ClosingPoint::kOutside;
  std::int64_t mask_side = 0;  ///< of an earlier answer; 0 when the point decoder takes none
  std::vector<Fact> facts;
};

/// Whether numbers that are probabilities or logits are the latter: by the fact's word where there is one, by
/// the word "logit" in the tensor's name, else when one is outside of 0..1.
[[nodiscard]] bool are_logits(std::string_view fact, std::string_view name, std::span<const float> values);

}  // namespace samlet::sam3
