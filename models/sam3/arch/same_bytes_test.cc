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
  EXPECT_EQ(version(), "0.1.0");
}

TEST(SameBytes, SinglePrecision) {
  expect_hashes("fp32", {
                            {"sam3_decoder.onnx", "5e234e97eed56674"},
                            {"sam3_image_encoder.onnx", "0e249e4a8287fcec"},
                            {"sam3_image_encoder.onnx.data", "fe8ab66a72aacb3d"},
                            {"sam3_language_encoder.onnx", "a6d5b8e46ca8b736"},
                            {"sam3_language_encoder.onnx.data", "38cbf59b4bf972bd"},
                            {"sam3_litetext_s0_language_encoder.onnx", "3268f7cfc7f02208"},
                            {"sam3_litetext_s0_language_encoder.onnx.data", "d1479e16002d8c93"},
                            {"sam3_point_decoder.onnx", "7b707e92a2bdea23"},
                        });
}

TEST(SameBytes, HalfPrecision) {
  expect_hashes("fp16", {
                            {"sam3_decoder.onnx", "7c07455b296d2c86"},
                            {"sam3_image_encoder.onnx", "b0836db433e197b7"},
                            {"sam3_image_encoder.onnx.data", "4e03a64d0b5415cd"},
                            {"sam3_language_encoder.onnx", "fd31188093bc7718"},
                            {"sam3_language_encoder.onnx.data", "1209c85615a1230c"},
                            {"sam3_litetext_s0_language_encoder.onnx", "4830fa49aacc6569"},
                            {"sam3_litetext_s0_language_encoder.onnx.data", "7b54c7164ac72335"},
                            {"sam3_point_decoder.onnx", "404231f7365e6da0"},
                        });
}

TEST(SameBytes, ThreadsAndRepetitionChangeNothing) {
  EXPECT_EQ(hashes_of(ExportedModel(options("fp32")).report()),
            hashes_of(ExportedModel(options("fp32")).report()));
}

}  // namespace
}  // namespace samlet::sam3
