#include "libs/mask/upsample.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iomanip>
#include <limits>
#include <numbers>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "libs/base/byte_reader.h"
#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// The logits named `formula` in tools/mask/make_testdata.py: integers over 4096, so exact.
std::vector<float> formula(std::int64_t rows, std::int64_t columns) {
  std::vector<float> logits;
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t c = 0; c < columns; ++c) {
      const std::int64_t down = r - rows / 2;
      const std::int64_t right = c - columns / 3;
      const std::int64_t hill = 256000 - 192 * down * down - 128 * right * right;
      const std::int64_t noise = (r * 7919 + c * 104729 + r * c * 31) % 2003 - 1001;
      logits.push_back(static_cast<float>(static_cast<double>(hill + noise * 40) / 4096));
    }
  }
  return logits;
}

std::vector<float> load(const std::string& name, int rows, int columns) {
  if (name == "formula") return formula(rows, columns);
  const auto bytes =
      read_file(SAMLET_SOURCE_DIR "/libs/mask/testdata/" + name + ".f32", std::size_t{1} << 20);
  ByteReader reader(bytes);
  std::vector<float> logits;
  while (const auto word = reader.u32_le()) logits.push_back(std::bit_cast<float>(*word));
  return logits;
}

std::string fnv1a(const std::string& text) {
  std::uint64_t value = 0xCBF29CE484222325ULL;
  for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  std::ostringstream out;
  out << '#' << std::hex << std::setw(16) << std::setfill('0') << value;
  return out.str();
}

TEST(UpsampleLogits, EqualsPyTorchBitForBit) {
  std::ifstream in(SAMLET_SOURCE_DIR "/libs/mask/testdata/upsample.txt");
  int cases = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::string name;
    std::string wanted;
    int rows = 0;
    int columns = 0;
    int width = 0;
    int height = 0;
    std::uint64_t area = 0;
    words >> name >> rows >> columns >> width >> height >> area >> wanted;
    SCOPED_TRACE(line.substr(0, 80));
    const Mask mask = upsample_logits(load(name, rows, columns), rows, columns, width, height);
    EXPECT_EQ(mask.area(), area);
    const std::string text = to_coco_string(mask);
    EXPECT_EQ(wanted.starts_with('#') ? fnv1a(text) : text, wanted);
    ++cases;
  }
  EXPECT_EQ(cases, 108);
}

/// Every pixel by the formula of the header, without any skipping.
bool direct(const std::vector<float>& logits, int rows, int columns, int width, int height, int x, int y) {
  struct Place {
    int lower;
    int upper;
    float weight;
  };
  const auto place = [](int inputs, int outputs, int i) {
    const float scale = static_cast<float>(inputs) / static_cast<float>(outputs);
    const float source = std::max(0.0F, std::fma(scale, static_cast<float>(i) + 0.5F, -0.5F));
    const int lower = static_cast<int>(source);
    return Place{lower, std::min(lower + 1, inputs - 1), source - static_cast<float>(lower)};
  };
  const Place h = place(columns, width, x);
  const Place v = place(rows, height, y);
  const auto at = [&](int r, int c) {
    return logits[static_cast<std::size_t>(r) * static_cast<std::size_t>(columns) +
                  static_cast<std::size_t>(c)];
  };
  const auto mix = [](float w, float a, float b) { return std::fma(1.0F - w, a, w * b); };
  return mix(v.weight, mix(h.weight, at(v.lower, h.lower), at(v.lower, h.upper)),
             mix(h.weight, at(v.upper, h.lower), at(v.upper, h.upper))) > 0;
}

/// Set pixels of each column, from the runs alone.
std::vector<std::uint64_t> column_areas(const Mask& mask) {
  std::vector<std::uint64_t> areas(static_cast<std::size_t>(mask.width));
  const auto height = static_cast<std::uint64_t>(mask.height);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < mask.counts.size(); ++i) {
    const std::uint64_t end = at + mask.counts[i];
    while (at < end) {
      const std::uint64_t stop = std::min(end, (at / height + 1) * height);
      if (i % 2 == 1) areas[static_cast<std::size_t>(at / height)] += stop - at;
      at = stop;
    }
  }
  return areas;
}

std::vector<float> disc(int side) {
  std::vector<float> logits;
  for (int r = 0; r < side; ++r) {
    for (int c = 0; c < side; ++c) {
      const double distance = std::hypot(r - side * 0.48, c - side * 0.55);
      logits.push_back(static_cast<float>((side * 0.35 - distance) / 10));
    }
  }
  return logits;
}

TEST(UpsampleLogits, A108MegapixelDiscMatchesDirectEvaluation) {
  constexpr int kSide = 288;
  constexpr int kWidth = 12000;
  constexpr int kHeight = 9000;
  const auto logits = disc(kSide);
  Mask mask;
  double best_ms = std::numeric_limits<double>::infinity();
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    mask = upsample_logits(logits, kSide, kSide, kWidth, kHeight);
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - start;
    best_ms = std::min(best_ms, spent.count());
  }
  // About 2 ms; the bound only has to tell "follows the outline" from "follows the 108 million pixels"
  // (seconds).
  EXPECT_LT(best_ms, 150.0);
  // Only runs are held: two a column.
  EXPECT_LT(mask.counts.size(), std::size_t{2} * kWidth);
  const auto areas = column_areas(mask);
  for (int x = 0; x < kWidth; x += 487) {
    std::uint64_t wanted = 0;
    for (int y = 0; y < kHeight; ++y) wanted += direct(logits, kSide, kSide, kWidth, kHeight, x, y) ? 1U : 0U;
    EXPECT_EQ(areas[static_cast<std::size_t>(x)], wanted) << "column " << x;
  }
  const double circle = std::numbers::pi * 0.35 * 0.35 * kWidth * kHeight;
  EXPECT_NEAR(static_cast<double>(mask.area()), circle, circle * 1e-3);
}

