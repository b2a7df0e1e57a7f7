// How the library speaks: through a function that the caller gives. It never writes to a stream itself.
#pragma once

#include <functional>
#include <string_view>

namespace samlet {

enum class LogLevel { kDebug, kInfo, kWarning };

/// Receives one message at a time, UTF-8 without a line end. An empty function discards. It may be called
/// from any thread that calls into the library, and must not throw.
using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Calls the sink when there is one.
inline void log(const LogSink& sink, LogLevel level, std::string_view message) {
  if (sink) sink(level, message);
}

}  // namespace samlet
