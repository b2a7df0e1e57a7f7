// Places where a program is run: no home, full and read-only disks, closed and broken streams, several
// runtimes.
#include <fcntl.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "tests/e2e/cli.h"
#include "tests/support/sandbox.h"

namespace samlet::test {
namespace {

std::string quoted(const std::string& word) {
  return "'" + word + "'";
}

/// A shell line that runs the words, then prints the exit code and what is in the working folder.
std::vector<std::string> then_list(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += quoted(word) + " ";
  return {"/bin/sh", "-c", line + "; echo \"exit $?\"; ls -A"};
}

std::vector<std::string> find_shapes() {
  return {samlet_program(), "run", miniature_model(), sample("shapes_02.jpg"), "--text", "blue ring"};
}

TEST_F(CliTest, AFullDiskLeavesNoHalfFile) {
  ProcessOptions options;
  options.before_exec = with_small_disk(folder_.path(), 16384);
  const ProcessResult result = run_process(then_list(find_shapes()), options);
  EXPECT_EQ(result.output, "exit 1\n") << result.error;
  EXPECT_TRUE(mentions(result.error, "No space left")) << result.error;
  EXPECT_TRUE(mentions(result.error, "shapes_02.samlet.jpg")) << result.error;
}

TEST_F(CliTest, AReadOnlyFolderIsFoundOutBeforeTheModelIsLoaded) {
  ProcessOptions options;
  options.before_exec = with_read_only(folder_.path());
  auto words = find_shapes();
  words.insert(words.end(), {"--ort-library", "/nowhere"});
  const ProcessResult result = run_process(then_list(words), options);
  EXPECT_EQ(result.output, "exit 1\n") << result.error;
  EXPECT_TRUE(mentions(result.error, "Read-only")) << result.error;
}

TEST_F(CliTest, NoHomeIsNeeded) {
  // A file where the home should be: nothing can be made below it, by root neither.
  ProcessOptions options;
  options.environment = {{"HOME", "/dev/null"}, {"XDG_CACHE_HOME", "/dev/null"}, {"TMPDIR", "/dev/null"}};
  const ProcessResult result = run({sample("shapes_01.png"), "--text", "rings", "--json"}, options);
  EXPECT_EQ(result.exit_code, 0) << result.error;
}

TEST_F(CliTest, NothingIsWrittenButTheOutput) {
  // ONNX Runtime would keep an identity and a record of its use there.
  TemporaryFolder home;
  ProcessOptions options;
  for (const char* name :
       {"HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "TMPDIR"}) {
    options.environment[name] = home.path().native();
  }
  EXPECT_EQ(run({sample("shapes_01.png"), "--text", "rings"}, options).exit_code, 0);
  EXPECT_EQ(samlet({"doctor"}, options).exit_code, 0);
  EXPECT_EQ(home.entries(), std::vector<std::string>{});
  EXPECT_EQ(folder_.entries(), std::vector<std::string>{"shapes_01.samlet.png"});
}

TEST_F(CliTest, AClosedStandardOutputIsAnErrorOnlyForThoseWhoPrintThere) {
  ProcessOptions options;
  options.before_exec = [] { ::close(STDOUT_FILENO); };
  expect_refused(run({sample("shapes_01.png"), "--text", "rings", "--json"}, options), 1,
                 {"standard output is closed"});
  EXPECT_EQ(run({sample("shapes_01.png"), "--text", "rings"}, options).exit_code, 0);
  // The overlay must not have been taken for standard output, which has the first free number.
  EXPECT_EQ(read_text(folder_.path() / "shapes_01.samlet.png").substr(1, 3), "PNG");
}

TEST_F(CliTest, AllStreamsClosedStillWorks) {
  ProcessOptions options;
  options.before_exec = [] {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
  };
  EXPECT_EQ(run({sample("shapes_01.png"), "--text", "rings"}, options).exit_code, 0);
  EXPECT_EQ(read_text(folder_.path() / "shapes_01.samlet.png").substr(1, 3), "PNG");
}

TEST_F(CliTest, AFullOrBrokenStandardOutputIsAnError) {
  ProcessOptions full;
  full.before_exec = [] { ::dup2(::open("/dev/full", O_WRONLY), STDOUT_FILENO); };
  expect_refused(run({sample("shapes_01.png"), "--text", "rings", "--json"}, full), 1,
                 {"standard output", "No space left"});
  ProcessOptions broken;
  broken.before_exec = [] {
    int ends[2];
    if (::pipe(ends) != 0) ::_exit(124);
    ::close(ends[0]);
    ::dup2(ends[1], STDOUT_FILENO);
  };
  expect_refused(run({sample("shapes_01.png"), sample("shapes_07.png"), "--text", "rings", "--json"}, broken),
                 1, {"standard output", "Broken pipe"});
}

TEST_F(CliTest, AFileSizeLimitIsAnErrorAndLeavesNothing) {
  ProcessOptions options;
  options.before_exec = [] {
    const rlimit limit{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) ::_exit(124);
  };
  expect_refused(run({sample("shapes_01.png"), "--text", "rings"}, options), 1,
                 {"shapes_01.samlet.png", "too large"});
}

TEST_F(CliTest, ASignalEndsAReadThatWaits) {
  ASSERT_EQ(::mkfifo((folder_.path() / "pipe.png").c_str(), 0600), 0);
  remember_entries();
  ProcessOptions options;
  options.before_exec = send_signal_after(std::chrono::milliseconds(300), SIGTERM);
  expect_refused(run({"pipe.png", "--text", "rings"}, options), 130, {"stopped"});
}

TEST_F(CliTest, NoSignalAfterTheWorkSpoilsItsExitCode) {
  // One interrupt at each of many moments around the end of a run: done or stopped, never killed, never half
  // a file.
  for (int step = 0; step < 40; ++step) {
    ProcessOptions options;
    options.before_exec = send_signal_after(std::chrono::milliseconds(50 + step * 10), SIGINT);
    const ProcessResult result = run({sample("shapes_07.png"), "--text", "circles", "--overwrite"}, options);
    EXPECT_TRUE(result.exit_code == 0 || result.exit_code == 130) << result.exit_code << " at step " << step;
    for (const std::string& name : folder_.entries()) EXPECT_EQ(name, "shapes_07.samlet.png");
  }
}

TEST_F(CliTest, NamesFromFilesCannotActOnTheTerminal) {
  TemporaryFolder model;
  std::string bytes = read_text(std::string(SAMLET_SOURCE_DIR) + "/tests/data/foreign/sam1_encoder.onnx");
  const std::size_t at = bytes.find("image_embeddings");
  ASSERT_NE(at, std::string::npos);
  for (std::size_t i = at; i != std::string::npos; i = bytes.find("image_embeddings", i)) {
    bytes.replace(i, 16, "\x1B]0;owned\x07\x1B[31m\x1B");
  }
  write_file(model.path() / "sam3_image_encoder.onnx", bytes);
  const ProcessResult result = samlet({"run", model.path().native(), sample("shapes_01.png"), "--text", "x"});
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_EQ(result.error.find_first_of("\x1B\x07"), std::string::npos) << result.error;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"run", "\x1B[31m", "a.png", "--text", "x"},
                                             {"run", "./m", "a.png", "--box", "\x1B[31m"},
                                             {"run", "./m", "a.png", "--\x1B[31m"},
                                             {"run", miniature_model(), "\x1B[31m.png", "--text", "x"}}) {
    EXPECT_EQ(samlet(words).error.find('\x1B'), std::string::npos);
  }
}

