#include "tests/support/sandbox.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <string>

namespace samlet::test {
namespace {

void require(bool held) {
  if (!held) ::_exit(124);
}

void write_or_exit(const char* path, const std::string& text) {
  const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
  require(fd >= 0 && ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  ::close(fd);
}

void enter_namespace() {
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  if (user == 0) {
    require(::unshare(CLONE_NEWNS) == 0);
  } else {
    require(::unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0);
    write_or_exit("/proc/self/setgroups", "deny");
    write_or_exit("/proc/self/uid_map", "0 " + std::to_string(user) + " 1");
    write_or_exit("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
  }
  // Nothing that is mounted here may show outside.
  require(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0);
}

}  // namespace

std::function<void()> with_small_disk(const std::filesystem::path& folder, unsigned long bytes) {
  return [folder, bytes] {
    enter_namespace();
    const std::string options = "size=" + std::to_string(bytes);
    require(::mount("tmpfs", folder.c_str(), "tmpfs", 0, options.c_str()) == 0);
    require(::chdir(folder.c_str()) == 0);
  };
}

std::function<void()> with_read_only(const std::filesystem::path& folder) {
  return [folder] {
    enter_namespace();
    require(::mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND, nullptr) == 0);
    require(::mount(nullptr, folder.c_str(), nullptr, MS_BIND | MS_REMOUNT | MS_RDONLY, nullptr) == 0);
    require(::chdir(folder.c_str()) == 0);
  };
}

}  // namespace samlet::test
