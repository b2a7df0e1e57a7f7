// What a user asks for.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace samlet {

/// Corners in pixels of the upright picture, x right, y down. Corners in any order mean the same box.
struct Box {
  double x1 = 0;
  double y1 = 0;
  double x2 = 0;
  double y2 = 0;
  friend bool operator==(const Box&, const Box&) = default;
};

/// A place in pixels of the upright picture, x right, y down.
struct Point {
  double x = 0;
  double y = 0;
  friend bool operator==(const Point&, const Point&) = default;
};

/// An example of what to find (positive) or what to leave out (negative).
struct ExemplarBox {
  Box box;
  bool positive = true;
};

/// "Find every thing like this": a phrase, exemplar boxes, or both. With boxes and no phrase the model is
/// asked for "visual", as Meta's code does.
struct ConceptPrompt {
  std::optional<std::string> text;  ///< UTF-8
  std::vector<ExemplarBox> boxes;
};

/// A click: on the object (positive) or beside it (negative).
struct ObjectPoint {
  Point at;
  bool positive = true;
  friend bool operator==(const ObjectPoint&, const ObjectPoint&) = default;
};

/// The model's own small mask of an object: logits, to be refined by a further call.
struct LowResMask {
  int rows = 0;
  int columns = 0;
  std::vector<float> logits;  // [rows, columns], over the whole picture; > 0 is the object
};

/// "Exactly this thing": clicks, a box round it, both, and a mask of an earlier answer.
struct ObjectPrompt {
  std::vector<ObjectPoint> points;
  std::optional<Box> box;
  std::optional<LowResMask> mask;
};

}  // namespace samlet