TEST(UpsampleLogits, OneSignIsOneRun) {
  const std::vector<float> ones(2304, 1.0F);
  const std::vector<float> minus(2304, -1.0F);
  EXPECT_EQ(upsample_logits(ones, 48, 48, 4000, 3000).counts, (std::vector<std::uint32_t>{0, 12'000'000}));
  EXPECT_EQ(upsample_logits(minus, 48, 48, 4000, 3000).counts, (std::vector<std::uint32_t>{12'000'000}));
}

TEST(UpsampleLogits, ZeroAndMinusZeroAreNotSet) {
  const std::vector<float> zeros{0.0F, -0.0F, 0.0F, -0.0F};
  EXPECT_EQ(upsample_logits(zeros, 2, 2, 300, 200).area(), 0U);
  EXPECT_EQ(upsample_logits(zeros, 2, 2, 3, 2).area(), 0U);
}

TEST(UpsampleLogits, NumbersThatUnderflowAreEvaluatedNotSkipped) {
  // The smallest subnormal is positive, but half of it rounds to zero: somewhere between the four the mean
  // must vanish.
  const std::vector<float> smallest(4, std::numeric_limits<float>::denorm_min());
  const Mask mask = upsample_logits(smallest, 2, 2, 201, 101);
  EXPECT_EQ(mask.area(), 201U * 101U - 201U - 101U + 1U);
}

TEST(UpsampleLogits, NanSetsNothing) {
  EXPECT_EQ(upsample_logits(std::vector<float>(16, kNan), 4, 4, 200, 100).area(), 0U);
  std::vector<float> one(16, 1.0F);
  one[5] = kNan;
  const Mask mask = upsample_logits(one, 4, 4, 200, 100);
  EXPECT_GT(mask.area(), 0U);
  EXPECT_LT(mask.area(), 20000U);
}

TEST(UpsampleLogits, InfinitiesAndHugeNumbersDoNotBreakIt) {
  for (const float big : {kInfinity, std::numeric_limits<float>::max()}) {
    const std::vector<float> logits{big, -big, -big, big, big, -big, 1.0F, -1.0F, 0.0F};
    const Mask mask = upsample_logits(logits, 3, 3, 500, 400);
    std::uint64_t wanted = 0;
    for (int x = 0; x < 500; ++x) {
      for (int y = 0; y < 400; ++y) wanted += direct(logits, 3, 3, 500, 400, x, y) ? 1U : 0U;
    }
    EXPECT_EQ(mask.area(), wanted);
  }
}

TEST(UpsampleLogits, WrongSizesAreRefused) {
  const std::vector<float> logits(4, 1.0F);
  const auto code_of = [&](int rows, int columns, int width, int height) {
    try {
      (void)upsample_logits(logits, rows, columns, width, height);
    } catch (const Error& e) {
      return e.code();
    }
    return ErrorCode::kUsage;
  };
  EXPECT_EQ(code_of(2, 3, 5, 5), ErrorCode::kInternal);
  EXPECT_EQ(code_of(-2, -2, 5, 5), ErrorCode::kInternal);
  EXPECT_EQ(code_of(0, 4, 5, 5), ErrorCode::kInternal);
  EXPECT_EQ(code_of(2, 2, 0, 5), ErrorCode::kInternal);
  EXPECT_EQ(code_of(2, 2, 5, -1), ErrorCode::kInternal);
  EXPECT_EQ(code_of(2, 2, 65536, 65536), ErrorCode::kImageTooLarge);
}

TEST(ProbabilitiesToLogits, IsTheInverseOfTheSigmoid) {
  std::vector<float> values{0.5F, 0.25F, 0.75F, 0.9999F};
  probabilities_to_logits(values);
  EXPECT_EQ(values[0], 0.0F);
  EXPECT_FLOAT_EQ(values[1], -1.0986123F);
  EXPECT_FLOAT_EQ(values[2], 1.0986123F);
  EXPECT_FLOAT_EQ(values[3], static_cast<float>(std::log(static_cast<double>(0.9999F) /
                                                         (1 - static_cast<double>(0.9999F)))));
}

TEST(ProbabilitiesToLogits, ClampsTheEndsAndKeepsTheSign) {
  std::vector<float> values{
      0.0F, 1.0F, -0.1F, 1.1F, 1e-30F, kNan, std::nextafter(0.5F, 1.0F), std::nextafter(0.5F, 0.0F)};
  probabilities_to_logits(values);
  EXPECT_EQ(values[0], -16.0F);
  EXPECT_EQ(values[1], 16.0F);
  EXPECT_EQ(values[2], -16.0F);
  EXPECT_EQ(values[3], 16.0F);
  EXPECT_EQ(values[4], -16.0F);
  EXPECT_TRUE(std::isnan(values[5]));
  EXPECT_GT(values[6], 0.0F);
  EXPECT_LT(values[7], 0.0F);
}

}  // namespace
}  // namespace samlet
