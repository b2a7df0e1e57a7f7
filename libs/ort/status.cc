#include <array>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "libs/ort/api.h"

namespace samlet::ort {

std::optional<Failure> take_failure(const OrtApi& api, OrtStatus* status) {
  if (status == nullptr) return std::nullopt;
  const Handle<OrtStatus> owner(status, api.ReleaseStatus);
  return Failure{api.GetErrorCode(status), api.GetErrorMessage(status)};
}

bool says_out_of_memory(std::string_view text) {
  // The C++ exception, the CPU and device arenas, CUDA's error 2, cuBLAS and cuDNN.
  constexpr std::array<std::string_view, 7> kWays{"bad_alloc",
                                                  "bad allocation",
                                                  "Failed to allocate memory",
                                                  "out of memory",
                                                  "Out of memory",
                                                  "CUBLAS_STATUS_ALLOC_FAILED",
                                                  "CUDNN_STATUS_ALLOC_FAILED"};
  for (const std::string_view way : kWays) {
    if (text.find(way) != std::string_view::npos) return true;
  }
  return false;
}

Error make_error(ErrorCode code, std::string_view sentence, const Failure& failure) {
  if (says_out_of_memory(failure.text)) code = ErrorCode::kOutOfMemory;
  return {code, fmt::format("{}:\n  ONNX Runtime: {}", sentence, failure.text)};
}

void check(const OrtApi& api, OrtStatus* status, std::string_view what) {
  if (const auto failure = take_failure(api, status)) {
    throw make_error(ErrorCode::kInternal, fmt::format("ONNX Runtime could not {}", what), *failure);
  }
}

void ORT_API_CALL LogBridge::write(void* self, OrtLoggingLevel severity, const char* /*category*/,
                                   const char* /*log_id*/, const char* code_location,
                                   const char* message) noexcept {
  // Called from C code, which no exception may cross; a line that cannot be made is dropped.
  try {
    const auto* bridge = static_cast<const LogBridge*>(self);
    if (bridge->sink_ == nullptr) return;
    const LogLevel level = severity >= ORT_LOGGING_LEVEL_ERROR ? LogLevel::kWarning : LogLevel::kDebug;
    const std::string line = printable(fmt::format("ONNX Runtime: {} [{}]", message, code_location));
    const std::lock_guard lock(*bridge->mutex_);
    bridge->sink_(level, line);
  } catch (...) {  // NOLINT(bugprone-empty-catch)
  }
}

}  // namespace samlet::ort