TEST_F(CliTest, OneProcessorIsEnoughAndSilent) {
  ProcessOptions options;
  options.before_exec = [] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(0, &one);
    if (::sched_setaffinity(0, sizeof one, &one) != 0) ::_exit(124);
  };
  const ProcessResult result = run({sample("shapes_01.png"), "--text", "rings"}, options);
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error, "");
  const ProcessResult doctor = samlet({"doctor"}, options);
  EXPECT_TRUE(mentions(doctor.output, "may be used: 1\n")) << doctor.output;
}

TEST_F(CliTest, AMissingRuntimeSaysWhereItWasLookedForAndWhatToInstall) {
  expect_refused(run({sample("shapes_01.png"), "--text", "rings", "--ort-library", "/nowhere/lib.so"}), 1,
                 {"/nowhere/lib.so"});
  write_file(folder_.path() / "libonnxruntime.so", "not a library");
  remember_entries();
  expect_refused(run({sample("shapes_01.png"), "--text", "rings", "--ort-library", folder_.path().native()}),
                 1, {"libonnxruntime.so"});
}

TEST_F(CliTest, ALibraryInTheCurrentFolderIsNeverUsed) {
  write_file(folder_.path() / "libonnxruntime.so", "not a library");
  write_file(folder_.path() / "libonnxruntime.so.1", "not a library");
  EXPECT_EQ(run({sample("shapes_01.png"), "--text", "rings"}).exit_code, 0);
}

TEST_F(CliTest, AnUnusableDeviceIsRefusedByNameAndFallenBackFromByAuto) {
  for (const char* device : {"cuda", "coreml", "tensorrt", "openvino", "webgpu"}) {
    const ProcessResult result = run({sample("shapes_01.png"), "--text", "rings", "--device", device});
    expect_refused(result, 1, {device});
  }
  const ProcessResult automatic =
      run({sample("shapes_01.png"), "--text", "rings", "--json", "--device", "auto"});
  EXPECT_EQ(automatic.exit_code, 0) << automatic.error;
  EXPECT_EQ(Json::parse(automatic.output)["device"], "cpu");
}

TEST_F(CliTest, DoctorNamesTheLibraryTheProvidersAndASecondLibrary) {
  TemporaryFolder second;
  fs::copy_file(fs::path(SAMLET_BINARY_DIR) / "bin/samlet", second.path() / "libonnxruntime.so.1.2.3");
  ProcessOptions options;
  options.environment["LD_LIBRARY_PATH"] = second.path().native();
  const ProcessResult result = samlet({"doctor"}, options);
  ASSERT_EQ(result.exit_code, 0) << result.error << result.output;
  EXPECT_TRUE(mentions(result.output, "ONNX Runtime 1.")) << result.output;
  EXPECT_TRUE(mentions(result.output, "cpu       ready")) << result.output;
  EXPECT_TRUE(mentions(result.output, "coreml    not in this library")) << result.output;
  EXPECT_TRUE(mentions(result.output, (second.path() / "libonnxruntime.so.1.2.3").native())) << result.output;
}

TEST_F(CliTest, DoctorWithoutARuntimeFailsWithTheReason) {
  const ProcessResult result = samlet({"doctor", "--ort-library", "/nowhere"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_TRUE(mentions(result.error, "/nowhere")) << result.error;
}

}  // namespace
}  // namespace samlet::test
