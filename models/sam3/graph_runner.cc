#include "models/sam3/graph_runner.h"

#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

/// Major and minor of "1.32.0"; zeros for what is no version.
std::array<int, 2> version_of(std::string_view text) {
  std::array<int, 2> numbers{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (int& number : numbers) {
    at = std::from_chars(at, end, number).ptr;
    if (at != end) ++at;  // the dot
  }
  return numbers;
}

void require_version(const ort::Runtime& runtime, const std::string& minimum) {
  if (minimum.empty() || version_of(runtime.library_version()) >= version_of(minimum)) return;
  throw Error(
      ErrorCode::kDeviceUnavailable,
      fmt::format("the model needs ONNX Runtime {} or newer, '{}' is {}; install a newer one, or name "
                  "one with --ort-library",
                  minimum, path_to_utf8(runtime.library_path()), runtime.library_version()));
}

}  // namespace

GraphRunner::GraphRunner(const ModelOptions& options, std::string minimum_runtime)
    : options_(options),
      minimum_runtime_(std::move(minimum_runtime)),
      wanted_(ort::device_from_name(options.device)) {}

std::shared_ptr<const ort::Runtime> GraphRunner::runtime() {
  const std::lock_guard lock(mutex_);
  if (!runtime_) {
    auto loaded = ort::Runtime::load({options_.runtime_library, options_.runtime_search, options_.log});
    require_version(*loaded, minimum_runtime_);
    runtime_ = std::move(loaded);
  }
  return runtime_;
}

ort::Device GraphRunner::device() {
  const auto loaded = runtime();
  const std::lock_guard lock(mutex_);
  if (!device_) device_ = ort::resolve_device(*loaded, wanted_, options_.log);
  return *device_;
}

std::string GraphRunner::runtime_version() {
  return runtime()->library_version();
}

const ort::Session& GraphRunner::session(const std::filesystem::path& graph, bool large) {
  ort::SessionOptions session_options;
  session_options.device = device();
  session_options.threads = options_.threads;
  session_options.log = options_.log;
  if (session_options.device == ort::Device::kCoreMl && !large) session_options.device = ort::Device::kCpu;
  Slot* slot = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto& owned = slots_[graph];
    if (!owned) owned = std::make_unique<Slot>();
    slot = owned.get();
  }
  const std::lock_guard lock(slot->mutex);
  if (!slot->session) slot->session = std::make_unique<ort::Session>(runtime(), graph, session_options);
  return *slot->session;
}

void GraphRunner::close(const std::filesystem::path& graph) {
  const std::lock_guard lock(mutex_);
  slots_.erase(graph);
}

std::vector<ort::Value> GraphRunner::run(const std::filesystem::path& graph, bool large,
                                         const std::vector<ort::Feed>& feeds,
                                         const std::vector<std::string>& outputs, const CancelToken& cancel) {
  const ort::Session& opened = session(graph, large);
  try {
    return opened.run(feeds, outputs, cancel);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInternal || device() != ort::Device::kCpu) throw;
    throw Error(
        ErrorCode::kModelDamaged,
        fmt::format("'{}' does not do what its folder declares; download or export the model again. {}",
                    path_to_utf8(graph), error.what()));
  }
}

}  // namespace samlet::sam3
