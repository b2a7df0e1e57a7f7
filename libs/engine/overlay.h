// The picture a person looks at: instances drawn over their photo.
#pragma once

#include <span>
#include <string>

#include "samlet/image.h"
#include "samlet/mask.h"
#include "samlet/prompt.h"

namespace samlet {

/// One instance as it is drawn.
struct OverlayItem {
  const Mask* mask = nullptr;  ///< Of the picture's size; must outlive the call.
  Box box;                     ///< Pixels, clamped to the picture.
  std::string label;           ///< UTF-8, for example "red circle 0.93".
};

/// Draws each item in its own colour: the mask tinted, its outline crisp and visible on dark and bright
/// ground alike, the box as a thin frame, the label legible at any picture size and kept inside the picture.
/// In place; besides the picture it holds one bit map of the largest mask's box, so that 200 masks of 108 MP
/// fit into 1 GB. Errors: kInternal when a mask's size is not the picture's.
void draw_overlay(Image& image, std::span<const OverlayItem> items);

}  // namespace samlet
