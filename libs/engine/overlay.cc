#include "libs/engine/overlay.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/engine/palette.h"
#include "libs/image/draw.h"
#include "samlet/error.h"

namespace samlet {
namespace {

constexpr Color kCasingColor{0, 0, 0};
constexpr float kCasingAlpha = 0.6F;
constexpr float kTintAlpha = 0.4F;

/// Everything that grows with the picture, in pixels.
struct Style {
  int line;     // the mask's outline
  int casing;   // the dark rim of lines, frames and labels
  int frame;    // the box
  int text;     // em size of labels
  int padding;  // around a label's text
};

Style style_of(const Image& image, std::size_t items) {
  const double side = std::min(image.width, image.height);
  const auto part = [side](double divisor, int least) {
    return std::max(least, static_cast<int>(std::lround(side / divisor)));
  };
  // Many labels need smaller ones, down to half.
  const double crowd = std::clamp(std::sqrt(static_cast<double>(items) / 10.0), 1.0, 2.0);
  constexpr int kLeastLegible = 10;
  const int text = part(34 * crowd, kLeastLegible);
  return {part(300, 1), part(900, 1), part(600, 1), text, std::max(1, text / 5)};
}

struct Rect {
  int x0 = 0;
  int y0 = 0;
  int x1 = 0;
  int y1 = 0;

  [[nodiscard]] bool empty() const { return x0 >= x1 || y0 >= y1; }
  [[nodiscard]] bool overlaps(const Rect& o) const {
    return x0 < o.x1 && o.x0 < x1 && y0 < o.y1 && o.y0 < y1;
  }
};

/// The pixels of a box, cut to the picture. What is no number counts as 0.
Rect pixels_of(const Box& box, const Image& image) {
  const auto pixel = [](double v, int limit) {
    return v > 0 ? static_cast<int>(std::lround(std::min(v, static_cast<double>(limit)))) : 0;
  };
  const int x1 = pixel(box.x1, image.width);
  const int x2 = pixel(box.x2, image.width);
  const int y1 = pixel(box.y1, image.height);
  const int y2 = pixel(box.y2, image.height);
  return {std::min(x1, x2), std::min(y1, y2), std::max(x1, x2), std::max(y1, y2)};
}

/// Set pixels [begin, end) of one column.
struct Span {
  int begin;
  int end;
};

/// A mask as the spans of its columns, and the box around them.
class ColumnSpans {
 public:
  explicit ColumnSpans(const Mask& mask) : width_(mask.width) {
    first_.assign(static_cast<std::size_t>(mask.width) + 1, 0);
    const auto height = static_cast<std::uint64_t>(mask.height);
    std::uint64_t at = 0;
    for (std::size_t i = 0; i < mask.counts.size(); ++i) {
      const std::uint64_t end = at + mask.counts[i];
      while (i % 2 == 1 && at < end) {
        const std::uint64_t column = at / height;
        const std::uint64_t stop = std::min(end, (column + 1) * height);
        add(static_cast<int>(column),
            {static_cast<int>(at % height), static_cast<int>(stop - column * height)});
        at = stop;
      }
      at = end;
    }
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
  }

  [[nodiscard]] const Rect& box() const { return box_; }
  /// The spans of a column from above; none outside of the picture.
  [[nodiscard]] std::span<const Span> column(int x) const {
    if (x < 0 || x >= width_) return {};
    const auto i = static_cast<std::size_t>(x);
    return std::span(spans_).subspan(first_[i], first_[i + 1] - first_[i]);
  }

 private:
  // Columns come in order, so counting them is enough to find them later.
  void add(int x, Span span) {
    box_ = spans_.empty() ? Rect{x, span.begin, x + 1, span.end}
                          : Rect{box_.x0, std::min(box_.y0, span.begin), x + 1, std::max(box_.y1, span.end)};
    spans_.push_back(span);
    ++first_[static_cast<std::size_t>(x) + 1];
  }

