#include "libs/checkpoint/safetensors.h"

#include <fmt/format.h>

#include "libs/checkpoint/json.h"
#include "libs/checkpoint/test_support.h"

namespace samlet::checkpoint {
namespace {

std::vector<TensorInfo> read(std::string_view bytes) {
  return read_safetensors({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::string tensor_with(std::string_view dtype, std::string_view shape, std::string_view offsets) {
  return fmt::format(R"({{"a":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", dtype, shape, offsets);
}

TEST(Safetensors, RefusesHeadersThatLie) {
  struct Case {
    std::string header;
    std::string words;
  };
  const std::vector<Case> cases{
      {tensor_with(R"("F32")", "[2]", "[0,4]"),
       "the tensor 'a' has 4 bytes, which is not what F32 [2] takes"},
      {tensor_with(R"("F32")", "[1]", "[4,8]"), "begins at byte 4 of the data instead of 0"},
      {tensor_with(R"("F32")", "[3]", "[0,12]"), "is cut: its header asks for"},
      {tensor_with(R"("F32")", "[1]", "[0,4]"), "has 4 bytes behind its last tensor"},
      {tensor_with(R"("F32")", "[-2,-1]", "[0,8]"), "holds what is no size"},
      {tensor_with(R"("F32")", "[1.5]", "[0,8]"), "holds what is no size"},
      {tensor_with(R"("F32")", R"("2")", "[0,8]"), "has no shape"},
      {tensor_with(R"("F32")", "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,2]", "[0,8]"), "at most 16 dimensions"},
      {tensor_with(R"("F32")", "[4611686018427387904,4]", "[0,8]"), "has 8 bytes"},
      {tensor_with(R"("F32")", "[4611686018427387904]", "[0,8]"), "has 8 bytes"},
      {tensor_with(R"("F32")", "[2]", "[8,0]"), "has no data_offsets"},
      {tensor_with(R"("F32")", "[2]", "[-8,0]"), "has no data_offsets"},
      {tensor_with(R"("F32")", "[2]", "[0,18446744073709551615]"), "has no data_offsets"},
      {tensor_with(R"("F32")", "[2]", "[0]"), "has no data_offsets"},
      {tensor_with("1", "[2]", "[0,8]"), "has no dtype"},
      {R"({"a":7})", "has no dtype"},
      {"[]", "is no JSON object"},
      {"{", "is no JSON from byte"},
      {"", "is no JSON from byte"},
      {"{}x", "is no JSON from byte"},
      {"{\"\xFF\":1}", "is no JSON from byte"},
      {R"({"a":1e999})", "is no JSON from byte"},
      {R"({"a":{"shape":[],"shape":[]}})", "has the key 'shape' twice"},
      {std::string(40, '['), "is nested deeper than 32 levels"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.header);
    const Error error = error_of([&] { (void)read(safetensors_of(c.header, std::string(8, '\0'))); });
    EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
    EXPECT_TRUE(contains(error.what(), c.words));
  }
}

TEST(Safetensors, RefusesTypesItDoesNotKnow) {
  const Error error = error_of(
      [] { (void)read(safetensors_of(tensor_with(R"("F4")", "[2]", "[0,1]"), std::string(1, '\0'))); });
  EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(error.what(), "the element type 'F4'"));
}

TEST(Safetensors, RefusesTensorsThatShareBytes) {
  const std::string header = R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})";
  const Error error = error_of([&] { (void)read(safetensors_of(header, std::string(12, '\0'))); });
  EXPECT_TRUE(contains(error.what(), "the tensor 'b' begins at byte 4 of the data instead of 8"));
}

TEST(Safetensors, RefusesLengthsThatLie) {
  const auto words = [](std::uint64_t length, std::string_view rest) {
    return std::string(error_of([&] { (void)read(little_endian(length, 8) + std::string(rest)); }).what());
  };
  EXPECT_TRUE(contains(words(10, "{}"), "cut inside its header: 18 bytes are needed at least, it has 10"));
  EXPECT_TRUE(contains(words(100'000'001, "{}"), "claims 100000001 bytes"));
  EXPECT_TRUE(contains(words(~std::uint64_t{0}, "{}"), "claims 18446744073709551615 bytes"));
  EXPECT_TRUE(contains(error_of([] { (void)read("1234567"); }).what(), "has 7 bytes, too few"));
}

TEST(Safetensors, TruncationsNameBothSizes) {
  const std::string whole = content_of(testdata() / "types.safetensors");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = error_of([&] { (void)read(whole.substr(0, size)); });
    ASSERT_EQ(error.code(), ErrorCode::kModelDamaged) << size;
    ASSERT_TRUE(contains(error.what(), std::to_string(size))) << size;
  }
}

TEST(Safetensors, IsToldFromAnIndex) {
  const auto looks = [](std::string_view text) {
    return looks_like_safetensors({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
  };
  EXPECT_TRUE(looks(safetensors_of("{}", "")));
  EXPECT_FALSE(looks(R"({"abcd":{"a":"b"}})"));
  EXPECT_FALSE(looks("1234567"));
}

TEST(Json, KeepsOrderAndKinds) {
  const Json json = parse_json(R"({"b":[1,-2.5,true,null,"x"],"a":{"c":9007199254740993}})", "it");
  ASSERT_EQ(json.keys, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(json.items[0].items[0].as_integer(), 1);
  EXPECT_EQ(json.items[0].items[1].number, -2.5);
  EXPECT_EQ(json.items[0].items[1].as_integer(), std::nullopt);
  EXPECT_TRUE(json.items[0].items[2].boolean);
  EXPECT_TRUE(json.items[0].items[3].is(Json::Kind::kNull));
  EXPECT_EQ(json.items[0].items[4].text, "x");
  EXPECT_EQ(json.find("a")->find("c")->as_integer(), 9007199254740993);
  EXPECT_EQ(json.find("c"), nullptr);
  EXPECT_EQ(json.items[0].find("b"), nullptr);
}

TEST(Json, RefusesMoreValuesThanAnyFileHas) {
  std::string text = "[0";
  for (std::size_t i = 1; i < kMaxJsonValues; ++i) text += ",0";
  EXPECT_TRUE(contains(error_of([&] { (void)parse_json(text + "]", "it"); }).what(),
                       "holds more than 500000 values"));
}

}  // namespace
}  // namespace samlet::checkpoint
