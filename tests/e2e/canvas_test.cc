// Drawn pictures, whose truth is known, on canvases of many shapes: boxes and masks must lie where the
// drawing is, as well as the miniature's mask of 48 x 48 cells can say it. A swapped side, a forgotten half
// pixel or a shift by a cell fails here.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <ostream>

#include "samlet/export.h"
#include "samlet/geometry.h"
#include "samlet/segmenter.h"
#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

constexpr double kCells = 48;

using Colour = std::array<std::uint8_t, 3>;
constexpr Colour kRed{214, 32, 38};
constexpr Colour kBlue{38, 78, 214};
constexpr Colour kPaper{236, 236, 236};

struct Canvas {
  int width = 0;
  int height = 0;
};

// NOLINTNEXTLINE(readability-identifier-naming): the name is GoogleTest's.
void PrintTo(const Canvas& canvas, std::ostream* out) {
  *out << canvas.width << "x" << canvas.height;
}

/// A disc of the model's square picture: an ellipse on canvases of another shape. In fractions of the canvas.
struct Disc {
  Point centre;
  double radius = 0;
};

Image blank(const Canvas& canvas) {
  Image image{canvas.width, canvas.height, {}};
  const auto pixels = static_cast<std::size_t>(canvas.width) * static_cast<std::size_t>(canvas.height);
  for (std::size_t i = 0; i < pixels; ++i) image.rgb.insert(image.rgb.end(), kPaper.begin(), kPaper.end());
  return image;
}

void draw(Image& image, const Disc& disc, const Colour& colour) {
  const PictureGeometry geometry(image.width, image.height, 1);
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      const Point at = geometry.to_fractions({x + 0.5, y + 0.5});
      if (std::hypot(at.x - disc.centre.x, at.y - disc.centre.y) > disc.radius) continue;
      const std::size_t pixel = 3 * (static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                     static_cast<std::size_t>(x));
      std::copy(colour.begin(), colour.end(), image.rgb.begin() + static_cast<std::ptrdiff_t>(pixel));
    }
  }
}

/// Where a mask lies, in cells of the mask grid.
struct Place {
  double left = std::numeric_limits<double>::max();
  double top = std::numeric_limits<double>::max();
  double right = 0;
  double bottom = 0;
  Point centre;
};

Place place_of(const Mask& mask, const Canvas& canvas) {
  const std::vector<std::uint8_t> pixels = to_bitmap(mask);  // [height, width]
  Place place;
  double count = 0;
  for (int y = 0; y < canvas.height; ++y) {
    for (int x = 0; x < canvas.width; ++x) {
      if (pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(canvas.width) +
                 static_cast<std::size_t>(x)] == 0)
        continue;
      place.left = std::min<double>(place.left, x);
      place.top = std::min<double>(place.top, y);
      place.right = std::max<double>(place.right, x + 1);
      place.bottom = std::max<double>(place.bottom, y + 1);
      place.centre.x += x + 0.5;
      place.centre.y += y + 0.5;
      ++count;
    }
  }
  const double across = kCells / canvas.width;
  const double down = kCells / canvas.height;
  return {place.left * across,
          place.top * down,
          place.right * across,
          place.bottom * down,
          {place.centre.x / count * across, place.centre.y / count * down}};
}

/// The miniature's export, which answers clicks too; made once for all tests of the program.
class OwnModel {
 public:
  OwnModel() {
    ExportOptions options;
    options.checkpoint = miniature_checkpoint();
    options.out = folder_.path() / "model";
    options.self_test = false;
    (void)export_model(options);
    ModelOptions model;
    model.device = "cpu";
    model.runtime_library = SAMLET_ORT_LIBRARY_DIR;
    segmenter_ = open_segmenter(options.out, model);
  }
  [[nodiscard]] Segmenter& get() const { return *segmenter_; }

 private:
  TemporaryFolder folder_;
  std::unique_ptr<Segmenter> segmenter_;
};

class Canvases : public testing::TestWithParam<Canvas> {
 protected:
  static Segmenter& own_model() {
    static const OwnModel kModel;
    return kModel.get();
  }

  static ConceptSegmenter& model() {
    static const std::unique_ptr<ConceptSegmenter> kModel = [] {
      ModelOptions options;
      options.device = "cpu";
      options.runtime_library = SAMLET_ORT_LIBRARY_DIR;
      return open_concept_segmenter(miniature_model(), options);
    }();
    return *kModel;
  }

  static std::vector<Instance> find(const Image& image, const ConceptPrompt& prompt) {
    return model().segment(*model().encode(image), std::span(&prompt, 1)).instances;
  }

