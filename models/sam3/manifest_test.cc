// model.json: written, read again, and the many ways in which one is wrong.
#include "models/sam3/manifest.h"

#include <functional>
#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "models/sam3/contract.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

using Json = nlohmann::json;

const std::string kHash(64, 'a');
const std::string kDecoder(kDecoderFile);
const std::string kLanguage(kLanguageEncoderFile);
const std::string kLiteText = "sam3_litetext_s0_language_encoder.onnx";

Manifest sound() {
  Manifest m;
  m.name = "sam3";
  m.exporter = "samlet 0.1.0";
  m.sizes = {1008, 14, 72, 256, 200, 288};
  m.sources = {{"checkpoint", "sam3.pt", 3441000000, kHash, "meta"},
               {"text_encoder", "litetext_s0.pt", 1000, std::string(64, 'b'), "litetext"}};
  m.graphs = {{kDecoder, {123456789012}}, {kLanguage, {}}, {kLiteText, {}}};
  m.text_encoders = {{"full", kLanguage, 32}, {"litetext-s0", kLiteText, 16}};
  m.files = {{kDecoder, {10, kHash}},
             {kLanguage, {11, kHash}},
             {kLiteText, {12, kHash}},
             {"weights.data", {0, kHash}}};
  m.self_test = ManifestSelfTest{"1.32.0", {{kDecoder, {{"scores", {200, 0.125, 0.5, 1}}}}}};
  return m;
}

TEST(Manifest, IsReadAsItWasWritten) {
  const Manifest m = sound();
  const std::string text = manifest_to_json(m);
  EXPECT_EQ(parse_manifest(text, "model.json"), m);
  EXPECT_EQ(manifest_to_json(parse_manifest(text, "model.json")), text);
  Manifest other = m;
  other.name.clear();
  other.decoder = DecoderForm::kStatic;
  other.precision = "fp16";
  other.self_test.reset();
  EXPECT_EQ(parse_manifest(manifest_to_json(other), "model.json"), other);
}

TEST(Manifest, IsTextForPeople) {
  const std::string text = manifest_to_json(sound());
  EXPECT_TRUE(text.starts_with("{\n  \"format\": 1,\n  \"contract\": 1,\n  \"family\": \"sam3\",\n")) << text;
  EXPECT_TRUE(text.ends_with("}\n"));
  Manifest unchecked = sound();
  unchecked.self_test.reset();
  EXPECT_NE(manifest_to_json(unchecked).find("\"self_test\": \"unchecked\""), std::string::npos);
}

TEST(Manifest, RoundsFigures) {
  Manifest m = sound();
  m.self_test->figures[kDecoder]["scores"] = {1, 1.0 / 3, 2.0e-9 / 3, 12345678};
  const OutputFigures f = parse_manifest(manifest_to_json(m), "x").self_test->figures[kDecoder]["scores"];
  EXPECT_EQ(f.mean, 0.333333);
  EXPECT_EQ(f.std, 6.66667e-10);
  EXPECT_EQ(f.max, 12345700);
}

TEST(Manifest, PassesOverUnknownKeys) {
  Json json = Json::parse(manifest_to_json(sound()));
  json["later"] = {{"some", "thing"}};
  json["sizes"]["more"] = 3;
  EXPECT_EQ(parse_manifest(json.dump(), "model.json"), sound());
}

TEST(Manifest, TheHashOfTheCheckpointIsOneHash) {
  Manifest m = sound();
  EXPECT_EQ(checkpoint_hash(m), kHash);
  m.sources.push_back(m.sources[0]);
  // sha256sum of two lines of 64 a's.
  EXPECT_EQ(checkpoint_hash(m), "9702fbc11dd4f217afc57df2216a68e36b296281b7dde45f26caff6c8ff3255e");
  m.sources.clear();
  EXPECT_FALSE(checkpoint_hash(m).has_value());
}

struct Break {
  std::string name;
  std::function<void(Json&)> damage;
  ErrorCode code;
  std::string part;
};

