#include "libs/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "samlet/error.h"

namespace samlet {
namespace {

std::string reason(int error_number) {
  return std::generic_category().message(error_number);
}

/// Owns a file descriptor until it is released.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

[[noreturn]] void throw_open_error(const std::filesystem::path& path, int error_number) {
  const std::string name = path_to_utf8(path);
  if (error_number == ENOENT || error_number == ENOTDIR) {
    throw Error(ErrorCode::kNotFound, fmt::format("'{}' does not exist; check the path", name));
  }
  if (error_number == ENAMETOOLONG) {
    throw Error(ErrorCode::kNotFound, fmt::format("a path of {} bytes is too long to be a file: '{}...'",
                                                  path.native().size(), name.substr(0, 60)));
  }
  throw Error(ErrorCode::kIo, fmt::format("cannot read '{}': {}", name, reason(error_number)));
}

int open_for_reading(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) throw_open_error(path, errno);
  return fd;
}

struct stat status_of(int fd, const std::filesystem::path& path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) throw_open_error(path, errno);
  if (S_ISDIR(status.st_mode)) {
    throw Error(ErrorCode::kIo, fmt::format("'{}' is a folder, a file is needed", path_to_utf8(path)));
  }
  return status;
}

[[noreturn]] void throw_too_long(const std::filesystem::path& path, std::size_t max_bytes) {
  throw Error(ErrorCode::kIo, fmt::format("'{}' holds more than {} bytes, the most that is read here",
                                          path_to_utf8(path), max_bytes));
}

}  // namespace

std::filesystem::path path_from_utf8(std::string_view text) {
  // POSIX paths are bytes; a system with wide paths would convert here.
  return {std::string(text)};
}

std::string path_to_utf8(const std::filesystem::path& path) {
  return printable(path.native());
}

std::vector<std::uint8_t> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const Descriptor file(open_for_reading(path));
  const struct stat status = status_of(file.get(), path);
  const auto expected = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  if (expected > max_bytes) throw_too_long(path, max_bytes);
  std::vector<std::uint8_t> bytes(std::min(expected, max_bytes) + 1);
  std::size_t used = 0;
  for (;;) {
    const ssize_t got = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_open_error(path, errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > max_bytes) throw_too_long(path, max_bytes);
    // A pipe, or a file that grew: its size was not known.
    if (used == bytes.size()) bytes.resize(std::max<std::size_t>(65536, bytes.size() * 2));
  }
  bytes.resize(used);
  return bytes;
}

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file(open_for_reading(path));
  const struct stat status = status_of(file.get(), path);
  size_ = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  if (size_ == 0) return;
  void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) throw_open_error(path, errno);
  data_ = static_cast<const std::uint8_t*>(address);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), size_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

AtomicFile::AtomicFile(std::filesystem::path target, Overwrite overwrite)
    : target_(std::move(target)), overwrite_(overwrite) {
  std::error_code ignored;
  if (overwrite_ == Overwrite::kRefuse && std::filesystem::exists(target_, ignored)) {
    throw Error(ErrorCode::kIo,
                fmt::format("'{}' exists already; give --overwrite to replace it", path_to_utf8(target_)));
  }
  // Short and independent of the target's name, which may already have the longest length a file system
  // allows.
  const std::filesystem::path folder = target_.parent_path();
  std::string pattern = (folder / ".samlet-XXXXXX").native();
  descriptor_ = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    throw Error(ErrorCode::kIo, fmt::format("cannot write in '{}': {}",
                                            folder.empty() ? "." : path_to_utf8(folder), reason(errno)));
  }
  temporary_ = pattern;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::write(std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path_to_utf8(target_), reason(errno)));
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void AtomicFile::commit() {
  // mkostemp makes files private (0600); an output gets the rights that any new file of this user gets.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool flushed = ::fchmod(descriptor_, 0666 & ~mask) == 0 && ::fsync(descriptor_) == 0;
  const int flush_error = errno;
  const int close_result = ::close(std::exchange(descriptor_, -1));
  if (!flushed || close_result != 0) {
    throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path_to_utf8(target_),
                                            reason(flushed ? errno : flush_error)));
  }
  // link() refuses an existing target in one step; rename() replaces it in one step.
  if (overwrite_ == Overwrite::kRefuse) {
    if (::link(temporary_.c_str(), target_.c_str()) == 0) {
      ::unlink(std::exchange(temporary_, {}).c_str());
      return;
    }
    if (errno == EEXIST) {
      throw Error(ErrorCode::kIo,
                  fmt::format("'{}' exists already; give --overwrite to replace it", path_to_utf8(target_)));
    }
    // Some file systems have no hard links (FAT, some network shares): fall through to rename.
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}", path_to_utf8(target_), reason(errno)));
  }
  temporary_.clear();
}

void write_file_atomic(const std::filesystem::path& target, std::span<const std::uint8_t> bytes,
                       Overwrite overwrite) {
  AtomicFile file(target, overwrite);
  file.write(bytes);
  file.commit();
}

}  // namespace samlet