  int width_;
  Rect box_;
  std::vector<std::size_t> first_;  // [width + 1]
  std::vector<Span> spans_;
};

/// Weights of 0..256: mixed in whole numbers, so that all machines draw the same bytes.
void mix_pixel(std::uint8_t* pixel, Color color, int weight) {
  const auto mix = [weight](std::uint8_t below, std::uint8_t above) {
    return static_cast<std::uint8_t>((below * (256 - weight) + above * weight + 128) >> 8);
  };
  pixel[0] = mix(pixel[0], color.r);
  pixel[1] = mix(pixel[1], color.g);
  pixel[2] = mix(pixel[2], color.b);
}

int weight_of(double alpha) {
  return static_cast<int>(std::lround(std::clamp(alpha, 0.0, 1.0) * 256));
}

/// A byte for each pixel of some columns of the picture. Spans run down, but the picture lies along rows:
/// going through strips touches whole cache lines of it, and holds little memory at any size.
class Strip {
 public:
  static constexpr int kColumns = 64;

  /// Covers columns [x0, x0 + kColumns) of `area`, rows of `area`; all bytes 0.
  void reset(const Rect& area, int x0) {
    area_ = {x0, area.y0, std::min(x0 + kColumns, area.x1), area.y1};
    bytes_.assign(static_cast<std::size_t>(area.y1 - area.y0) * kColumns, 0);
  }
  [[nodiscard]] const Rect& area() const { return area_; }
  [[nodiscard]] std::uint8_t* row(int y) {
    return bytes_.data() + static_cast<std::size_t>(y - area_.y0) * kColumns;
  }

  /// Calls `draw(pixels, bytes, count)` for each row's stretches of bytes that are not 0.
  template <typename Draw>
  void paint(Image& image, Draw&& draw) {
    const auto columns = static_cast<std::size_t>(area_.x1 - area_.x0);
    for (int y = area_.y0; y < area_.y1; ++y) {
      const std::uint8_t* bytes = row(y);
      const std::size_t start = static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                static_cast<std::size_t>(area_.x0);
      for (std::size_t x = 0; x < columns;) {
        std::size_t end = x;
        while (end < columns && bytes[end] != 0) ++end;
        if (end > x) draw(image.rgb.data() + 3 * (start + x), bytes + x, end - x);
        x = end + 1;
      }
    }
  }

 private:
  Rect area_;
  std::vector<std::uint8_t> bytes_;  // [rows, kColumns]
};

/// mix_pixel with one colour and weight for many pixels, in a form that compilers turn into vector code.
class Tint {
 public:
  explicit Tint(Color color) {
    const std::array<std::uint8_t, 3> channels{color.r, color.g, color.b};
    for (std::size_t i = 0; i < share_.size(); ++i) {
      share_[i] = static_cast<std::uint16_t>(channels[i % 3] * (256 - keep_) + 128);
    }
  }

  /// At most Strip::kColumns pixels.
  void apply(std::uint8_t* pixels, std::size_t count) const {
    for (std::size_t i = 0; i < 3 * count; ++i) {
      pixels[i] = static_cast<std::uint8_t>((pixels[i] * keep_ + share_[i]) >> 8);
    }
  }

 private:
  std::uint16_t keep_ = static_cast<std::uint16_t>(256 - weight_of(static_cast<double>(kTintAlpha)));
  std::array<std::uint16_t, std::size_t{3} * Strip::kColumns> share_{};
};

void draw_tint(Image& image, const ColumnSpans& spans, Color color, Strip& strip) {
  const Rect& box = spans.box();
  const Tint tint(color);
  for (int x0 = box.x0; x0 < box.x1; x0 += Strip::kColumns) {
    strip.reset(box, x0);
    for (int x = strip.area().x0; x < strip.area().x1; ++x) {
      for (const Span& s : spans.column(x)) {
        for (int y = s.begin; y < s.end; ++y) strip.row(y)[x - x0] = 1;
      }
    }
    strip.paint(image,
                [&](std::uint8_t* pixels, const std::uint8_t*, std::size_t n) { tint.apply(pixels, n); });
  }
}

/// The round pen that draws outlines. Its bytes say how near the centre is: 255 at it, 0 beyond the casing.
/// The greatest byte put on a pixel tells its distance to the outline; line and casing are drawn from that,
/// with soft edges.
class Pen {
 public:
  explicit Pen(const Style& style) : reach_((style.line + 1) / 2 + style.casing) {
    const double per_pixel = 254.0 / (reach_ + 1);
    for (int dy = -reach_; dy <= reach_; ++dy) {
      for (int dx = -reach_; dx <= reach_; ++dx) {
        const double nearness = 255 - std::hypot(dx, dy) * per_pixel;
        nearness_.push_back(static_cast<std::uint8_t>(std::lround(std::max(0.0, nearness))));
      }
    }
    for (std::size_t i = 1; i < line_.size(); ++i) {
      const double distance = (255 - static_cast<double>(i)) / per_pixel;
      const double covered = style.line / 2.0 + 0.5 - distance;
      line_[i] = weight_of(covered);
      casing_[i] =
          weight_of(std::clamp(covered + style.casing, 0.0, 1.0) * static_cast<double>(kCasingAlpha));
    }
  }

