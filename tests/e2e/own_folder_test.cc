// samlet run on samlet's own folders, on stubs: what such folders can do and those of v0.3.0 cannot.
#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

class OwnFolder : public CliTest {
 protected:
  [[nodiscard]] static std::string stub(const std::string& name) {
    return (fs::path(SAMLET_SOURCE_DIR) / "tests/data" / name).native();
  }

  [[nodiscard]] Json json_of(const std::string& model, std::vector<std::string> words) const {
    words.insert(words.begin(), {"run", model, sample("shapes_01.png"), "--json"});
    const ProcessResult result = samlet(std::move(words));
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return Json::parse(result.output);
  }
};

TEST_F(OwnFolder, ManyPhrasesGiveWhatEachGivesAlone) {
  for (const char* name : {"stub-v1", "stub-v1-static", "stub-v1-fp16"}) {
    SCOPED_TRACE(name);
    const std::vector<std::string> phrases{
        "a", "red circle", "dog", "yellow school bus", "x", "b", "cat", "tree", "chair", "person"};
    std::vector<std::string> words{"--threshold", "0.3"};
    Json alone = Json::array();
    for (std::size_t i = 0; i < phrases.size(); ++i) {
      words.insert(words.end(), {"--text", phrases[i]});
      const Json one = json_of(stub(name), {"--threshold", "0.3", "--text", phrases[i]});
      for (Json found : one["instances"]) {
        found["id"] = alone.size() + 1;
        found["prompt_index"] = i;
        alone.push_back(found);
      }
    }
    EXPECT_GT(alone.size(), 10U);
    EXPECT_TRUE(json_of(stub(name), words)["instances"] == alone) << "(too long to print)";
  }
}

TEST_F(OwnFolder, AnyThresholdAndAnyNumberOfBoxes) {
  EXPECT_EQ(json_of(stub("stub-v1"), {"--text", "dog", "--threshold", "0"})["instances"].size(), 10U);
  EXPECT_EQ(json_of(stub("stub-v1"), {"--text", "dog", "--threshold", "1"})["instances"].size(), 0U);
  const std::vector<std::string> boxes{"--threshold",    "0",        "--box",
                                       "10,10,100,100",  "--box",    "200,200,300,300",
                                       "--negative-box", "5,5,50,50"};
  const Json three = json_of(stub("stub-v1"), boxes);
  EXPECT_EQ(three["instances"].size(), 10U);
  EXPECT_NE(three["instances"][0]["score"],
            json_of(stub("stub-v1"), {boxes.begin(), boxes.begin() + 4})["instances"][0]["score"]);
  EXPECT_EQ(three["instances"], json_of(stub("stub-v1-static"), boxes)["instances"]);
}

TEST_F(OwnFolder, TheResultTellsTheModel) {
  const Json json = json_of(stub("stub-v1"), {"--text", "dog"});
  EXPECT_EQ(json["model"]["name"], "stub-v1");
  EXPECT_EQ(json["model"]["text_encoder"], "full");
  EXPECT_EQ(json["model"]["precision"], "fp32");
  EXPECT_EQ(json["model"]["sha256"], "725c546b990dd1b41f3d5791b37c3c0edcb1f08cf150bdae32a73dfd166e02d7");
  EXPECT_TRUE(json["instances"][0]["presence"].is_number());
}

TEST_F(OwnFolder, ATextEncoderIsNamedInFourWays) {
  const Json named = json_of(stub("stub-v1"), {"--text", "dog", "--threshold", "0", "--text-encoder", "s0"});
  EXPECT_EQ(named["model"]["text_encoder"], "litetext-s0");
  EXPECT_EQ(json_of(stub("stub-v1") + ":litetext-s0", {"--text", "dog", "--threshold", "0"})["instances"],
            named["instances"]);
  for (const std::string& path :
       {stub("stub-v1") + "/sam3_litetext_s0_language_encoder.onnx", stub("stub-v1-static")}) {
    const Json json = json_of(stub("stub-v1"), {"--text", "dog", "--threshold", "0", "--text-encoder", path});
    EXPECT_EQ(json["instances"], named["instances"]) << path;
  }
}

TEST_F(OwnFolder, AFolderOfTheOtherLayoutGivesItsTextEncoder) {
  const std::vector<std::string> words{"--text", "red circle"};
  const Json own = json_of(miniature_model(), words);
  EXPECT_EQ(own["instances"].size(), 2U);
  const Json lent = json_of(miniature_model(), {"--text", "red circle", "--text-encoder", miniature_model()});
  EXPECT_EQ(lent["model"]["text_encoder"], "full");
  EXPECT_EQ(lent["instances"], own["instances"]);
}

TEST_F(OwnFolder, ATextEncoderThatIsNotThereIsRefused) {
  const std::vector<std::string> words{"run",    stub("stub-v1"), sample("shapes_01.png"),
                                       "--text", "dog",           "--text-encoder"};
  const auto with = [&](const std::string& encoder) {
    std::vector<std::string> all = words;
    all.push_back(encoder);
    return samlet(all);
  };
  expect_refused(with("l"), 3, {"'l'", "full, litetext-s0"});
  expect_refused(with("./none.onnx"), 3, {"./none.onnx"});
  expect_refused(with(""), 2, {"--text-encoder"});
  std::vector<std::string> twice = words;
  twice[1] += ":s0";
  twice.emplace_back("full");
  expect_refused(samlet(twice), 2, {"named twice"});
}

TEST_F(OwnFolder, AColonMayStandInAFoldersName) {
  const fs::path folder = folder_.path() / "odd:s0";
  fs::copy(stub("stub-v1"), folder);
  EXPECT_EQ(json_of(folder.native(), {"--text", "dog"})["model"]["text_encoder"], "full");
  EXPECT_EQ(json_of(folder.native() + ":s0", {"--text", "dog"})["model"]["text_encoder"], "litetext-s0");
}

TEST_F(OwnFolder, DamageIsNamedBeforeAnythingIsLoaded) {
  const fs::path folder = folder_.path() / "model";
  fs::copy(stub("stub-v1"), folder);
  remember_entries();
  const auto refused = [&](const std::vector<std::string>& parts) {
    expect_refused(samlet({"run", folder.native(), sample("shapes_01.png"), "--text", "dog"}), 3, parts);
  };
  fs::resize_file(folder / "sam3_image_encoder.onnx.data", 100);
  refused({"sam3_image_encoder.onnx.data", "100 bytes", "18880"});
  fs::remove(folder / "sam3_image_encoder.onnx.data");
  refused({"sam3_image_encoder.onnx.data", "not there"});
  write_file(folder / "model.json", R"({"format": 9})");
  refused({"model.json", "newer samlet", "format 9"});
}

}  // namespace
}  // namespace samlet::test
