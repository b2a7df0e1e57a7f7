#include "libs/ort/session.h"

#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>

#include "libs/ort/test_support.h"

namespace samlet::ort {
namespace {

namespace fs = std::filesystem;

Session open(const std::string& name, const SessionOptions& options = cpu_options()) {
  return {test_runtime(), testdata() / name, options};
}

Tensor floats(Shape shape, const std::vector<float>& values) {
  return Tensor::from<float>(std::move(shape), values);
}

std::vector<float> floats_of(const Value& value) {
  const auto view = value.view();
  const auto values = view.as<float>();
  return {values.begin(), values.end()};
}

std::vector<float> ramp(std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 17) * 0.25F - 1.0F;
  return values;
}

TEST(SessionTest, DescribesInputsAndOutputs) {
  const Session session = open("types.onnx");
  ASSERT_EQ(session.inputs().size(), 3U);
  EXPECT_EQ(session.inputs()[0].name, "b");
  EXPECT_EQ(session.inputs()[0].dtype, DType::kBool);
  EXPECT_EQ(session.inputs()[1].dtype, DType::kInt64);
  EXPECT_EQ(session.inputs()[2].dtype, DType::kUInt8);
  EXPECT_EQ(session.inputs()[2].shape, (Shape{-1, 2}));
  ASSERT_EQ(session.outputs().size(), 3U);
  EXPECT_EQ(session.outputs()[2].name, "same_u");
}

TEST(SessionTest, RunsEveryElementTypeInTheOrderAskedFor) {
  const Session session = open("types.onnx");
  Tensor b(DType::kBool, {3});
  b.as<bool>()[1] = true;
  const Tensor i = Tensor::from<std::int64_t>({3}, std::vector<std::int64_t>{1, -2, std::int64_t{1} << 40});
  const Tensor u = Tensor::from<std::uint8_t>({1, 2}, std::vector<std::uint8_t>{7, 255});
  const auto out = session.run({{"u", nullptr, &u}, {"b", nullptr, &b}, {"i", nullptr, &i}},
                               {"twice_i", "same_u", "not_b"});
  ASSERT_EQ(out.size(), 3U);
  EXPECT_EQ(copy_of(out[0].view().as<std::int64_t>()),
            (std::vector<std::int64_t>{2, -4, std::int64_t{1} << 41}));
  EXPECT_EQ(copy_of(out[1].view().as<std::uint8_t>()), (std::vector<std::uint8_t>{7, 255}));
  EXPECT_EQ(copy_of(out[2].view().as<bool>()), (std::vector<bool>{true, false, true}));
}

TEST(SessionTest, DynamicShapesIncludingNone) {
  const Session session = open("dynamic.onnx");
  for (const std::int64_t n : {1, 3, 0}) {
    const auto count = static_cast<std::size_t>(n) * 4;
    const Tensor x = floats({n, 4}, std::vector<float>(count, 1.5F));
    const auto out = session.run({{"x", nullptr, &x}}, {"doubled", "sum"});
    EXPECT_EQ(out[0].view().shape(), (Shape{n, 4}));
    EXPECT_EQ(floats_of(out[0]), std::vector<float>(count, 3.0F));
    EXPECT_EQ(floats_of(out[1]), std::vector<float>(static_cast<std::size_t>(n), 6.0F));
  }
}

TEST(SessionTest, AnOutputBecomesAnInputWithoutACopy) {
  const Session session = open("dynamic.onnx");
  const Tensor x = floats({1, 4}, {1, 2, 3, 4});
  std::vector<Value> first = session.run({{"x", nullptr, &x}}, {"doubled"});
  const std::byte* address = first[0].view().bytes().data();
  const Value moved = std::move(first[0]);
  EXPECT_EQ(moved.view().bytes().data(), address);
  const auto second = session.run({{"x", &moved, nullptr}}, {"doubled"});
  EXPECT_EQ(floats_of(second[0]), (std::vector<float>{4, 8, 12, 16}));
  EXPECT_EQ(floats_of(moved), (std::vector<float>{2, 4, 6, 8}));
  EXPECT_EQ(error_of([&] { (void)first[0].view(); }).code(), ErrorCode::kInternal);
}

TEST(SessionTest, AValueOutlivesItsSession) {
  std::vector<Value> kept;
  {
    const Session session = open("dynamic.onnx");
    const Tensor x = floats({1, 4}, {1, 2, 3, 4});
    kept = session.run({{"x", nullptr, &x}}, {"doubled"});
  }
  EXPECT_EQ(floats_of(kept[0]), (std::vector<float>{2, 4, 6, 8}));
}

TEST(SessionTest, SaysWhatIsWrongWithACall) {
  const Session session = open("add.onnx");
  const Tensor good(DType::kFloat32, {2, 3});
  const Tensor wrong_shape(DType::kFloat32, {3, 2});
  const Tensor wrong_rank(DType::kFloat32, {6});
  const Tensor wrong_type(DType::kInt32, {2, 3});
  const auto message = [&](const std::vector<Feed>& feeds, const std::vector<std::string>& outputs) {
    const Error error = error_of([&] { (void)session.run(feeds, outputs); });
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
    return std::string(error.what());
  };
  const Feed x{"x", nullptr, &good};
  const Feed y{"y", nullptr, &good};
  EXPECT_EQ(message({x}, {"z"}), "add.onnx: the input 'y' was not given");
  EXPECT_EQ(message({x, x, y}, {"z"}), "add.onnx: the input 'x' was given twice");
  EXPECT_EQ(message({x, y, {"w", nullptr, &good}}, {"z"}), "add.onnx: there is no input 'w'; it takes x, y");
  EXPECT_EQ(message({x, y}, {"z", "q"}), "add.onnx: there is no output 'q'; it gives z");
  EXPECT_EQ(message({x, y}, {}), "add.onnx: no output was asked for");
  EXPECT_EQ(message({x, {"y"}}, {"z"}), "add.onnx: the input 'y' needs either a value or a tensor");
  EXPECT_EQ(message({x, {"y", nullptr, &wrong_shape}}, {"z"}),
            "add.onnx: the input 'y' takes f32 [2, 3], was given f32 [3, 2]");
  EXPECT_EQ(message({x, {"y", nullptr, &wrong_rank}}, {"z"}),
            "add.onnx: the input 'y' takes f32 [2, 3], was given f32 [6]");
  EXPECT_EQ(message({x, {"y", nullptr, &wrong_type}}, {"z"}),
            "add.onnx: the input 'y' takes f32 [2, 3], was given i32 [2, 3]");
}

TEST(SessionTest, AFailedRunShowsOnnxRuntimesWordsOnce) {
  LogRecorder log;
  const Session session = open("gather.onnx", cpu_options(1, log.sink()));
  const Tensor x = floats({3}, {1, 2, 3});
  const Tensor i = Tensor::from<std::int64_t>({1}, std::vector<std::int64_t>{99});
  const Error error = error_of([&] { (void)session.run({{"x", nullptr, &x}, {"i", nullptr, &i}}, {"y"}); });
  EXPECT_EQ(error.code(), ErrorCode::kInternal);
  EXPECT_TRUE(contains(error.what(), "gather.onnx could not be run:\n  ONNX Runtime: "));
  EXPECT_TRUE(contains(error.what(), "idx=99"));
  EXPECT_TRUE(log.at(LogLevel::kWarning).empty());  // it stands in the error already
  // The session is not harmed.
  const Tensor fine = Tensor::from<std::int64_t>({1}, std::vector<std::int64_t>{2});
  EXPECT_EQ(floats_of(session.run({{"x", nullptr, &x}, {"i", nullptr, &fine}}, {"y"})[0]),
            (std::vector<float>{3}));
}

TEST(SessionTest, GraphWarningsAreDebugLinesAndNothingGoesToStderr) {
  LogRecorder log;
  testing::internal::CaptureStderr();
  const Session session = open("warns.onnx", cpu_options(1, log.sink()));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  const auto debug = log.at(LogLevel::kDebug);
  ASSERT_EQ(debug.size(), 1U);
  EXPECT_TRUE(contains(debug[0], "MergeShapeInfo"));
  EXPECT_TRUE(log.at(LogLevel::kWarning).empty());
}

// --- cancelling ---

struct LoopInput {
  explicit LoopInput(std::int64_t count)
      : trips(Tensor::from<std::int64_t>({}, std::vector<std::int64_t>{count})),
        m(floats({32, 32}, ramp(1024))) {}
  Tensor trips;
  Tensor m;
  [[nodiscard]] std::vector<Feed> feeds() const { return {{"trips", nullptr, &trips}, {"m", nullptr, &m}}; }
};

TEST(SessionTest, CancelStopsARunThatWouldNotEnd) {
  LogRecorder log;
  const Session session = open("loop.onnx", cpu_options(1, log.sink()));
  const LoopInput endless(std::int64_t{1} << 40);
  const CancelToken cancel;
  const auto start = std::chrono::steady_clock::now();
  std::jthread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    cancel.cancel();
  });
  EXPECT_EQ(error_of([&] { (void)session.run(endless.feeds(), {"last"}, cancel); }).code(),
            ErrorCode::kCancelled);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_TRUE(log.at(LogLevel::kWarning).empty());  // a stop that was asked for is no fault
  // The next run is not affected.
  const LoopInput short_run(3);
  EXPECT_EQ(session.run(short_run.feeds(), {"last"}, CancelToken())[0].view().count(), 1024U);
}

