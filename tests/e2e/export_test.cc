// The export from outside: what is refused, what is left behind, what the folder is good for.
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

#include "libs/checkpoint/checkpoint.h"
#include "tests/e2e/cli.h"

namespace samlet::test {
namespace {

class Export : public CliTest {
 protected:
  ProcessResult export_to(const std::string& name, std::vector<std::string> more = {},
                          const ProcessOptions& options = {}) const {
    std::vector<std::string> words{"export", miniature_checkpoint(), "--out", name};
    words.insert(words.end(), more.begin(), more.end());
    return samlet(words, options);
  }

  /// The miniature's bytes, changed, as a checkpoint of its own; config.json stands beside it.
  std::string changed_checkpoint(const std::function<void(std::string&)>& change) {
    std::string bytes = read_text(miniature_checkpoint());
    change(bytes);
    const fs::path folder = folder_.path() / "changed";
    fs::create_directories(folder);
    write_file(folder / "sam3.pt", bytes);
    fs::copy_file(miniature() / "checkpoint/config.json", folder / "config.json",
                  fs::copy_options::overwrite_existing);
    remember_entries();
    return (folder / "sam3.pt").native();
  }

  [[nodiscard]] Json instances(const std::string& model, std::vector<std::string> words) const {
    words.insert(words.begin(), {"run", model, sample("shapes_01.png"), "--json"});
    const ProcessResult result = samlet(words);
    EXPECT_EQ(result.exit_code, 0) << result.error;
    return Json::parse(result.output)["instances"];
  }
};

TEST_F(Export, FolderHasTheGraphsAndPassedItsSelfTest) {
  const ProcessResult result = export_to("model");
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(mentions(result.output, "4 graphs")) << result.output;
  EXPECT_TRUE(mentions(result.output, "self-test passed")) << result.output;
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(folder_.entries(), std::vector<std::string>{"model"});
  const Json manifest = Json::parse(read_text(folder_.path() / "model/model.json"));
  EXPECT_EQ(manifest["sources"][0]["sha256"],
            "5f5d46fd6e6e3c1b00e6094339cfcb9c766b38b1f51259d08ef2a83d26f6860b");
  EXPECT_EQ(manifest["sizes"]["image"], 168);
  EXPECT_EQ(manifest["graphs"].size(), 4U);
  EXPECT_TRUE(manifest["self_test"].is_object()) << manifest["self_test"];
}

TEST_F(Export, VerboseTellsCostAndWhatIsNotNeeded) {
  const ProcessResult result = export_to("model", {"-v", "--no-check"});
  ASSERT_EQ(result.exit_code, 0) << result.error;
  for (const char* part :
       {"sam3_decoder.onnx", "GFLOP", "freqs_cis: rotary tables, recomputed (6)", "sha256"}) {
    EXPECT_TRUE(mentions(result.output, part)) << part << " in: " << result.output;
  }
}

TEST_F(Export, WithoutARuntimeTheFolderIsThereAndSaysThatItIsUnchecked) {
  // A copy of the program has no library beside it, and this environment names none.
  const fs::path alone = folder_.path() / "alone";
  fs::create_directory(alone);
  fs::copy_file(samlet_program(), alone / "samlet");
  ProcessOptions options;
  options.folder = folder_.path();
  options.environment = {
      {"LD_LIBRARY_PATH", ""}, {"VIRTUAL_ENV", ""}, {"CONDA_PREFIX", ""}, {"SAMLET_ORT_LIBRARY", ""}};
  const ProcessResult result =
      run_process({(alone / "samlet").native(), "export", miniature_checkpoint(), "--out", "model"}, options);
  ASSERT_EQ(result.exit_code, 0) << result.error;
  EXPECT_TRUE(mentions(result.output, "unchecked")) << result.output;
  EXPECT_EQ(Json::parse(read_text(folder_.path() / "model/model.json"))["self_test"], "unchecked");
}

TEST_F(Export, RuntimeThatWasNamedMustBeTheOne) {
  expect_refused(export_to("model", {"--ort-library", "/nowhere/libonnxruntime.so"}), 1,
                 {"/nowhere/libonnxruntime.so"});
}

TEST_F(Export, FoldersThatCannotBeReplacedAreRefusedAtOnce) {
  expect_refused(export_to(".", {"--no-check"}), 1, {"'.' is the current folder or a mount point", "./sam3"});
  expect_refused(export_to("/", {"--no-check", "--overwrite"}), 1, {"'/'"});
  expect_refused(export_to("/proc", {"--no-check", "--overwrite"}), 1, {"'/proc'", "mount point"});
  expect_refused(export_to(std::string(256, 'n'), {"--no-check"}), 1, {"256 bytes"});
  fs::create_directory(folder_.path() / "model");
  fs::create_directory_symlink("model", folder_.path() / "link");
  remember_entries();
  expect_refused(export_to("link", {"--no-check"}), 1, {"'link' is a link"});
}

TEST_F(Export, CheckpointThatIsCutMeanwhileIsAnErrorAndLeavesNothing) {
  // Whenever it happens: an error or a finished export, never a signal, and nothing is left of what failed.
  const fs::path folder = folder_.path() / "cut";
  fs::create_directory(folder);
  fs::copy_file(miniature() / "checkpoint/config.json", folder / "config.json");
  int refused = 0;
  for (int delay = 0; delay < 40; delay += 4) {
    fs::copy_file(miniature_checkpoint(), folder / "sam3.pt", fs::copy_options::overwrite_existing);
    remember_entries();
    std::thread cutter([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(delay));
      std::error_code ignored;
      fs::resize_file(folder / "sam3.pt", 4096, ignored);
    });
    const ProcessResult result = samlet({"export", "cut/sam3.pt", "--out", "model"});
    cutter.join();
    ASSERT_LT(result.exit_code, 128) << "a signal ended it";
    if (result.exit_code != 0) {
      ++refused;
      EXPECT_EQ(folder_.entries(), before_) << result.error;
    }
    fs::remove_all(folder_.path() / "model");
  }
  EXPECT_GT(refused, 0);
}

TEST_F(Export, FolderThatExistsIsRefusedUnlessItMayBeReplaced) {
  fs::create_directory(folder_.path() / "model");
  ASSERT_EQ(export_to("model", {"--no-check"}).exit_code, 0) << "an empty folder may be filled";
  write_file(folder_.path() / "model/mine.txt", "mine");
  remember_entries();
  expect_refused(export_to("model", {"--no-check"}), 1, {"'model' exists", "--overwrite"});
  EXPECT_EQ(read_text(folder_.path() / "model/mine.txt"), "mine");
  // Not even then when something is in it that would go away with it.
  expect_refused(export_to("model", {"--no-check", "--overwrite"}), 1,
                 {"'model' holds 'mine.txt'", "no export wrote"});
  EXPECT_EQ(read_text(folder_.path() / "model/mine.txt"), "mine");
  fs::remove(folder_.path() / "model/mine.txt");
  write_file(folder_.path() / "model/sam3_old.onnx", "old");
  ASSERT_EQ(export_to("model", {"--no-check", "--overwrite"}).exit_code, 0);
  EXPECT_FALSE(fs::exists(folder_.path() / "model/sam3_old.onnx"));
  EXPECT_TRUE(fs::exists(folder_.path() / "model/model.json"));
  EXPECT_EQ(folder_.entries(), std::vector<std::string>{"model"});
  write_file(folder_.path() / "file", "mine");
  remember_entries();
  expect_refused(export_to("file", {"--no-check", "--overwrite"}), 1, {"'file' exists", "no folder"});
}

TEST_F(Export, CheckpointIsNeverReplacedByItsOwnExport) {
  fs::create_directory(folder_.path() / "model");
  fs::copy_file(miniature_checkpoint(), folder_.path() / "model/sam3.pt");
  fs::copy_file(miniature() / "checkpoint/config.json", folder_.path() / "model/config.json");
  remember_entries();
  expect_refused(samlet({"export", "model/sam3.pt", "--out", "model", "--overwrite", "--no-check"}), 1,
                 {"no export wrote"});
  EXPECT_TRUE(fs::exists(folder_.path() / "model/sam3.pt"));
}

TEST_F(Export, MissingFoldersAboveAreMade) {
  EXPECT_EQ(export_to("a/b/model/", {"--no-check"}).exit_code, 0);
  EXPECT_TRUE(fs::exists(folder_.path() / "a/b/model/sam3_decoder.onnx"));
}

TEST_F(Export, OptionsThatCannotBeAreRefusedBeforeAnythingIsWritten) {
  expect_refused(export_to("model", {"--target", "toaster"}), 2, {"toaster", "portable", "tensorrt"});
  expect_refused(export_to("model", {"--layout", "v9"}), 2, {"v9", "sam3-onnx"});
  expect_refused(export_to("model", {"--precision", "int3"}), 2, {"int3", "fp16"});
  expect_refused(export_to("model", {"--size", "200"}), 2, {"200", "168", "252"});
  expect_refused(export_to("model", {"--size", "60"}), 2, {"60", "84"});
  expect_refused(export_to("model", {"--layout", "sam3-onnx", "--precision", "fp16"}), 2, {"fp32"});
  expect_refused(export_to("model", {"--layout", "sam3-onnx", "--target", "coreml"}), 2, {"dynamic"});
  expect_refused(samlet({"export", miniature_checkpoint()}), 2, {"--out"});
  expect_refused(samlet({"export"}), 2, {"checkpoint"});
  expect_refused(export_to("model", {"--name", "other"}), 2, {"--name"});
  expect_refused(samlet({"export", "nowhere.pt", "--out", "model"}), 1, {"'nowhere.pt'", "does not exist"});
  expect_refused(export_to("model", {"--text-encoder", "nowhere.pt"}), 1, {"'nowhere.pt'", "does not exist"});
  expect_refused(export_to("model", {"--text-encoder", miniature_checkpoint()}), 3, {"sam3_mini.pt"});
}

TEST_F(Export, OtherThingsUnderTheNameOfACheckpointAreToldByWhatTheyAre) {
  write_file(folder_.path() / "page.pt", "<!DOCTYPE html><html><body>Sign in</body></html>");
  write_file(folder_.path() / "pointer.pt",
             "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3450062241\n");
  write_file(folder_.path() / "empty.pt", "");
  write_file(folder_.path() / "photo.pt", read_text(sample("shapes_02.jpg")));
  remember_entries();
  const auto refused = [&](const char* file, const std::vector<std::string>& parts) {
    expect_refused(samlet({"export", file, "--out", "model"}), 3, parts);
  };
  refused("page.pt", {"web page"});
  refused("pointer.pt", {"LFS"});
  refused("empty.pt", {"empty"});
  refused("photo.pt", {"photo.pt"});
}

TEST_F(Export, CutCheckpointLeavesNothing) {
  const std::string cut = changed_checkpoint([](std::string& bytes) { bytes.resize(bytes.size() / 2); });
  expect_refused(samlet({"export", cut, "--out", "model"}), 3, {"sam3.pt"});
}

TEST_F(Export, WeightThatIsNoNumberIsNamedAndLeavesNothing) {
  // The last tensor that the file lists among those that are needed, found by its bytes.
  const checkpoint::Checkpoint whole(miniature_checkpoint());
  const auto* info = whole.find("detector.transformer.decoder.norm.weight");
  ASSERT_NE(info, nullptr);
  const std::string values(info->data.begin(), info->data.end());
  const std::string broken = changed_checkpoint([&](std::string& bytes) {
    const std::size_t at = bytes.find(values);
    ASSERT_NE(at, std::string::npos);
    const float infinity = std::numeric_limits<float>::infinity();
    std::memcpy(bytes.data() + at, &infinity, sizeof(infinity));
  });
  expect_refused(samlet({"export", broken, "--out", "model", "--no-check"}), 3,
                 {"detector.transformer.decoder.norm.weight", "not finite"});
}

TEST_F(Export, DiskThatIsFullLeavesNothing) {
  ProcessOptions options;
  options.before_exec = [] {
    const rlimit limit{3'000'000, 3'000'000};
    (void)::setrlimit(RLIMIT_FSIZE, &limit);
  };
  expect_refused(export_to("model", {"--no-check"}, options), 1, {"cannot write", "too large"});
}

TEST_F(Export, FolderThatMayNotBeWrittenIsNamed) {
  expect_refused(export_to("/proc/model", {"--no-check"}), 1, {"/proc"});
}

TEST_F(Export, InterruptedExportLeavesNothing) {
  ProcessOptions options;
  // The signal may come before or after the export; both are tried until one was stopped.
  bool stopped = false;
  for (int delay = 0; delay < 60 && !stopped; delay += 3) {
    options.before_exec = send_signal_after(std::chrono::milliseconds(delay + 20), SIGINT);
    const ProcessResult result = export_to("model", {}, options);
    stopped = result.exit_code == 130;
    if (stopped) {
      EXPECT_EQ(folder_.entries(), std::vector<std::string>{}) << delay;
    }
    fs::remove_all(folder_.path() / "model");
  }
  EXPECT_TRUE(stopped);
}

TEST_F(Export, KilledExportHasNothingUnderItsName) {
  ProcessOptions options;
  options.before_exec = send_signal_after(std::chrono::milliseconds(40), SIGKILL);
  const ProcessResult result = export_to("model", {}, options);
  ASSERT_EQ(result.exit_code, 128 + SIGKILL) << "the self-test alone takes longer than that";
  EXPECT_FALSE(fs::exists(folder_.path() / "model"));
}

TEST_F(Export, NameInTheStoreIsFoundByRun) {
  ProcessOptions options;
  options.environment["SAMLET_MODELS"] = (folder_.path() / "store").native();
  const ProcessResult exported =
      samlet({"export", miniature_checkpoint(), "--name", "mini", "--no-check"}, options);
  ASSERT_EQ(exported.exit_code, 0) << exported.error;
  EXPECT_TRUE(fs::exists(folder_.path() / "store/mini/model.json"));
  const ProcessResult found =
      samlet({"run", "mini", sample("shapes_01.png"), "--text", "circles", "--json"}, options);
  EXPECT_EQ(found.exit_code, 0) << found.error;
  remember_entries();
  expect_refused(samlet({"run", "maxi", sample("shapes_01.png"), "--text", "circles"}, options), 3,
                 {"maxi", "--name"});
  expect_refused(samlet({"export", miniature_checkpoint(), "--name", "../mini"}, options), 2, {"'../mini'"});
}

TEST_F(Export, GraphsOfSam3OnnxRunAsAnyOtherFolderOfThatVersion) {
  const std::string own = export_miniature("own");
  const std::string v030 = export_miniature("v030", {"--layout", "sam3-onnx"});
  EXPECT_FALSE(fs::exists(v030 + "/model.json"));
  const Json a = instances(own, {"--text", "red circle"});
  const Json b = instances(v030, {"--text", "red circle"});
  ASSERT_EQ(a.size(), b.size());
  ASSERT_EQ(a.size(), 2U);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i]["score"].get<double>(), b[i]["score"].get<double>(), 1e-5);
    EXPECT_NEAR(a[i]["area"].get<double>(), b[i]["area"].get<double>(), 10);
  }
}

TEST_F(Export, OtherSizeStillFindsThings) {
  const std::string model = export_miniature("model", {"--size", "252", "--no-check"});
  EXPECT_EQ(Json::parse(read_text(fs::path(model) / "model.json"))["sizes"]["image"], 252);
  EXPECT_GE(instances(model, {"--text", "red circle"}).size(), 1U);
}

}  // namespace
}  // namespace samlet::test
