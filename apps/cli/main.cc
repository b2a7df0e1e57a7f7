// Thin: sets up streams and signals, parses, runs one command, and turns an error into a sentence and an exit
// code.

#include <unistd.h>
#include <array>

#include <csignal>
#include <exception>
#include <new>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <variant>

#include <fmt/format.h>

#include "apps/cli/commands.h"
#include "apps/cli/environment.h"
#include "apps/cli/terminal.h"
#include "samlet/cancel.h"
#include "samlet/error.h"

namespace {

/// Set once before the handlers are installed; a signal handler has no other way to reach its data.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
const samlet::CancelToken* interrupted = nullptr;

extern "C" void on_interrupt(int signal_number) {
  interrupted->cancel();
  // A second one ends the process at once.
  std::signal(signal_number, SIG_DFL);
}

constexpr std::array kStopSignals{SIGINT, SIGTERM, SIGHUP};

/// Files are looked at through mappings, and the kernel answers with this signal when somebody cuts one
/// meanwhile. There is no way back into the program; what may be called here may be called in any signal
/// handler.
void on_bus_error(int /*signal*/) {
  constexpr std::string_view kWords =
      "samlet: a file became shorter while it was being read; start again when nothing else writes to it\n";
  (void)!::write(STDERR_FILENO, kWords.data(), kWords.size());
  ::_exit(samlet::error_traits(samlet::ErrorCode::kIo).exit_code);
}

void install_signal_handlers(const samlet::CancelToken& token) {
  interrupted = &token;
  for (const int signal_number : kStopSignals) {
    struct sigaction action{};
    // A parent that lets its children ignore a signal (nohup, a background job of a script) means it.
    const bool ignored = ::sigaction(signal_number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    if (ignored) continue;
    action = {};
    action.sa_handler = on_interrupt;
    // No SA_RESTART: a read that waits for a pipe must come back and look at the token.
    ::sigaction(signal_number, &action, nullptr);
  }
  // A reader that went away, or a limit on file sizes, is an error of the write, with a sentence, not a
  // silent death.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGBUS, on_bus_error);
  std::signal(SIGXFSZ, SIG_IGN);
}

/// When the work is done its exit code stands, and the token that the handlers know is about to go.
void ignore_stop_signals() {
  for (const int signal_number : kStopSignals) std::signal(signal_number, SIG_IGN);
}

int dispatch(const samlet::cli::Arguments& arguments, samlet::cli::Terminal& terminal,
             const samlet::CancelToken& cancel) {
  using namespace samlet::cli;  // NOLINT(google-build-using-namespace): four argument types, one function
  return std::visit(
      [&](const auto& given) -> int {
        using Given = std::decay_t<decltype(given)>;
        if constexpr (std::is_same_v<Given, PrintArguments>) {
          terminal.print(given.text);
          return 0;
        } else if constexpr (std::is_same_v<Given, RunArguments>) {
          return run(given, terminal, cancel);
        } else if constexpr (std::is_same_v<Given, CheckArguments>) {
          return check(given, terminal, cancel);
        } else if constexpr (std::is_same_v<Given, ExportArguments>) {
          return export_checkpoint(given, terminal, cancel);
        } else if constexpr (std::is_same_v<Given, DoctorArguments>) {
          return doctor(given, terminal);
        } else {
          return tokens(given, terminal);
        }
      },
      arguments);
}

int report(samlet::cli::Terminal& terminal, const samlet::Error& error) {
  terminal.error(error.what());
  return samlet::error_traits(error.code()).exit_code;
}

int guarded_main(int argc, char** argv, const samlet::CancelToken& cancel) {
  samlet::cli::Terminal terminal;
  try {
    return dispatch(samlet::cli::parse_arguments(argc, argv), terminal, cancel);
  } catch (const samlet::Error& error) {
    return report(terminal, error);
  } catch (const std::bad_alloc&) {
    return report(
        terminal,
        {samlet::ErrorCode::kOutOfMemory,
         "there is not enough memory; close other programs, or ask for less (a smaller picture, fewer "
         "phrases at once)"});
  } catch (const std::system_error& error) {
    // Threads that cannot be started come as this one.
    const bool out_of_memory = error.code() == std::errc::resource_unavailable_try_again ||
                               error.code() == std::errc::not_enough_memory;
    return report(
        terminal,
        {out_of_memory ? samlet::ErrorCode::kOutOfMemory : samlet::ErrorCode::kInternal,
         out_of_memory ? fmt::format("there is not enough memory or there are too many processes ({}); "
                                     "close other programs",
                                     error.what())
                       : fmt::format("a fault in samlet, please report it: {}", error.what())});
  } catch (const std::exception& error) {
    return report(terminal, {samlet::ErrorCode::kInternal,
                             fmt::format("a fault in samlet, please report it: {}", error.what())});
  }
}

}  // namespace

int main(int argc, char** argv) {
  const samlet::CancelToken cancel;
  install_signal_handlers(cancel);
  samlet::cli::keep_runtime_quiet();
  const int exit_code = guarded_main(argc, argv, cancel);
  ignore_stop_signals();
  return exit_code;
}
