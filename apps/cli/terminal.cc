#include "apps/cli/terminal.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <system_error>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "samlet/error.h"

namespace samlet::cli {
namespace {

/// Opens /dev/null on a standard stream that was closed; true when it was.
bool fill_closed_stream(int fd, int flags) {
  if (::fcntl(fd, F_GETFD) != -1 || errno != EBADF) return false;
  // open() takes the lowest free number, which is this one because the lower ones were filled before it.
  return ::open("/dev/null", flags) >= 0;
}

int write_text(int fd, std::string_view text) noexcept {
  return write_all(fd, {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

}  // namespace

Terminal::Streams Terminal::open_streams() {
  // In this order, because each filling takes the lowest number that is free.
  (void)fill_closed_stream(STDIN_FILENO, O_RDONLY);
  const bool output_closed = fill_closed_stream(STDOUT_FILENO, O_WRONLY);
  (void)fill_closed_stream(STDERR_FILENO, O_WRONLY);
  return {output_closed, ::isatty(STDERR_FILENO) == 1};
}

Terminal::Terminal() : streams_(open_streams()) {}

void Terminal::require_output(bool binary) const {
  if (streams_.output_closed) {
    throw Error(ErrorCode::kIo,
                "standard output is closed, so the result cannot be printed; redirect it to a file");
  }
  if (binary && ::isatty(STDOUT_FILENO) == 1) {
    throw Error(ErrorCode::kUsage,
                "a picture is not printed on a terminal; redirect standard output to a file");
  }
}

void Terminal::print(std::string_view text) {
  clear_step();
  if (streams_.output_closed) return;  // refused before by those who must print
  const int error_number = write_text(STDOUT_FILENO, text);
  if (error_number != 0) {
    output_failed_ = true;
    throw Error(ErrorCode::kIo, fmt::format("cannot write to standard output: {}",
                                            std::generic_category().message(error_number)));
  }
}

void Terminal::print_bytes(std::span<const std::uint8_t> bytes) {
  print({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

namespace {

/// Messages carry names out of files that nobody vouches for; only their line ends may act on a terminal.
std::string harmless(std::string_view message) {
  std::string text;
  for (;;) {
    const std::size_t end = message.find('\n');
    text += printable(message.substr(0, end));
    if (end == std::string_view::npos) return text;
    text += '\n';
    message.remove_prefix(end + 1);
  }
}

}  // namespace

void Terminal::write_error_line(std::string_view prefix, std::string_view message) noexcept {
  clear_step();
  // One write a line, so that lines of several processes do not mix.
  try {
    (void)write_text(STDERR_FILENO, fmt::format("{}{}\n", prefix, harmless(message)));
  } catch (...) {
    (void)write_text(STDERR_FILENO, message);
  }
}

void Terminal::error(std::string_view message) noexcept {
  write_error_line("samlet: ", message);
}

void Terminal::note(std::string_view message) noexcept {
  if (verbosity_ != Verbosity::kQuiet) write_error_line("samlet: ", message);
}

void Terminal::warning(std::string_view message) noexcept {
  if (verbosity_ != Verbosity::kQuiet) write_error_line("samlet: warning: ", message);
}

void Terminal::step(std::string_view text) noexcept {
  if (!streams_.error_is_terminal || verbosity_ == Verbosity::kQuiet) return;
  (void)write_text(STDERR_FILENO, "\r\x1b[K");
  (void)write_text(STDERR_FILENO, text);
  step_shown_ = true;
}

void Terminal::clear_step() noexcept {
  if (!step_shown_) return;
  (void)write_text(STDERR_FILENO, "\r\x1b[K");
  step_shown_ = false;
}

LogSink Terminal::log_sink() {
  return [this](LogLevel level, std::string_view message) {
    if (level == LogLevel::kWarning) {
      warning(message);
    } else if (verbosity_ == Verbosity::kVerbose) {
      write_error_line(level == LogLevel::kInfo ? "samlet: " : "samlet: debug: ", message);
    }
  };
}

}  // namespace samlet::cli
