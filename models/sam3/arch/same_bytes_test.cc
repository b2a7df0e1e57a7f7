// The same checkpoint gives the same files from every compiler and on every machine: these hashes hold for
// g++ 12 and 14 and clang-19 (the preset fuzz runs this test too). A change of the graphs that is meant
// changes them; the test prints what to write here then.
#include <map>

#include "models/sam3/arch/golden_support.h"
#include "samlet/version.h"

namespace samlet::sam3 {
namespace {

using Hashes = std::map<std::string, std::string>;

ExportOptions options(const std::string& precision) {
  ExportOptions options;
  options.checkpoint = golden("sam3") / "sam3.pt";
  options.text_encoders = {golden("litetext_s0") / "litetext_s0.pt"};
  options.precision = precision;
  options.self_test = false;
  return options;
}

Hashes hashes_of(const ExportReport& report) {
  Hashes hashes;
  for (const ExportedFile& file : report.files) hashes[file.name] = file.sha256.substr(0, 16);
  return hashes;
}

void expect_hashes(const std::string& precision, const Hashes& wanted) {
  const Hashes got = hashes_of(ExportedModel(options(precision)).report());
  EXPECT_EQ(got, wanted);
  if (got == wanted) return;
  for (const auto& [name, hash] : got)
    std::printf("            {\"%s\", \"%s\"},\n", name.c_str(), hash.c_str());
}

// The version stands in every graph; with a new one all hashes of .onnx files change.
TEST(SameBytes, VersionIsTheOneTheHashesAreFor) {
  EXPECT_STREQ(version(), "0.1.0");
}

TEST(SameBytes, SinglePrecision) {
  expect_hashes("fp32", {
                            {"sam3_decoder.onnx", "43f3ac5b027270ff"},
                            {"sam3_image_encoder.onnx", "eaf35ebf7d14efc4"},
                            {"sam3_image_encoder.onnx.data", "f153b843b9b54509"},
                            {"sam3_language_encoder.onnx", "7c5f12dafe886987"},
                            {"sam3_language_encoder.onnx.data", "5a5b88b131b8d2d4"},
                            {"sam3_litetext_s0_language_encoder.onnx", "37b489f7afc4d6c7"},
                            {"sam3_litetext_s0_language_encoder.onnx.data", "38ce14e18780df30"},
                            {"sam3_point_decoder.onnx", "e6ff331ed7b9daf6"},
                        });
}

TEST(SameBytes, HalfPrecision) {
  expect_hashes("fp16", {
                            {"sam3_decoder.onnx", "490e203d361c7def"},
                            {"sam3_image_encoder.onnx", "bfbdb0e8060a40d4"},
                            {"sam3_image_encoder.onnx.data", "02b1b83b79a4c2a6"},
                            {"sam3_language_encoder.onnx", "19e05f5f1bdf91ad"},
                            {"sam3_language_encoder.onnx.data", "b2b19d704f0c0740"},
                            {"sam3_litetext_s0_language_encoder.onnx", "c0edd3fdefa994fc"},
                            {"sam3_litetext_s0_language_encoder.onnx.data", "3874ff7952f4b4ea"},
                            {"sam3_point_decoder.onnx", "2dc2c1feae6dd454"},
                        });
}

TEST(SameBytes, ThreadsAndRepetitionChangeNothing) {
  EXPECT_EQ(hashes_of(ExportedModel(options("fp32")).report()),
            hashes_of(ExportedModel(options("fp32")).report()));
}

}  // namespace
}  // namespace samlet::sam3
