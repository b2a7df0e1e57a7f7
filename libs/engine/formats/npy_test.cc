#include "libs/engine/formats/npy.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet::formats {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

/// A file with this header and these bytes.
Bytes file_of(const std::string& header, const Bytes& data, std::uint8_t major = 1) {
  Bytes bytes{0x93, 'N', 'U', 'M', 'P', 'Y', major, 0, static_cast<std::uint8_t>(header.size()), 0};
  if (major > 1) bytes.insert(bytes.end(), {0, 0});
  bytes.insert(bytes.end(), header.begin(), header.end());
  bytes.insert(bytes.end(), data.begin(), data.end());
  return bytes;
}

std::string header_of(const std::string& descr, const std::string& shape,
                      const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

Floats read(const std::string& descr, const std::string& shape, const Bytes& data) {
  return read_npy(file_of(header_of(descr, shape), data)).values;
}

std::string refusal(const Bytes& bytes) {
  try {
    (void)read_npy(bytes);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kPromptInvalid);
    return error.what();
  }
  return "";
}

TEST(WriteNpy, IsWhatNumpySaves) {
  const Bytes file = write_npy(Floats{1, -2, 0.5F, 0, 3, 4}, 2, 3);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  header.resize(117, ' ');
  Bytes expected = file_of(header + "\n", {0, 0, 0x80, 0x3F, 0, 0, 0,    0xC0, 0, 0, 0,    0x3F,
                                           0, 0, 0,    0,    0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40});
  EXPECT_EQ(file, expected);
  EXPECT_EQ((file.size() - 24) % 64, 0U);
}

TEST(WriteNpy, ComesBack) {
  const Floats values{1.5F, -32, 0, std::numeric_limits<float>::max(), -1e-40F, 7};
  const NpyArray array = read_npy(write_npy(values, 3, 2));
  EXPECT_EQ(array.values, values);
  EXPECT_EQ(array.rows, 3);
  EXPECT_EQ(array.columns, 2);
  EXPECT_EQ(array.type, NpyType::kFloat32);
  EXPECT_FALSE(array.is_mask());
}

TEST(WriteNpy, RefusesNumbersThatDoNotFillTheSize) {
  EXPECT_THROW((void)write_npy(Floats{1, 2, 3}, 2, 2), Error);
  EXPECT_THROW((void)write_npy(Floats{}, 0, 0), Error);
}

TEST(ReadNpy, KnowsEveryType) {
  EXPECT_EQ(read("<f4", "(1, 2)", {0, 0, 0x80, 0x3F, 0, 0, 0, 0xC1}), (Floats{1, -8}));
  EXPECT_EQ(read(">f4", "(1, 1)", {0xC1, 0, 0, 0}), Floats{-8});
  EXPECT_EQ(read("<f8", "(1, 1)", {0, 0, 0, 0, 0, 0, 0xF8, 0x3F}), Floats{1.5F});
  EXPECT_EQ(read("|b1", "(1, 3)", {0, 1, 1}), (Floats{0, 1, 1}));
  EXPECT_EQ(read("|u1", "(3, 1)", {0, 128, 255}), (Floats{0, 128, 255}));
  EXPECT_TRUE(read_npy(file_of(header_of("|b1", "(1, 1)"), {1})).is_mask());
  EXPECT_TRUE(read_npy(file_of(header_of("|u1", "(1, 1)"), {1})).is_mask());
}

TEST(ReadNpy, DecodesHalfNumbers) {
  EXPECT_EQ(read("<f2", "(2, 3)", {0, 0x3C, 0, 0xC0, 1, 0, 0xFF, 0x03, 0xFF, 0x7B, 0, 0x80}),
            (Floats{1, -2, std::ldexp(1.0F, -24), std::ldexp(1023.0F, -24), 65504, 0}));
  constexpr float kMost = std::numeric_limits<float>::max();
  EXPECT_EQ(read("<f2", "(1, 2)", {0, 0x7C, 0, 0xFC}), (Floats{kMost, -kMost}))
      << "infinity becomes the largest";
}

