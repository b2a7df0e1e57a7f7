// The program's three streams: results on standard output, everything else on standard error.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "samlet/log.h"

namespace samlet::cli {

enum class Verbosity { kQuiet, kNormal, kVerbose };

/// Not thread-safe, except that log_sink() may be called from any thread one at a time with the rest.
class Terminal {
 public:
  /// Looks at the standard streams. A closed one is replaced by /dev/null, because otherwise the next file
  /// that is opened would take its number and receive what is printed.
  Terminal();

  void set_verbosity(Verbosity verbosity) noexcept { verbosity_ = verbosity; }

  /// Writes a result. Errors: kIo when standard output is closed, full, or its reader has gone.
  void print(std::string_view text);
  void print_bytes(std::span<const std::uint8_t> bytes);

  /// Refuses early what could not be printed later. Errors: kIo when standard output is closed; kUsage when
  /// `binary` and it is a terminal.
  void require_output(bool binary) const;
  [[nodiscard]] bool output_failed() const noexcept { return output_failed_; }

  /// "samlet: <message>" on standard error. Never throws; there is no further place to complain to.
  void error(std::string_view message) noexcept;
  /// "samlet: ..." unless quiet: a hint, not a fault.
  void note(std::string_view message) noexcept;
  /// "samlet: warning: ..." unless quiet.
  void warning(std::string_view message) noexcept;
  /// One line of what is being done: rewritten in place on a terminal, nothing elsewhere.
  void step(std::string_view text) noexcept;
  /// Removes the step line.
  void clear_step() noexcept;

  /// Warnings are printed; info and debug lines only when verbose.
  [[nodiscard]] LogSink log_sink();
  [[nodiscard]] Verbosity verbosity() const noexcept { return verbosity_; }

 private:
  /// What the standard streams were at the start.
  struct Streams {
    bool output_closed = false;
    bool error_is_terminal = false;
  };

  static Streams open_streams();
  void write_error_line(std::string_view prefix, std::string_view message) noexcept;

  Verbosity verbosity_ = Verbosity::kNormal;
  Streams streams_;
  bool output_failed_ = false;
  bool step_shown_ = false;
};

}  // namespace samlet::cli
