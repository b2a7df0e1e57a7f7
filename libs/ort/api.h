// ONNX Runtime's C API as the files of this folder see it. Nothing outside the folder includes this.
#pragma once

#include <onnxruntime_c_api.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "libs/ort/session.h"
#include "samlet/error.h"
#include "samlet/log.h"

namespace samlet::ort {

/// The oldest API that has all that is used here (CoreML by the generic provider call, its cache folder).
inline constexpr int kMinApiVersion = 21;

/// An object of ONNX Runtime and the API function that releases it.
template <typename T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

/// What a failed call said.
struct Failure {
  OrtErrorCode code;
  std::string text;  ///< verbatim
};

/// Reads and releases a status; nothing when the call succeeded.
[[nodiscard]] std::optional<Failure> take_failure(const OrtApi& api, OrtStatus* status);

/// True when the text is one of the ways in which ONNX Runtime and CUDA say that memory ran out. There is no
/// error code for it.
[[nodiscard]] bool says_out_of_memory(std::string_view text);

/// Our sentence with ONNX Runtime's own words below it, verbatim, so that they can be searched for.
/// kOutOfMemory replaces `code` when the text says so.
[[nodiscard]] Error make_error(ErrorCode code, std::string_view sentence, const Failure& failure);

/// For calls that only fail by a fault of samlet or by lack of memory. Errors: kInternal, kOutOfMemory.
void check(const OrtApi& api, OrtStatus* status, std::string_view what);

/// Hands ONNX Runtime's log lines to a sink, one at a time. Its address is given to the library: it must not
/// move and must outlive what it was given to.
class LogBridge {
 public:
  LogBridge(LogSink sink, std::shared_ptr<std::mutex> mutex)
      : sink_(std::move(sink)), mutex_(std::move(mutex)) {}
  LogBridge(const LogBridge&) = delete;
  LogBridge& operator=(const LogBridge&) = delete;

  /// An OrtLoggingFunction; `self` is the LogBridge. Warnings of ONNX Runtime are about graphs and no user
  /// can act on them: they become debug lines. Errors become warnings.
  static void ORT_API_CALL write(void* self, OrtLoggingLevel severity, const char* category,
                                 const char* log_id, const char* code_location, const char* message) noexcept;

 private:
  LogSink sink_;
  std::shared_ptr<std::mutex> mutex_;  // shared by all bridges of a runtime: one message at a time
};

struct Runtime::Impl {
  std::filesystem::path path;
  std::string version;
  const OrtApi* api;
  int api_version;
  std::shared_ptr<std::mutex> log_mutex;
  std::unique_ptr<LogBridge> log;  // before the environment, which writes to it until it is gone
  Handle<OrtEnv> env;
};

}  // namespace samlet::ort