std::vector<Break> breaks() {
  const auto damaged = ErrorCode::kModelDamaged;
  const auto unsupported = ErrorCode::kModelUnsupported;
  return {
      {"a newer format", [](Json& j) { j = {{"format", 2}}; }, unsupported, "format 2, this one knows 1"},
      {"a newer contract", [](Json& j) { j["contract"] = 7; }, unsupported, "contract 7, this one knows 1"},
      {"format 0", [](Json& j) { j["format"] = 0; }, damaged, "'format' is 0"},
      {"no format", [](Json& j) { j.erase("format"); }, damaged, "no 'format'"},
      {"format as text", [](Json& j) { j["format"] = "1"; }, damaged, "'format'"},
      {"another family", [](Json& j) { j["family"] = "sam2"; }, unsupported, "'sam2'"},
      {"a list", [](Json& j) { j = Json::array(); }, damaged, "not an object"},
      {"no sizes", [](Json& j) { j.erase("sizes"); }, damaged, "'sizes'"},
      {"wrong grid", [](Json& j) { j["sizes"]["grid"] = 71; }, damaged, "grid 71"},
      {"wrong mask", [](Json& j) { j["sizes"]["mask"] = 72; }, damaged, "mask 72"},
      {"patch 0", [](Json& j) { j["sizes"]["patch"] = 0; }, damaged, "patch 0"},
      {"huge image", [](Json& j) { j["sizes"]["image"] = 1 << 20; }, damaged, "image 1048576"},
      {"negative", [](Json& j) { j["sizes"]["image"] = -14; }, damaged, "'image'"},
      {"a fraction", [](Json& j) { j["opset"] = 20.5; }, damaged, "'opset'"},
      {"too large", [](Json& j) { j["opset"] = std::numeric_limits<std::uint64_t>::max(); }, damaged,
       "opset"},
      {"resize", [](Json& j) { j["preprocessing"]["resize"] = "bicubic"; }, unsupported, "'bicubic'"},
      {"std", [](Json& j) { j["preprocessing"]["std"][1] = 0; }, unsupported, "deviations 0.5, 0, 0.5"},
      {"another mean", [](Json& j) { j["preprocessing"]["mean"][0] = 0.485; }, unsupported,
       "means 0.485, 0.5"},
      {"mean", [](Json& j) { j["preprocessing"]["mean"] = {1, 2}; }, damaged, "'mean'"},
      {"mean of words", [](Json& j) { j["preprocessing"]["mean"][0] = "x"; }, damaged, "'mean'"},
      {"decoder", [](Json& j) { j["decoder"] = "other"; }, unsupported, "'other'"},
      {"precision", [](Json& j) { j["precision"] = "int8"; }, unsupported, "'int8'"},
      {"target", [](Json& j) { j["target"] = "\x1b[2J"; }, damaged, "\\x1b[2J"},
      {"runtime", [](Json& j) { j["minimum_onnxruntime"] = "new"; }, damaged, "minimum_onnxruntime"},
      {"hash", [](Json& j) { j["files"]["weights.data"]["sha256"] = "zz"; }, damaged, "weights.data"},
      {"file outside", [](Json& j) { j["files"]["../x"] = j["files"][kDecoder]; }, damaged, "'../x'"},
      {"absolute file", [](Json& j) { j["files"]["/etc/x"] = j["files"][kDecoder]; }, damaged, "'/etc/x'"},
      {"file below", [](Json& j) { j["files"]["a\\b"] = j["files"][kDecoder]; }, damaged, "a\\b"},
      {"hidden file", [](Json& j) { j["files"][".."] = j["files"][kDecoder]; }, damaged, "'..'"},
      {"graph", [](Json& j) { j["graphs"]["x.onnx"] = {{"flops", 0}}; }, damaged, "'x.onnx'"},
      {"source", [](Json& j) { j["sources"][0]["file"] = std::string(1001, 'x'); }, damaged, "'file'"},
      {"sources", [](Json& j) { j["sources"] = 3; }, damaged, "'sources'"},
      {"encoder's file", [](Json& j) { j["text_encoders"][0]["file"] = "x"; }, damaged, "'full' is 'x'"},
      {"encoder twice", [](Json& j) { j["text_encoders"][0]["name"] = "litetext-s0"; }, damaged, "two text"},
      {"context", [](Json& j) { j["text_encoders"][0]["context"] = 5000; }, damaged, "5000"},
      {"many", [](Json& j) { j["text_encoders"] = Json(300, j["text_encoders"][0]); }, damaged, "256"},
      {"self-test", [](Json& j) { j["self_test"] = "passed"; }, damaged, "'self_test'"},
      {"figures", [](Json& j) { j["self_test"]["figures"]["x.onnx"] = Json::object(); }, damaged,
       "'x.onnx', which is not among"},
      {"long text", [](Json& j) { j["exporter"] = std::string(1000, 'x'); }, damaged, "'exporter'"},
  };
}

