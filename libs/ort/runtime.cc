#include <fmt/format.h>

#include <mutex>

#include "libs/base/file.h"
#include "libs/ort/api.h"
#include "libs/ort/library.h"

namespace samlet::ort {
namespace {

/// ONNX Runtime has one environment per process, so there is one Runtime per process while anybody holds it.
struct Process {
  std::mutex mutex;
  std::weak_ptr<const Runtime> current;
};

Process& process() {
  static Process the_process;
  return the_process;
}

std::unique_ptr<Runtime::Impl> start(const Library& library, const LogSink& sink) {
  const auto [api, api_version] = newest_api(*library.base);
  auto mutex = std::make_shared<std::mutex>();
  auto bridge = std::make_unique<LogBridge>(sink, mutex);
  OrtEnv* raw = nullptr;
  // In a process that has an environment of this very library already (Python's onnxruntime), this is that
  // one, with its own logger.
  check(*api,
        api->CreateEnvWithCustomLogger(&LogBridge::write, bridge.get(), ORT_LOGGING_LEVEL_WARNING, "samlet",
                                       &raw),
        "start");
  Handle<OrtEnv> env(raw, api->ReleaseEnv);
  check(*api, api->DisableTelemetryEvents(env.get()), "turn its telemetry off");
  return std::make_unique<Runtime::Impl>(Runtime::Impl{library.file, library.version, api, api_version,
                                                       std::move(mutex), std::move(bridge), std::move(env)});
}

void require_same_library(const Runtime& current, const RuntimeOptions& options) {
  // No library named: any is welcome, and the one in use is as good as the one a search would find.
  if (options.library.empty()) return;
  const std::filesystem::path wanted = resolve_library(options.library);
  if (wanted == current.library_path()) return;
  throw Error(
      ErrorCode::kDeviceUnavailable,
      fmt::format(
          "'{}' cannot be loaded: this process already uses the ONNX Runtime library '{}', and two in "
          "one process clash. Name the same one, or start another process.",
          path_to_utf8(wanted), path_to_utf8(current.library_path())));
}

}  // namespace

Runtime::Runtime(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Runtime::~Runtime() = default;

std::shared_ptr<const Runtime> Runtime::load(const RuntimeOptions& options) {
  struct Constructible : Runtime {
    explicit Constructible(std::unique_ptr<Impl> impl) : Runtime(std::move(impl)) {}
  };
  Process& shared = process();
  const std::lock_guard lock(shared.mutex);
  if (auto current = shared.current.lock()) {
    require_same_library(*current, options);
    return current;
  }
  const Library library = open_library(options, real_places());
  log(options.log, LogLevel::kDebug,
      fmt::format("using ONNX Runtime {} at {}", library.version, path_to_utf8(library.file)));
  auto runtime = std::make_shared<const Constructible>(start(library, options.log));
  shared.current = runtime;
  return runtime;
}

const std::filesystem::path& Runtime::library_path() const noexcept {
  return impl_->path;
}
std::string Runtime::library_version() const {
  return impl_->version;
}
int Runtime::api_version() const noexcept {
  return impl_->api_version;
}
int Runtime::header_api_version() noexcept {
  return ORT_API_VERSION;
}

std::vector<std::string> Runtime::built_providers() const {
  const OrtApi& api = *impl_->api;
  char** names = nullptr;
  int count = 0;
  check(api, api.GetAvailableProviders(&names, &count), "list its execution providers");
  std::vector<std::string> providers(names, names + count);
  (void)take_failure(api, api.ReleaseAvailableProviders(names, count));  // documented never to fail
  return providers;
}

}  // namespace samlet::ort