  /// Edges within one cell and half a pixel of the drawn disc.
  static void expect_edges(const Disc& disc, const std::array<double, 4>& edges, const char* what) {
    const auto cells = [](double fraction) { return std::clamp(fraction, 0.0, 1.0) * kCells; };
    const std::array<double, 4> truth{cells(disc.centre.x - disc.radius), cells(disc.centre.y - disc.radius),
                                      cells(disc.centre.x + disc.radius), cells(disc.centre.y + disc.radius)};
    const std::array<double, 2> pixel{kCells / GetParam().width, kCells / GetParam().height};
    for (std::size_t i = 0; i < edges.size(); ++i)
      EXPECT_NEAR(edges[i], truth[i], 1.0 + pixel.at(i % 2) / 2) << what << ", edge " << i;
  }

  static void expect_box(const Instance& found, const Disc& disc) {
    const double across = kCells / GetParam().width;
    const double down = kCells / GetParam().height;
    const Box& box = found.box;
    expect_edges(disc, {box.x1 * across, box.y1 * down, box.x2 * across, box.y2 * down}, "box");
  }

  static Place expect_mask(const Instance& found, const Disc& disc) {
    const Place mask = place_of(found.mask, GetParam());
    expect_edges(disc, {mask.left, mask.top, mask.right, mask.bottom}, "mask");
    return mask;
  }
};

TEST_P(Canvases, TextFindsTheDiscWhereItIs) {
  const Disc red{{0.3, 0.6}, 0.15};
  Image image = blank(GetParam());
  draw(image, red, kRed);
  draw(image, {{0.75, 0.3}, 0.13}, kBlue);
  const auto found = find(image, {"red circle", {}});
  ASSERT_EQ(found.size(), 1U);
  expect_box(found[0], red);
  // The centre tells a shift far below a cell: half a pixel of the model's side would be 0.14.
  const Point centre = expect_mask(found[0], red).centre;
  EXPECT_NEAR(centre.x, red.centre.x * kCells, 0.1);
  EXPECT_NEAR(centre.y, red.centre.y * kCells, 0.1);
}

TEST_P(Canvases, ABoxFindsItsLikes) {
  const Disc first{{0.25, 0.3}, 0.14};
  const Disc second{{0.7, 0.65}, 0.14};
  Image image = blank(GetParam());
  draw(image, first, kBlue);
  draw(image, second, kBlue);
  const PictureGeometry g(image.width, image.height, 1);
  const Box box = g.from_fractions(Box{0.11, 0.16, 0.39, 0.44});
  auto found = find(image, {std::nullopt, {{box, true}}});
  ASSERT_EQ(found.size(), 2U);
  if (found[0].box.x1 > found[1].box.x1) std::swap(found[0], found[1]);
  // The miniature's masks of things that look alike run into each other; its boxes do not.
  expect_box(found[0], first);
  expect_box(found[1], second);
}

TEST_P(Canvases, DiscsOverTheCornersStayThere) {
  for (const Point corner : {Point{0.08, 0.08}, Point{0.92, 0.08}, Point{0.08, 0.92}, Point{0.92, 0.92}}) {
    const Disc disc{corner, 0.16};
    Image image = blank(GetParam());
    draw(image, disc, kRed);
    const auto found = find(image, {"red circle", {}});
    ASSERT_EQ(found.size(), 1U);
    expect_box(found[0], disc);
    (void)expect_mask(found[0], disc);
  }
}

TEST_P(Canvases, AClickFindsTheDiscBelowIt) {
  const Disc red{{0.3, 0.6}, 0.15};
  Image image = blank(GetParam());
  draw(image, red, kRed);
  draw(image, {{0.75, 0.3}, 0.13}, kBlue);
  const PictureGeometry g(image.width, image.height, 1);
  const auto features = own_model().encode(image, EncodeFor::kObjects, {});
  const ObjectPrompt click{{{g.from_fractions(red.centre), true}}, std::nullopt, std::nullopt};
  const ObjectPrompt box{{}, g.from_fractions(Box{0.15, 0.45, 0.45, 0.75}), std::nullopt};
  for (const ObjectPrompt& prompt : {click, box}) {
    const auto found = own_model().segment_objects(*features, std::span(&prompt, 1), {}).instances;
    ASSERT_EQ(found.size(), 1U);
    const Point centre = expect_mask(found[0], red).centre;
    EXPECT_NEAR(centre.x, red.centre.x * kCells, 0.15);
    EXPECT_NEAR(centre.y, red.centre.y * kCells, 0.15);
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Canvases,
                         testing::Values(Canvas{168, 168}, Canvas{640, 480}, Canvas{1601, 403},
                                         Canvas{403, 1601}, Canvas{97, 61}, Canvas{61, 97}, Canvas{50, 300},
                                         Canvas{2000, 1500}));

}  // namespace
}  // namespace samlet::test
