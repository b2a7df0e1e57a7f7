#include "samlet/geometry.h"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "libs/mask/upsample.h"
#include "samlet/error.h"

namespace samlet {
namespace {

/// Wide, tall, square, one pixel, larger and smaller than the model's side, and sides that do not divide it.
const std::vector<PictureGeometry>& geometries() {
  static const std::vector<PictureGeometry> kAll{
      {1601, 403, 1008}, {403, 1601, 1008}, {1008, 1008, 1008}, {1, 1, 1008},   {12000, 9000, 1008},
      {97, 61, 168},     {640, 480, 1008},  {1, 5000, 1344},    {5000, 1, 672}, {333, 1000, 168},
  };
  return kAll;
}

TEST(PictureGeometry, CornersMeetExactly) {
  for (const PictureGeometry& g : geometries()) {
    const double w = g.width();
    const double h = g.height();
    const double s = g.side();
    EXPECT_EQ(g.to_model({0, 0}), (Point{0, 0}));
    EXPECT_EQ(g.to_model({w, h}), (Point{s, s}));
    EXPECT_EQ(g.to_model({w, 0}), (Point{s, 0}));
    EXPECT_EQ(g.from_model({s, s}), (Point{w, h}));
    EXPECT_EQ(g.from_model({0, s}), (Point{0, h}));
    EXPECT_EQ(g.to_fractions({w, h}), (Point{1, 1}));
    EXPECT_EQ(g.from_fractions(Point{1, 1}), (Point{w, h}));
    EXPECT_EQ(g.to_model({w / 2, h / 2}), (Point{s / 2, s / 2}));
  }
}

TEST(PictureGeometry, SidesScaleSeparatelyAndAreNotSwapped) {
  const PictureGeometry g(1600, 400, 1000);
  EXPECT_EQ(g.to_model({160, 100}), (Point{100, 250}));
  EXPECT_EQ(g.from_model({100, 250}), (Point{160, 100}));
  EXPECT_EQ(g.to_fractions({160, 100}), (Point{0.1, 0.25}));
}

TEST(PictureGeometry, ThereAndBackIsThePointItself) {
  for (const PictureGeometry& g : geometries()) {
    for (const double fx : {0.0, 0.125, 1.0 / 3, 0.5, 0.999, 1.0}) {
      for (const double fy : {0.0, 0.2, 0.75, 1.0}) {
        const Point p{fx * g.width(), fy * g.height()};
        for (const Point& back :
             {g.from_model(g.to_model(p)), g.from_fractions(g.to_fractions(p)),
              g.from_cells(g.to_cells(p, 288, 288), 288, 288), g.from_cells(g.to_cells(p, 48, 96), 48, 96)}) {
          EXPECT_NEAR(back.x, p.x, 1e-12 * g.width());
          EXPECT_NEAR(back.y, p.y, 1e-12 * g.height());
        }
      }
    }
  }
}

TEST(PictureGeometry, CellsAreCentredOnWholeNumbers) {
  const PictureGeometry g(960, 480, 1008);  // 48 cells: 20 x 10 pixels each
  EXPECT_EQ(g.to_cells({10, 5}, 48, 48), (Point{0, 0}));
  EXPECT_EQ(g.to_cells({0, 0}, 48, 48), (Point{-0.5, -0.5}));
  EXPECT_EQ(g.to_cells({960, 480}, 48, 48), (Point{47.5, 47.5}));
  EXPECT_EQ(g.from_cells({1, 2}, 48, 48), (Point{30, 25}));
}

TEST(PictureGeometry, ExemplarsAreCentreAndSizeInFractions) {
  const PictureGeometry g(1601, 403, 1008);
  EXPECT_EQ(g.to_exemplar({0, 0, 1601, 403}), (std::array<float, 4>{0.5F, 0.5F, 1, 1}));
  const PictureGeometry tall(400, 1600, 1008);
  EXPECT_EQ(tall.to_exemplar({100, 400, 300, 800}), (std::array<float, 4>{0.5F, 0.375F, 0.5F, 0.25F}));
  // The same box on a picture twice as large is the same exemplar, bit for bit.
  const PictureGeometry doubled(800, 3200, 1008);
  EXPECT_EQ(doubled.to_exemplar({34, 74, 270, 910}), tall.to_exemplar({17, 37, 135, 455}));
}

TEST(PictureGeometry, DecoderBoxesAreCutToThePicture) {
  const PictureGeometry g(1600, 400, 1008);
  EXPECT_EQ(g.from_decoder({0.25F, 0.5F, 0.75F, 1}), (Box{400, 200, 1200, 400}));
  EXPECT_EQ(g.from_decoder({-0.1F, -2, 1.1F, 7}), (Box{0, 0, 1600, 400}));
}

TEST(PictureGeometry, FractionsOfABox) {
  EXPECT_EQ(PictureGeometry(1600, 400, 1008).from_fractions(Box{0.25, 0.5, 0.75, 1}),
            (Box{400, 200, 1200, 400}));
}

/// A mask whose columns (or rows) from `first` on are set: its edge must lie where the geometry says.
void expect_edge(const PictureGeometry& g, int cells, int first) {
  std::vector<float> columns;
  std::vector<float> rows;
  for (int y = 0; y < cells; ++y) {
    for (int x = 0; x < cells; ++x) {
      columns.push_back(x >= first ? 1.0F : -1.0F);
      rows.push_back(y >= first ? 1.0F : -1.0F);
    }
  }
  // Half-way between the last unset and the first set centre the logit is 0, which is not set.
  const Point edge = g.from_cells({first - 0.5, first - 0.5}, cells, cells);
  // The first pixel whose centre lies beyond it.
  const Mask right = upsample_logits(columns, cells, cells, g.width(), g.height());
  const Mask below = upsample_logits(rows, cells, cells, g.width(), g.height());
  const auto begin_x = static_cast<double>(g.width()) - static_cast<double>(right.area()) / g.height();
  const auto begin_y = static_cast<double>(g.height()) - static_cast<double>(below.area()) / g.width();
  EXPECT_NEAR(begin_x, edge.x, 0.5 + 1e-6) << g.width() << "x" << g.height() << " cell " << first;
  EXPECT_NEAR(begin_y, edge.y, 0.5 + 1e-6) << g.width() << "x" << g.height() << " cell " << first;
}

TEST(PictureGeometry, MasksHaveTheirEdgesWhereItSays) {
  for (const auto& [width, height] : {std::pair{1601, 403}, std::pair{403, 1601}, std::pair{97, 61},
                                      std::pair{48, 48}, std::pair{31, 1000}}) {
    for (const int first : {1, 7, 24, 47}) expect_edge(PictureGeometry(width, height, 168), 48, first);
  }
}

TEST(PictureGeometry, SizesMustBePositive) {
  for (const auto& [w, h, s] : {std::array{0, 5, 5}, std::array{5, -1, 5}, std::array{5, 5, 0}}) {
    try {
      (void)PictureGeometry(w, h, s);
      ADD_FAILURE() << w << "x" << h << " -> " << s << " was accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUsage);
    }
  }
}

}  // namespace
}  // namespace samlet