  [[nodiscard]] int reach() const { return reach_; }
  [[nodiscard]] int line(std::uint8_t nearness) const { return line_[nearness]; }
  [[nodiscard]] int casing(std::uint8_t nearness) const { return casing_[nearness]; }

  /// Puts the pen down at (x, y), cut to the strip.
  void stamp(Strip& strip, int x, int y) const {
    const Rect& area = strip.area();
    const int left = std::max(area.x0, x - reach_);
    const int right = std::min(area.x1, x + reach_ + 1);
    const int bottom = std::min(area.y1, y + reach_ + 1);
    for (int row = std::max(area.y0, y - reach_); row < bottom; ++row) {
      const std::ptrdiff_t above = row - y + reach_;
      const std::uint8_t* from = nearness_.data() + above * (2 * reach_ + 1) + (left - x + reach_);
      std::uint8_t* to = strip.row(row) + (left - area.x0);
      for (int i = 0; i < right - left; ++i) to[i] = std::max(to[i], from[i]);
    }
  }

 private:
  int reach_;
  std::vector<std::uint8_t> nearness_;  // [2 * reach + 1, 2 * reach + 1]
  std::array<int, 256> line_{};
  std::array<int, 256> casing_{};
};

/// Calls `visit(y)` for the pixels of `span` that none of the `beside` spans covers.
template <typename Visit>
void visit_uncovered(Span span, std::span<const Span> beside, Visit&& visit) {
  int y = span.begin;
  for (const Span& b : beside) {
    for (; y < std::min(b.begin, span.end); ++y) visit(y);
    y = std::max(y, b.end);
    if (y >= span.end) return;
  }
  for (; y < span.end; ++y) visit(y);
}

/// The mask's pixels in column x with a side neighbour outside of it (beyond the picture counts as outside).
template <typename Visit>
void visit_boundary(const ColumnSpans& spans, int x, Visit&& visit) {
  for (const Span& s : spans.column(x)) {
    visit(s.begin);
    visit(s.end - 1);
    visit_uncovered(s, spans.column(x - 1), visit);
    visit_uncovered(s, spans.column(x + 1), visit);
  }
}

void draw_outline(Image& image, const ColumnSpans& spans, Color color, const Pen& pen, Strip& strip) {
  const Rect& box = spans.box();
  if (box.empty()) return;
  const int reach = pen.reach();
  const Rect area{std::max(0, box.x0 - reach), std::max(0, box.y0 - reach),
                  std::min(image.width, box.x1 + reach), std::min(image.height, box.y1 + reach)};
  for (int x0 = area.x0; x0 < area.x1; x0 += Strip::kColumns) {
    strip.reset(area, x0);
    for (int x = x0 - reach; x < x0 + Strip::kColumns + reach; ++x) {
      visit_boundary(spans, x, [&](int y) { pen.stamp(strip, x, y); });
    }
    strip.paint(image, [&](std::uint8_t* pixels, const std::uint8_t* nearness, std::size_t n) {
      for (std::size_t i = 0; i < n; ++i) {
        mix_pixel(pixels + 3 * i, kCasingColor, pen.casing(nearness[i]));
        mix_pixel(pixels + 3 * i, color, pen.line(nearness[i]));
      }
    });
  }
}

/// The dark ring around a frame or a label, outside of it.
void draw_casing(Image& image, const Rect& r, int thickness) {
  const auto fill = [&image](int x0, int y0, int x1, int y1) {
    fill_rectangle(image, x0, y0, x1, y1, kCasingColor, kCasingAlpha);
  };
  fill(r.x0 - thickness, r.y0 - thickness, r.x1 + thickness, r.y0);
  fill(r.x0 - thickness, r.y1, r.x1 + thickness, r.y1 + thickness);
  fill(r.x0 - thickness, r.y0, r.x0, r.y1);
  fill(r.x1, r.y0, r.x1 + thickness, r.y1);
}

void draw_box(Image& image, const Rect& r, Color color, const Style& style) {
  if (r.empty()) return;
  draw_casing(image, r, style.casing);
  draw_frame(image, r.x0, r.y0, r.x1, r.y1, style.frame, color);
}

/// A label that has its place.
struct Label {
  Rect area;
  std::string text;
  Color color;
};

/// Finds words and places for labels: inside the picture and, where it can be, not over one another.
class LabelPlacer {
 public:
  LabelPlacer(const Image& image, const Style& style, const TextRenderer& renderer)
      : width_(image.width),
        height_(image.height),
        text_(style.text),
        padding_(style.padding),
        renderer_(renderer) {}

