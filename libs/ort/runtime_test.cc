#include <dlfcn.h>

#include <algorithm>

#include "libs/ort/discover.h"
#include "libs/ort/library.h"
#include "libs/ort/test_support.h"

namespace samlet::ort {
namespace {

namespace fs = std::filesystem;

const fs::path kStubs = SAMLET_ORT_STUBS;

fs::path real_library() {
  return libraries_in(SAMLET_ORT_LIBRARY_DIR).at(0).file;
}

Places nowhere() {
  return {{}, {"libsamlet_no_such_library.so.1"}, {}};
}

Error load_error(const fs::path& library) {
  RuntimeOptions options;
  options.library = library;
  const Error error = error_of([&] { (void)Runtime::load(options); });
  EXPECT_EQ(error.code(), ErrorCode::kDeviceUnavailable);
  return error;
}

// --- choosing an API ---

// What the fake library below answers with; GetApi is a plain function and cannot carry it.
struct Fake {
  std::string version;
  std::uint32_t newest = 0;
  std::vector<std::uint32_t> asked;
};
Fake& fake() {
  static Fake the_fake;
  return the_fake;
}
const OrtApiBase kFakeBase{[](std::uint32_t version) noexcept -> const OrtApi* {
                             static const OrtApi kEmpty{};
                             fake().asked.push_back(version);
                             return version <= fake().newest ? &kEmpty : nullptr;
                           },
                           []() noexcept -> const char* { return fake().version.c_str(); }};

int chosen(const std::string& version, std::uint32_t newest) {
  fake() = {version, newest, {}};
  return newest_api(kFakeBase).version;
}

TEST(ApiTest, TheNewestThatBothKnow) {
  EXPECT_EQ(chosen("1.99.0", 99), Runtime::header_api_version());
  EXPECT_EQ(fake().asked, std::vector<std::uint32_t>{ORT_API_VERSION});
  EXPECT_EQ(chosen("1.21.0", 21), 21);
  EXPECT_EQ(fake().asked,
            std::vector<std::uint32_t>{21});  // not for more than 1.21 has: it would complain to stderr
}

TEST(ApiTest, WalksDownWhenTheVersionDoesNotTell) {
  EXPECT_EQ(chosen("a build of my own", 21), 21);
  EXPECT_EQ(chosen("1.", 21), 21);
  EXPECT_EQ(chosen("1.99.0", 20), 0);
  EXPECT_EQ(chosen("", 0), 0);
}

TEST(ApiTest, TooOldIsNotEvenAsked) {
  EXPECT_EQ(chosen("1.20.1", 20), 0);
  EXPECT_EQ(newest_api(kFakeBase).api, nullptr);
  EXPECT_TRUE(fake().asked.empty());
}

// --- finding the library ---

TEST(LibraryTest, AnOlderLibraryIsRefusedByVersionPathAndWhatIsNeeded) {
  testing::internal::CaptureStderr();
  const Error error = load_error(kStubs / "old");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(contains(error.what(), "found ONNX Runtime 1.17.0 at " +
                                         (kStubs / "old" / "libonnxruntime.so.1.17.0").native() +
                                         ", need >= 1.21"));
  EXPECT_TRUE(contains(error.what(), "pip install onnxruntime"));
}

TEST(LibraryTest, WrongPathsAreNamed) {
  const TemporaryFolder folder;
  EXPECT_TRUE(contains(load_error(folder / "none.so").what(), "none.so' cannot be opened: No such file"));
  EXPECT_TRUE(contains(load_error(folder.path()).what(), "holds no libonnxruntime.so"));
  folder.write("libonnxruntime.so", "no library");
  EXPECT_TRUE(contains(load_error(folder.path()).what(), "libonnxruntime.so"));
  EXPECT_TRUE(
      contains(load_error(kStubs / "lone" / "libsamlet_stub_dependency.so").what(), "is not ONNX Runtime"));
}

TEST(LibraryTest, NothingFoundListsThePlaces) {
  const TemporaryFolder folder;
  RuntimeOptions options;
  options.search = {folder / "first", kStubs / "old"};
  Places places = nowhere();
  places.program_folder = folder / "bin";
  const Error error = error_of([&] { (void)open_library(options, places); });
  EXPECT_EQ(error.code(), ErrorCode::kDeviceUnavailable);
  for (const fs::path& place : {folder / "bin", folder / "lib", folder / "lib/samlet", folder / "first"}) {
    EXPECT_TRUE(contains(error.what(), "\n  " + place.native() + ": none there"));
  }
  EXPECT_TRUE(contains(error.what(), (kStubs / "old").native() + ": found ONNX Runtime 1.17.0"));
  EXPECT_TRUE(contains(error.what(), "the system: libsamlet_no_such_library.so.1: cannot open"));
  EXPECT_TRUE(contains(error.what(), "pip install onnxruntime"));
}

TEST(LibraryTest, TheSearchGoesOnPastUnusableOnes) {
  RuntimeOptions options;
  options.search = {kStubs / "old", SAMLET_ORT_LIBRARY_DIR};
  EXPECT_EQ(open_library(options, nowhere()).file, real_library());
}

TEST(LibraryTest, BesideTheProgramComesFirstThenTheFoldersThenTheSystem) {
  const TemporaryFolder folder;
  fs::create_directories(folder / "bin");
  fs::create_directories(folder / "lib/samlet");
  RuntimeOptions options;
  Places places = nowhere();
  places.system_folders = {SAMLET_ORT_LIBRARY_DIR};
  EXPECT_EQ(open_library(options, places).file, real_library());

  options.search = {kStubs / "lists_cuda"};
  const fs::path listing = libraries_in(kStubs / "lists_cuda").at(0).file;
  EXPECT_EQ(open_library(options, places).file, listing);

  places.program_folder = folder / "bin";
  fs::create_symlink(real_library(), folder / "lib/samlet/libonnxruntime.so");
  EXPECT_EQ(open_library(options, places).file, real_library());
  fs::create_symlink(listing, folder / "bin/libonnxruntime.so");
  EXPECT_EQ(open_library(options, places).file, listing);
}

TEST(LibraryTest, TheCurrentFolderIsNeverSearched) {
  const TemporaryFolder folder;
  fs::create_symlink(real_library(), folder / "libonnxruntime.so");
  fs::create_symlink(real_library(), folder / "libsamlet_no_such_library.so.1");
  const fs::path before = fs::current_path();
  fs::current_path(folder.path());
  RuntimeOptions options;
  options.search = {"", ".", fs::path("..") / folder.path().filename()};
  EXPECT_EQ(error_of([&] { (void)open_library(options, nowhere()); }).code(), ErrorCode::kDeviceUnavailable);
  fs::current_path(before);
}

// --- the runtime ---

TEST(RuntimeTest, TellsWhatItIs) {
  const auto runtime = test_runtime();
  EXPECT_EQ(runtime->library_path(), real_library());
  EXPECT_TRUE(contains(runtime->library_path().filename().native(), runtime->library_version()));
  EXPECT_GE(runtime->api_version(), 21);
  EXPECT_LE(runtime->api_version(), Runtime::header_api_version());
  const auto providers = runtime->built_providers();
  EXPECT_NE(std::find(providers.begin(), providers.end(), "CPUExecutionProvider"), providers.end());
}

TEST(RuntimeTest, TheSameLibraryIsShared) {
  LogRecorder log;
  const auto first = test_runtime(log.sink());
  ASSERT_EQ(log.at(LogLevel::kDebug).size(), 1U);
  EXPECT_TRUE(contains(log.at(LogLevel::kDebug)[0], "using ONNX Runtime " + first->library_version()));
  RuntimeOptions by_file;
  by_file.library = fs::path(SAMLET_ORT_LIBRARY_DIR) / "libonnxruntime.so";
  EXPECT_EQ(Runtime::load(by_file), first);
  EXPECT_EQ(Runtime::load({}), first);  // any library: the one in use
}

TEST(RuntimeTest, ASecondLibraryIsRefusedWhileTheFirstIsInUse) {
  auto first = test_runtime();
  const Error error = load_error(kStubs / "lists_cuda");
  EXPECT_TRUE(
      contains(error.what(), "already uses the ONNX Runtime library '" + real_library().native() + "'"));
  EXPECT_TRUE(contains(error.what(), (kStubs / "lists_cuda").native()));
  first.reset();
  RuntimeOptions options;
  options.library = kStubs / "lists_cuda";
  EXPECT_EQ(Runtime::load(options)->library_path().parent_path(), fs::canonical(kStubs / "lists_cuda"));
}

// --- devices ---

TEST(DeviceTest, NamesGoBothWays) {
  for (const Device device : {Device::kAuto, Device::kCpu, Device::kCuda, Device::kCoreMl, Device::kTensorRt,
                              Device::kOpenVino, Device::kWebGpu}) {
    EXPECT_EQ(device_from_name(name_of(device)), device);
  }
  EXPECT_EQ(provider_name(Device::kTensorRt), "TensorrtExecutionProvider");
  for (const char* wrong : {"", "CPU", "gpu", "cpu "}) {
    const Error error = error_of([&] { (void)device_from_name(wrong); });
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_TRUE(contains(error.what(), "auto, cpu, cuda, coreml, tensorrt, openvino, webgpu"));
  }
}

TEST(DeviceTest, TheCpuWorks) {
  const auto runtime = test_runtime();
  EXPECT_EQ(probe(*runtime, Device::kCpu), std::nullopt);
  EXPECT_EQ(resolve_device(*runtime, Device::kCpu, {}), Device::kCpu);
  EXPECT_NE(probe(*runtime, Device::kAuto), std::nullopt);
}

TEST(DeviceTest, AutoSaysNothingOfProvidersThatAreNotBuiltIn) {
  const auto runtime = test_runtime();
  LogRecorder log;
  EXPECT_EQ(resolve_device(*runtime, Device::kAuto, log.sink()), Device::kCpu);
  EXPECT_TRUE(log.at(LogLevel::kWarning).empty());
  EXPECT_TRUE(log.at(LogLevel::kInfo).empty());
}

TEST(DeviceTest, AProviderThatIsMissingIsAnErrorThatNamesIt) {
  const auto runtime = test_runtime();
  const auto message = [&](Device device) {
    const Error error = error_of([&] { (void)resolve_device(*runtime, device, {}); });
    EXPECT_EQ(error.code(), ErrorCode::kDeviceUnavailable);
    EXPECT_TRUE(contains(error.what(), runtime->library_path().native()));
    return std::string(error.what());
  };
  EXPECT_TRUE(contains(message(Device::kCuda), "the device 'cuda' cannot be used"));
  EXPECT_TRUE(contains(message(Device::kCuda), "libonnxruntime_providers_cuda.so"));
  EXPECT_TRUE(contains(message(Device::kCuda), "onnxruntime-gpu"));
  EXPECT_TRUE(contains(message(Device::kTensorRt), "libonnxruntime_providers_tensorrt.so"));
  EXPECT_TRUE(contains(message(Device::kOpenVino), "libonnxruntime_providers_openvino.so"));
  EXPECT_TRUE(contains(message(Device::kCoreMl), "built without CoreMLExecutionProvider"));
  EXPECT_TRUE(contains(message(Device::kWebGpu), "built without WebGpuExecutionProvider"));
}

TEST(DeviceTest, ASessionOnAMissingDeviceIsRefused) {
  SessionOptions options = cpu_options();
  options.device = Device::kCuda;
  const auto open = [&] { const Session session(test_runtime(), testdata() / "add.onnx", options); };
  EXPECT_EQ(error_of(open).code(), ErrorCode::kDeviceUnavailable);
  options.device = Device::kAuto;
  EXPECT_EQ(error_of(open).code(), ErrorCode::kInternal);
}

TEST(DeviceTest, AutoSaysOnceThatItPassesABuiltInProvider) {
  RuntimeOptions options;
  options.library = kStubs / "lists_cuda";
  LogRecorder log;
  options.log = log.sink();
  const auto runtime = Runtime::load(options);
  testing::internal::CaptureStderr();
  EXPECT_EQ(resolve_device(*runtime, Device::kAuto, log.sink()), Device::kCpu);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const auto warnings = log.at(LogLevel::kWarning);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_TRUE(
      contains(warnings[0], "cuda is not usable: libonnxruntime_providers_cuda.so is missing beside"));
  EXPECT_TRUE(warnings[0].ends_with("; using cpu")) << warnings[0];
  const Error error = error_of([&] { (void)resolve_device(*runtime, Device::kCuda, log.sink()); });
  EXPECT_EQ(error.code(), ErrorCode::kDeviceUnavailable);
  EXPECT_TRUE(contains(error.what(), "libonnxruntime_providers_cuda.so is missing beside"));
}

TEST(DeviceTest, ADeviceThatIsListedButCannotStartShowsOnnxRuntimesWords) {
  // The provider's file is there and loads, but it is no provider: the real library says so.
  const TemporaryFolder folder;
  fs::copy_file(libraries_in(kStubs / "lists_cuda").at(0).file, folder / "libonnxruntime.so.1.99.0");
  fs::copy_file(kStubs / "lone" / "libsamlet_stub_dependency.so",
                folder / "libonnxruntime_providers_cuda.so");
  RuntimeOptions options;
  options.library = folder.path();
  const auto runtime = Runtime::load(options);
  const auto reason = probe(*runtime, Device::kCuda);
  ASSERT_TRUE(reason.has_value());
  EXPECT_TRUE(contains(*reason, "ONNX Runtime: "));
}

}  // namespace
}  // namespace samlet::ort
