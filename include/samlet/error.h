// The one error type of samlet, and the one table that says what an error means outside of the process.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace samlet {

/// What kind of thing went wrong. The kind decides the exit code, the HTTP status, and later the C status and
/// the Python class; the message says everything else.
enum class ErrorCode {
  kUsage,            ///< The command or call itself is malformed.
  kPromptInvalid,    ///< A prompt that cannot mean anything: empty text, box outside the picture, unsupported
                     ///< mix.
  kNotFound,         ///< A file or folder that was named does not exist.
  kImageUnreadable,  ///< Bytes that are not a picture we read, or a damaged one.
  kImageTooLarge,    ///< More pixels than the limit allows.
  kIo,               ///< Reading or writing failed: permissions, disk full, output exists.
  kModelMissing,     ///< No model folder, or a file is missing from it.
  kModelDamaged,     ///< A model file is cut, swapped or does not say what it should.
  kModelUnsupported,   ///< A sound model that is not a SAM 3 export we run, or cannot do what was asked.
  kDeviceUnavailable,  ///< The execution provider asked for, or ONNX Runtime itself, cannot be used.
  kOutOfMemory,        ///< An allocation failed.
  kNetwork,            ///< A transfer failed.
  kInternal,           ///< A fault in samlet. Please report it.
  kBusy,               ///< Server only: queue full.
  kUnauthorized,       ///< Server only.
  kForbidden,          ///< Server only.
  kCancelled,          ///< Stopped on request (Ctrl-C, cancel token, client gone).
  kPartialFailure,     ///< Some of many inputs failed; the others are done.
};

/// A row of the table.
struct ErrorTraits {
  ErrorCode code;
  std::string_view name;  ///< Stable lower_case identifier, used in JSON.
  int exit_code;          ///< Process exit code; -1 where the code never ends a process.
  int http_status;        ///< HTTP status; -1 where the code never crosses HTTP.
};

/// The whole table, one row for each code, in the order of the enumeration. Thread-safe, never throws.
std::span<const ErrorTraits> error_table() noexcept;

/// The row of one code. Thread-safe, never throws.
const ErrorTraits& error_traits(ErrorCode code) noexcept;

/// Every failure that samlet reports. `what()` is a sentence in UTF-8 that names the thing, what was wrong
/// with it and the next step. The library never prints and never exits; it throws this.
class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

  /// The same error with words put before its message ("photo.jpg: ..."), used on the way up.
  [[nodiscard]] Error with_context(std::string_view context) const;

 private:
  ErrorCode code_;
};

}  // namespace samlet