TEST(SessionTest, ACancelledTokenStopsBeforeTheStart) {
  const Session session = open("loop.onnx");
  const LoopInput endless(std::int64_t{1} << 40);
  const CancelToken cancel;
  cancel.cancel();
  EXPECT_EQ(error_of([&] { (void)session.run(endless.feeds(), {"last"}, cancel); }).code(),
            ErrorCode::kCancelled);
}

// --- threads and repeatability ---

TEST(SessionTest, TwoThreadsShareOneSession) {
  const Session session = open("matmul.onnx", cpu_options(2));
  const auto run_one = [&](std::int64_t m) {
    const Tensor a = floats({m, 16}, ramp(static_cast<std::size_t>(m) * 16));
    const Tensor b = floats({16, 24}, ramp(std::size_t{16} * 24));
    return floats_of(session.run({{"a", nullptr, &a}, {"b", nullptr, &b}}, {"d"})[0]);
  };
  const auto expected_5 = run_one(5);
  const auto expected_9 = run_one(9);
  int wrong_5 = 0;
  int wrong_9 = 0;
  const auto many = [&](std::int64_t m, const std::vector<float>& expected, int& wrong) {
    for (int i = 0; i < 200; ++i) wrong += run_one(m) == expected ? 0 : 1;
  };
  {
    const std::jthread first([&] { many(5, expected_5, wrong_5); });
    const std::jthread second([&] { many(9, expected_9, wrong_9); });
  }
  EXPECT_EQ(wrong_5, 0);
  EXPECT_EQ(wrong_9, 0);
}

