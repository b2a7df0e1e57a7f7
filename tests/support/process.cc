#include "tests/support/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <stdexcept>

namespace samlet::test {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;

  Pipe() {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("pipe failed");
    read_end = ends[0];
    write_end = ends[1];
  }
};

[[noreturn]] void run_child(const std::vector<std::string>& argv, const ProcessOptions& options,
                            const Pipe& in, const Pipe& out, const Pipe& err) {
  ::dup2(in.read_end, STDIN_FILENO);
  ::dup2(out.write_end, STDOUT_FILENO);
  ::dup2(err.write_end, STDERR_FILENO);
  if (!options.folder.empty() && ::chdir(options.folder.c_str()) != 0) ::_exit(125);
  for (const auto& [name, value] : options.environment) ::setenv(name.c_str(), value.c_str(), 1);
  std::vector<char*> raw;
  for (const std::string& word : argv) raw.push_back(const_cast<char*>(word.c_str()));
  raw.push_back(nullptr);
  if (options.before_exec) options.before_exec();
  ::execv(raw[0], raw.data());
  ::_exit(126);
}

/// Feeds `input` and collects both outputs until both are closed.
void exchange(int input_fd, std::string_view input, int out_fd, std::string& out, int err_fd,
              std::string& err) {
  std::array<pollfd, 3> fds{{{out_fd, POLLIN, 0}, {err_fd, POLLIN, 0}, {input_fd, POLLOUT, 0}}};
  std::array<std::string*, 2> sinks{&out, &err};
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    if (fds[2].fd >= 0 && input.empty()) {
      ::close(fds[2].fd);
      fds[2].fd = -1;
    }
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) break;
    if (fds[2].fd >= 0 && fds[2].revents != 0) {
      const ssize_t n = ::write(fds[2].fd, input.data(), input.size());
      input.remove_prefix(n > 0 ? static_cast<std::size_t>(n) : input.size());
    }
    for (std::size_t i = 0; i < sinks.size(); ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      std::array<char, 65536> buffer{};
      const ssize_t n = ::read(fds[i].fd, buffer.data(), buffer.size());
      if (n > 0) {
        sinks[i]->append(buffer.data(), static_cast<std::size_t>(n));
      } else {
        ::close(fds[i].fd);
        fds[i].fd = -1;
      }
    }
  }
}

}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv, const ProcessOptions& options) {
  // A child that closes its input early must not end the test.
  std::signal(SIGPIPE, SIG_IGN);
  const Pipe in;
  const Pipe out;
  const Pipe err;
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) run_child(argv, options, in, out, err);
  ::close(in.read_end);
  ::close(out.write_end);
  ::close(err.write_end);
  ProcessResult result;
  exchange(in.write_end, options.input, out.read_end, result.output, err.read_end, result.error);
  int status = 0;
  rusage usage{};
  while (::wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  result.exit_code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.peak_rss_kb = usage.ru_maxrss;
  return result;
}

std::function<void()> send_signal_after(std::chrono::milliseconds delay, int signal_number) {
  return [delay, signal_number] {
    const pid_t program = ::getpid();
    if (::fork() != 0) return;
    // The sender must not hold the pipes open that the test reads to their end.
    ::close(STDOUT_FILENO);
    ::close(STDERR_FILENO);
    ::usleep(static_cast<useconds_t>(std::chrono::microseconds(delay).count()));
    ::kill(program, signal_number);
    ::_exit(0);
  };
}

std::string samlet_program() {
  return std::string(SAMLET_BINARY_DIR) + "/bin/samlet";
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "samlet-test-XXXXXX").native();
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::vector<std::string> TemporaryFolder::entries() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().native());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace samlet::test