TEST(Manifest, SaysWhatIsWrong) {
  for (const Break& b : breaks()) {
    SCOPED_TRACE(b.name);
    Json json = Json::parse(manifest_to_json(sound()));
    b.damage(json);
    try {
      (void)parse_manifest(json.dump(), "model.json");
      ADD_FAILURE() << "was read";
    } catch (const Error& e) {
      EXPECT_EQ(error_traits(e.code()).name, error_traits(b.code).name) << e.what();
      EXPECT_NE(std::string(e.what()).find(b.part), std::string::npos) << e.what();
      EXPECT_NE(std::string(e.what()).find("'model.json'"), std::string::npos) << e.what();
    }
  }
}

TEST(Manifest, ASourceMayHaveAnyName) {
  for (const std::string& name :
       {std::string(".hidden.pt"), std::string("a\\b\nc/d"), std::string(), std::string(1000, 'x')}) {
    Manifest m = sound();
    m.sources[0].file = name;
    EXPECT_EQ(parse_manifest(manifest_to_json(m), "model.json"), m) << name;
  }
  Manifest m = sound();
  m.sources[0].file = std::string(1001, 'x');
  EXPECT_THROW((void)manifest_to_json(m), Error);
}

TEST(Manifest, AKeyGivenTwiceIsDamaged) {
  const std::string text = manifest_to_json(sound());
  for (const std::string key : {R"("precision": "fp32")", R"("queries": 200)", R"("flops": 123456789012)"}) {
    std::string twice = text;
    const std::size_t at = twice.find(key);
    ASSERT_NE(at, std::string::npos) << key;
    twice.insert(at, key + ", ");
    try {
      (void)parse_manifest(twice, "model.json");
      ADD_FAILURE() << key << " was read";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kModelDamaged);
      const std::string name = key.substr(1, key.find('"', 1) - 1);
      EXPECT_NE(std::string(e.what()).find("the key '" + name + "' twice"), std::string::npos) << e.what();
    }
  }
}

TEST(Manifest, CutTextIsDamaged) {
  const std::string text = manifest_to_json(sound());
  for (std::size_t length = 0; length + 2 < text.size(); length += 7) {
    EXPECT_THROW((void)parse_manifest(text.substr(0, length), "model.json"), Error) << length;
  }
  EXPECT_THROW((void)parse_manifest("\xFF", "x"), Error);
  EXPECT_THROW((void)parse_manifest(std::string(100000, '['), "x"), Error);
  EXPECT_THROW((void)parse_manifest("{\"format\":1e999}", "x"), Error);
}

TEST(Manifest, WhatCouldNotBeReadIsNotWritten) {
  Manifest m = sound();
  m.files["sub/file"] = {1, kHash};
  try {
    (void)manifest_to_json(m);
    ADD_FAILURE() << "was written";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInternal);
  }
  m = sound();
  m.self_test->figures[kDecoder]["scores"].mean = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW((void)manifest_to_json(m), Error);
  m = sound();
  m.name = "\xFF";
  EXPECT_THROW((void)manifest_to_json(m), Error);
}

}  // namespace
}  // namespace samlet::sam3