TEST(SessionTest, ResultsAreTheSameToTheLastBitInEachRunAndSession) {
  const Tensor a = floats({64, 300}, ramp(std::size_t{64} * 300));
  const Tensor b = floats({300, 80}, ramp(std::size_t{300} * 80));
  const std::vector<Feed> feeds{{"a", nullptr, &a}, {"b", nullptr, &b}};
  const Session first = open("matmul.onnx", cpu_options(2));
  const Session second = open("matmul.onnx", cpu_options(2));
  const auto expected = floats_of(first.run(feeds, {"d"})[0]);
  ASSERT_EQ(expected.size(), 64U * 80U);
  // Rows of a softmax: not all the same, each adding up to 1.
  EXPECT_NEAR(std::accumulate(expected.begin(), expected.begin() + 80, 0.0F), 1.0F, 1e-5F);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(floats_of(first.run(feeds, {"d"})[0]), expected);
  EXPECT_EQ(floats_of(second.run(feeds, {"d"})[0]), expected);
}

double processor_seconds() {
  struct rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(SessionTest, ThreadsDoNotSpinAfterARun) {
  const Session session = open("matmul.onnx", cpu_options(4));
  const Tensor a = floats({256, 300}, ramp(std::size_t{256} * 300));
  const Tensor b = floats({300, 80}, ramp(std::size_t{300} * 80));
  (void)session.run({{"a", nullptr, &a}, {"b", nullptr, &b}}, {"d"});
  const double before = processor_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  // With ONNX Runtime's default three threads spin on for about 0.02 s each.
  EXPECT_LT(processor_seconds() - before, 0.015);
}

// --- loading ---

TEST(SessionTest, ExternalDataIsFoundFromAnyFolder) {
  const TemporaryFolder folder;
  const fs::path model = folder.copy("external.onnx", fs::path("Ordner é 图片") / "external.onnx");
  fs::copy_file(testdata() / "external.onnx.data", model.parent_path() / "external.onnx.data");
  const Tensor x(DType::kFloat32, {64});
  const auto last_of = [&](const fs::path& path) {
    const Session session(test_runtime(), path, cpu_options());
    return floats_of(session.run({{"x", nullptr, &x}}, {"y"})[0]).back();
  };
  EXPECT_EQ(last_of(model), 63.0F);
  EXPECT_EQ(last_of(fs::relative(model)), 63.0F);
  const fs::path before = fs::current_path();
  fs::current_path(model.parent_path());
  EXPECT_EQ(last_of("external.onnx"), 63.0F);
  fs::current_path(before);
}

TEST(SessionTest, LinkedFolderAndHubCacheWork) {
  const TemporaryFolder folder;
  folder.copy("external.onnx", "blobs/aaa");
  folder.copy("external.onnx.data", "blobs/bbb");
  fs::create_directories(folder / "snapshots/rev");
  fs::create_symlink("../../blobs/aaa", folder / "snapshots/rev/external.onnx");
  fs::create_symlink("../../blobs/bbb", folder / "snapshots/rev/external.onnx.data");
  fs::create_directory_symlink("snapshots/rev", folder / "link");
  const Tensor x(DType::kFloat32, {64});
  for (const fs::path& model : {folder / "snapshots/rev/external.onnx", folder / "link/external.onnx"}) {
    const Session session(test_runtime(), model, cpu_options());
    EXPECT_EQ(floats_of(session.run({{"x", nullptr, &x}}, {"y"})[0]).back(), 63.0F) << model;
  }
}

TEST(SessionTest, SaysWhyAModelDoesNotLoad) {
  const TemporaryFolder folder;
  const auto error_for = [](const fs::path& model) {
    return error_of([&] { const Session session(test_runtime(), model, cpu_options()); });
  };
  EXPECT_EQ(error_for(folder / "none.onnx").code(), ErrorCode::kModelMissing);

  const Error broken = error_for(folder.write("broken.onnx", "this is not a model"));
  EXPECT_EQ(broken.code(), ErrorCode::kModelDamaged);
  EXPECT_TRUE(contains(broken.what(), "broken.onnx"));

  const Error alone = error_for(folder.copy("external.onnx", "external.onnx"));
  EXPECT_EQ(alone.code(), ErrorCode::kModelMissing);
  EXPECT_TRUE(contains(alone.what(), "external.onnx needs external.onnx.data beside it"));

  folder.write("external.onnx.data", std::string(200, 'x'));
  const Error cut = error_for(folder / "external.onnx");
  EXPECT_EQ(cut.code(), ErrorCode::kModelDamaged);
  EXPECT_TRUE(contains(cut.what(), "has 200 bytes, 272 are needed"));

  const Error unknown = error_for(testdata() / "unknown_operator.onnx");
  EXPECT_TRUE(contains(unknown.what(), "\n  ONNX Runtime: "));
  EXPECT_TRUE(contains(unknown.what(), "NoSuchOperator"));
  EXPECT_EQ(unknown.code(), ErrorCode::kModelDamaged);

  const Error strings = error_for(testdata() / "string.onnx");
  EXPECT_EQ(strings.code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(strings.what(), "'text' is not a tensor of numbers"));
}

TEST(SessionTest, NeverReadsOutsideOfTheModelsFolder) {
  for (const char* name : {"external_up.onnx", "external_absolute.onnx", "external_hidden.onnx"}) {
    const Error error = error_of([&] { (void)open(name); });
    EXPECT_EQ(error.code(), ErrorCode::kModelDamaged) << name;
    EXPECT_TRUE(contains(error.what(), "outside of the model's folder")) << name;
  }
}

TEST(SessionTest, ConfigEntriesReachOnnxRuntime) {
  SessionOptions options = cpu_options();
  options.config["mlas.disable_kleidiai"] = "1";
  const Session session = open("add.onnx", options);
  options.config = {{std::string(5000, 'k'), "1"}};  // a key that ONNX Runtime refuses
  EXPECT_EQ(error_of([&] { (void)open("add.onnx", options); }).code(), ErrorCode::kInternal);
}

}  // namespace
}  // namespace samlet::ort
