#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "samlet/error.h"
#include "samlet/mask.h"

namespace samlet {
namespace {

struct Recorded {
  std::string name;
  std::string text;
  Mask mask;
};

/// What pycocotools wrote for the shapes of tools/mask/make_testdata.py.
std::vector<Recorded> recorded() {
  std::ifstream in(SAMLET_SOURCE_DIR "/libs/mask/testdata/rle.txt");
  std::vector<Recorded> all;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    Recorded r;
    words >> r.name >> r.mask.width >> r.mask.height >> r.text;
    for (std::uint32_t run = 0; words >> run;) r.mask.counts.push_back(run);
    all.push_back(std::move(r));
  }
  return all;
}

void expect_refused(const std::string& text, int width, int height, const std::string& part) {
  try {
    (void)from_coco_string(text, width, height);
    FAIL() << "accepted '" << text << "'";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
  }
}

TEST(CocoString, EqualsPycocotoolsByteForByte) {
  const auto all = recorded();
  ASSERT_EQ(all.size(), 20U);
  for (const auto& r : all) {
    SCOPED_TRACE(r.name);
    EXPECT_EQ(to_coco_string(r.mask), r.text);
    EXPECT_EQ(from_coco_string(r.text, r.mask.width, r.mask.height).counts, r.mask.counts);
  }
}

TEST(CocoString, RunsOf32BitsSurvive) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();
  // Differences of both signs at full width; 65537 x 131072 pixels are 2 * kMost + 131074.
  const Mask mask{65537, 131072, {kMost, 0, 0, kMost, 131074}};
  EXPECT_EQ(from_coco_string(to_coco_string(mask), mask.width, mask.height).counts, mask.counts);
}

TEST(CocoString, EmptyRunsAreKept) {
  const Mask mask{2, 3, {1, 0, 2, 3, 0, 0}};
  EXPECT_EQ(from_coco_string(to_coco_string(mask), 2, 3).counts, mask.counts);
}

TEST(CocoString, NothingIsTheMaskOfNoPixels) {
  EXPECT_EQ(to_coco_string(Mask{}), "");
  EXPECT_TRUE(from_coco_string("", 0, 4).counts.empty());
}

TEST(CocoString, RefusesWhatIsNoSuchString) {
  expect_refused("", 5, 7, "add up to 0 pixels, but 5 x 7 are 35");
  expect_refused("T1", 5, 7, "add up to 36 pixels");
  expect_refused("R1", 5, 7, "add up to 34 pixels");
  expect_refused("S1", -5, -7, "negative side");
  expect_refused("S", 5, 7, "ends within a number");
  expect_refused("S1o", 5, 7, "character 2 ends within");
  expect_refused("S/", 5, 7, "character 1 is none of");
  expect_refused("p", 5, 7, "is none of");
  expect_refused(std::string("S1\0", 3), 5, 7, "character 2 is none of");
  expect_refused("S1\n", 5, 7, "is none of");
  expect_refused("\xff", 5, 7, "is none of");
  expect_refused("O", 5, 7, "negative run");
  expect_refused("111M", 5, 7, "negative run");  // 1 + (-3)
}

TEST(CocoString, RefusesNumbersOfMoreThan32Bits) {
  expect_refused("PPPPPP4", 65535, 65535, "run of more than 32 bits");  // 2^32
  expect_refused("PPPPPPP1", 65535, 65535, "number of more than 32 bits");
  expect_refused(std::string(1000, 'o') + "0", 65535, 65535, "number of more than 32 bits");
  // Runs that fit each, but not together; and differences that climb beyond 32 bits.
  expect_refused("0oooooo3oooooo3", 65535, 65535, "add up to 8589934590 pixels");
  expect_refused("0oooooo30oooooo3", 65535, 65535, "character 9 makes a run of more than 32 bits");
  expect_refused("0oooooo301", 65535, 65535, "character 9 makes a run of more than 32 bits");
}

}  // namespace
}  // namespace samlet