TEST(ReadNpy, CutsWhatFloatCannotHold) {
  EXPECT_EQ(read("<f8", "(1, 1)", {0, 0, 0, 0, 0, 0, 0xF0, 0x7F}), Floats{std::numeric_limits<float>::max()});
  EXPECT_EQ(read("<f8", "(1, 1)", {0, 0, 0, 0, 0, 0, 0xE0, 0xFF}),
            Floats{-std::numeric_limits<float>::max()});
}

TEST(ReadNpy, TakesALeadingOneAndEitherOrderOfAxes) {
  EXPECT_EQ(read("|u1", "(1, 2, 2)", {1, 2, 3, 4}), (Floats{1, 2, 3, 4}));
  const NpyArray turned = read_npy(file_of(header_of("|u1", "(2, 3)", "True"), {1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(turned.values, (Floats{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(turned.rows, 2);
}

TEST(ReadNpy, TakesTheOtherVersionsAndWaysOfWriting) {
  EXPECT_EQ(read_npy(file_of(header_of("|u1", "(1, 1)"), {5}, 2)).values, Floats{5});
  EXPECT_EQ(read_npy(file_of(header_of("|u1", "(1, 1)"), {5}, 3)).values, Floats{5});
  EXPECT_EQ(read_npy(file_of(R"({"shape":(1L,1L),"descr":"|u1","fortran_order":False})", {5})).values,
            Floats{5});
  EXPECT_EQ(read_npy(file_of(header_of("|u1", "(1, 1)"), {5, 6, 7})).values, Floats{5}) << "more may follow";
}

TEST(ReadNpy, RefusesEveryFileThatIsCutOff) {
  const Bytes file = write_npy(Floats{1, 2, 3, 4}, 2, 2);
  for (std::size_t size = 0; size < file.size(); ++size) {
    EXPECT_NE(refusal(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(size))), "") << size;
  }
}

TEST(ReadNpy, SaysWhatIsWrong) {
  const std::vector<std::pair<Bytes, std::string>> cases{
      {{'P', 'N', 'G', 0, 0, 0, 0, 0, 0, 0}, "does not begin like one"},
      {file_of(header_of("|u1", "(1, 1)"), {1}, 4), "version is 4.0"},
      {file_of(header_of("<i8", "(1, 1)"), Bytes(8)), "type '<i8'"},
      {file_of(header_of("|O", "(1, 1)"), Bytes(8)), "type '|O'"},
      {file_of(header_of("|u1", "(4,)"), Bytes(4)), "shape is (4)"},
      {file_of(header_of("|u1", "(2, 2, 1)"), Bytes(4)), "shape is (2, 2, 1)"},
      {file_of(header_of("|u1", "(0, 4)"), Bytes(4)), "shape is (0, 4)"},
      {file_of(header_of("|u1", "()"), Bytes(4)), "shape is ()"},
      {file_of(header_of("<f4", "(2, 2)"), Bytes(15)), "cut off"},
      {file_of(header_of("<f8", "(2147483647, 2147483647)"), Bytes(8)), "cut off"},
      {file_of(header_of("<f4", "(4294967297, 1)"), Bytes(8)), "shape is"},
      {file_of(header_of("<f4", "(99999999999999999999, 1)"), Bytes(8)), "header"},
      {file_of(header_of("<f4", "(1, 1)"), {0, 0, 0xC0, 0x7F}), "NaN"},
      {file_of("{'descr': '|u1', 'shape': (1, 1), }", {1}), "header"},
      {file_of("{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (1, 1), }", {1}), "header"},
      {file_of("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 1), 'x': 1}", {1}), "header"},
      {file_of(header_of("|u1", "(1, 1)") + "x", {1}), "header"}};
  for (const auto& [bytes, words] : cases) {
    const std::string message = refusal(bytes);
    EXPECT_NE(message.find(words), std::string::npos) << "'" << message << "' lacks '" << words << "'";
  }
}

}  // namespace
}  // namespace samlet::formats