  /// Nothing when the picture has no room for a legible label, or the label has no words.
  [[nodiscard]] std::optional<Label> place(const std::string& words, const Rect& box, Color color) {
    // Long labels end at the box's width or at 3/5 of the picture's, but a dozen characters are always shown
    // if they fit.
    const int limit = std::min(width_, std::max({box.x1 - box.x0, width_ * 3 / 5, 12 * text_}));
    const auto text = fit(printable(words), limit);
    if (!text) return std::nullopt;
    const auto extent = renderer_.measure(*text);
    const int width = extent.width + 2 * padding_;
    const int height = extent.ascent + extent.descent + 2 * padding_;
    // Were the label a great part of the picture, it would hide what it names.
    constexpr int kLeastHeights = 3;
    if (height > height_ / kLeastHeights) return std::nullopt;
    std::optional<Rect> area = find_free_place(box, width, height);
    // Where few labels fit at all, two in one place help nobody.
    constexpr int kRoomyHeights = 8;
    if (!area && height > height_ / kRoomyHeights) return std::nullopt;
    if (!area) area = moved_inside({box.x0, box.y0 - height, box.x0 + width, box.y0});
    taken_.push_back(*area);
    return Label{*area, *text, color};
  }

 private:
  /// The text, or as much of its beginning as fits into `limit` pixels with "…" behind it. A short last word,
  /// usually the score, is kept.
  [[nodiscard]] std::optional<std::string> fit(const std::string& text, int limit) const {
    constexpr std::size_t kMostCharacters = 512;  // no label is that wide, and measuring costs
    const std::u32string characters = decode_utf8(text).value_or(U"");
    if (characters.empty()) return std::nullopt;
    const auto fits = [&](const std::string& t) {
      return renderer_.measure(t).width + 2 * padding_ <= limit;
    };
    if (characters.size() <= kMostCharacters && fits(text)) return text;
    constexpr std::size_t kLongestTail = 5;
    const std::size_t blank = characters.rfind(U' ');
    const bool has_tail = blank != std::u32string::npos && characters.size() - blank - 1 <= kLongestTail;
    std::u32string end = U"…";
    if (has_tail) end += characters.substr(blank);
    const auto cut = [&](std::size_t count) { return encode_utf8(characters.substr(0, count) + end); };
    std::size_t low = 0;
    std::size_t high = std::min(has_tail ? blank : characters.size(), kMostCharacters);
    while (low < high) {
      const std::size_t middle = (low + high + 1) / 2;
      if (fits(cut(middle))) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return low == 0 ? std::nullopt : std::optional(cut(low));
  }

  [[nodiscard]] Rect moved_inside(const Rect& r) const {
    const int x = std::clamp(r.x0, 0, width_ - (r.x1 - r.x0));
    const int y = std::clamp(r.y0, 0, height_ - (r.y1 - r.y0));
    return {x, y, x + r.x1 - r.x0, y + r.y1 - r.y0};
  }

  [[nodiscard]] bool is_free(const Rect& area) const {
    return std::none_of(taken_.begin(), taken_.end(), [&](const Rect& t) { return t.overlaps(area); });
  }

  /// Standing on the box, hanging in it, below it, standing in it; each at the box's left side, then at its
  /// right.
  [[nodiscard]] std::optional<Rect> find_free_place(const Rect& box, int width, int height) const {
    const std::array<int, 4> tops{box.y0 - height, box.y0, box.y1, box.y1 - height};
    for (const int left : {box.x0, box.x1 - width}) {
      for (const int top : tops) {
        const Rect wanted{left, top, left + width, top + height};
        const Rect area = moved_inside(wanted);
        if (area.y0 == top && is_free(area)) return area;
      }
    }
    return std::nullopt;
  }

  int width_;
  int height_;
  int text_;
  int padding_;
  const TextRenderer& renderer_;
  std::vector<Rect> taken_;
};

void draw_labels(Image& image, std::span<const OverlayItem> items, const Style& style) {
  const TextRenderer renderer(style.text);
  LabelPlacer placer(image, style, renderer);
  std::vector<Label> labels;
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto label = placer.place(items[i].label, pixels_of(items[i].box, image), palette_color(i));
    if (label) labels.push_back(std::move(*label));
  }
  // The first items are the surest: where labels must overlap, theirs stay on top.
  std::reverse(labels.begin(), labels.end());
  for (const Label& label : labels) {
    const Rect& a = label.area;
    draw_casing(image, a, style.casing);
    fill_rectangle(image, a.x0, a.y0, a.x1, a.y1, label.color, 1.0F);
    const int baseline = a.y0 + style.padding + renderer.measure(label.text).ascent;
    renderer.draw(image, a.x0 + style.padding, baseline, label.text, text_color_on(label.color));
  }
}

void check_sizes(const Image& image, std::span<const OverlayItem> items) {
  const auto pixels = static_cast<std::uint64_t>(std::max(image.width, 0)) *
                      static_cast<std::uint64_t>(std::max(image.height, 0));
  if (image.rgb.size() != 3 * pixels) {
    throw Error(ErrorCode::kInternal,
                fmt::format("a picture of {} x {} pixels holds {} bytes; please report this", image.width,
                            image.height, image.rgb.size()));
  }
  for (const OverlayItem& item : items) {
    if (item.mask == nullptr) continue;
    const Mask& mask = *item.mask;
    const std::uint64_t runs = std::accumulate(mask.counts.begin(), mask.counts.end(), std::uint64_t{0});
    if (mask.width != image.width || mask.height != image.height || runs != pixels) {
      throw Error(
          ErrorCode::kInternal,
          fmt::format(
              "a mask of {} x {} ({} pixels in runs) cannot be drawn over a picture of {} x {}; please "
              "report this",
              mask.width, mask.height, runs, image.width, image.height));
    }
  }
}

/// Large things first, so that small ones in front of them stay visible.
std::vector<std::size_t> drawing_order(std::span<const OverlayItem> items) {
  std::vector<std::uint64_t> areas;
  for (const OverlayItem& item : items) areas.push_back(item.mask != nullptr ? item.mask->area() : 0);
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return areas[a] != areas[b] ? areas[a] > areas[b] : a < b; });
  return order;
}

}  // namespace

void draw_overlay(Image& image, std::span<const OverlayItem> items) {
  check_sizes(image, items);
  if (image.rgb.empty() || items.empty()) return;
  const Style style = style_of(image, items.size());
  const Pen pen(style);
  const auto order = drawing_order(items);
  Strip strip;
  // All tints lie below all lines, so that no outline is dulled by a neighbour's tint; labels lie above
  // everything.
  for (const std::size_t i : order) {
    if (items[i].mask != nullptr) draw_tint(image, ColumnSpans(*items[i].mask), palette_color(i), strip);
  }
  for (const std::size_t i : order) {
    draw_box(image, pixels_of(items[i].box, image), palette_color(i), style);
    if (items[i].mask != nullptr)
      draw_outline(image, ColumnSpans(*items[i].mask), palette_color(i), pen, strip);
  }
  draw_labels(image, items, style);
}

}  // namespace samlet
