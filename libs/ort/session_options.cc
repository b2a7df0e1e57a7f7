#include "libs/ort/session_options.h"

#include <fmt/format.h>

#include "libs/ort/providers/provider.h"

namespace samlet::ort {
namespace {

void set_config(const OrtApi& api, OrtSessionOptions* to, const char* key, const char* value) {
  check(api, api.AddSessionConfigEntry(to, key, value), fmt::format("take the session entry {}", key));
}

void set_execution(const OrtApi& api, OrtSessionOptions* to, int threads) {
  // With a count of its own choosing ONNX Runtime pins its threads to processors, which fails under cpusets
  // and LXC with noise, hangs or crashes. A count that is given is never pinned.
  check(api, api.SetIntraOpNumThreads(to, threads), "take the number of threads");
  check(api, api.SetInterOpNumThreads(to, 1), "take the number of operators at a time");
  check(api, api.SetSessionExecutionMode(to, ORT_SEQUENTIAL), "run in order");
  check(api, api.SetSessionGraphOptimizationLevel(to, ORT_ENABLE_ALL), "optimise graphs");
  // Buffers are planned once per set of input shapes; ours are fixed or few.
  check(api, api.EnableMemPattern(to), "plan memory");
  // Spinning between the operators of one run is worth its power: without it each of hundreds of operators
  // waits for threads to wake. After a run it only takes processors away from our own work on the masks, from
  // the next graph's threads, and from a container's quota.
  set_config(api, to, "session.force_spinning_stop", "1");
}

}  // namespace

Handle<OrtSessionOptions> make_session_options(const Runtime& runtime, const SessionOptions& options,
                                               LogBridge& bridge) {
  const OrtApi& api = *runtime.impl().api;
  OrtSessionOptions* raw = nullptr;
  check(api, api.CreateSessionOptions(&raw), "make session options");
  Handle<OrtSessionOptions> made(raw, api.ReleaseSessionOptions);
  set_execution(api, raw, options.threads > 0 ? options.threads : default_thread_count());
  check(api, api.SetUserLoggingFunction(raw, &LogBridge::write, &bridge), "take a logger");
  check(api, api.SetSessionLogSeverityLevel(raw, ORT_LOGGING_LEVEL_WARNING), "take a log level");
  for (const auto& [key, value] : options.config) set_config(api, raw, key.c_str(), value.c_str());
  return made;
}

std::optional<std::string> add_device(const Runtime& runtime, const SessionOptions& options,
                                      OrtSessionOptions* to) {
  if (auto reason = missing_reason(options.device, runtime.library_path(), runtime.built_providers()))
    return reason;
  const auto failure = append_provider(options.device, {runtime.impl(), to, options});
  if (!failure) return std::nullopt;
  return make_error(ErrorCode::kDeviceUnavailable, "its provider does not start", *failure).what();
}

}  // namespace samlet::ort
