#include "libs/base/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <random>
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
  /// From now on the caller's.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

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
                                                  path_bytes(path).size(), name.substr(0, 60)));
  }
  throw Error(ErrorCode::kIo, fmt::format("cannot read '{}': {}", name, reason(error_number)));
}

int open_for_reading(const std::filesystem::path& path, int flags, const CancelToken& cancel) {
  for (;;) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags);
    if (fd >= 0) return fd;
    // Opening a pipe waits for its writer.
    if (errno != EINTR) throw_open_error(path, errno);
    cancel.check();
  }
}

struct stat status_of(int fd, const std::filesystem::path& path) {
  struct stat status{};
  if (::fstat(fd, &status) != 0) throw_open_error(path, errno);
  if (S_ISDIR(status.st_mode)) {
    throw Error(ErrorCode::kIo, fmt::format("'{}' is a folder, a file is needed", path_to_utf8(path)));
  }
  return status;
}

/// For files opened with O_NONBLOCK: without it the opening of a pipe would wait for ever; a regular file
/// does not mind.
struct stat regular_status_of(int fd, const std::filesystem::path& path) {
  const struct stat status = status_of(fd, path);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kIo, fmt::format("'{}' is not a regular file", path_to_utf8(path)));
  }
  return status;
}

[[noreturn]] void throw_exists(const std::filesystem::path& target) {
  throw Error(ErrorCode::kIo,
              fmt::format("'{}' exists already; give --overwrite to replace it", path_to_utf8(target)));
}

constexpr const char* kTemporaryPattern = ".samlet-XXXXXX";

/// The name under which the kernel shows an open file, to be linked from.
std::string descriptor_link(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

[[noreturn]] void throw_too_long(const std::filesystem::path& path, std::size_t max_bytes) {
  throw Error(ErrorCode::kIo, fmt::format("'{}' holds more than {} bytes, the most that is read here",
                                          path_to_utf8(path), max_bytes));
}

/// `path` is for messages.
std::vector<std::uint8_t> read_all(int descriptor, const std::filesystem::path& path, std::size_t max_bytes,
                                   const CancelToken& cancel) {
  const struct stat status = status_of(descriptor, path);
  if (!S_ISREG(status.st_mode)) max_bytes = std::min(max_bytes, kMaxStreamBytes);
  const auto expected = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  if (expected > max_bytes) throw_too_long(path, max_bytes);
  // One byte more than is allowed or expected, so that a read of it shows that there is more.
  std::vector<std::uint8_t> bytes(expected + 1);
  std::size_t used = 0;
  for (;;) {
    const ssize_t got = ::read(descriptor, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR) {
      cancel.check();
      continue;
    }
    if (got < 0) throw_open_error(path, errno);
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
    if (used > max_bytes) throw_too_long(path, max_bytes);
    // A pipe, or a file that grew: its size was not known.
    if (used == bytes.size())
      bytes.resize(std::min(max_bytes + 1, std::max<std::size_t>(65536, used + used / 2)));
  }
  bytes.resize(used);
  return bytes;
}

}  // namespace

std::filesystem::path path_from_utf8(std::string_view text) {
  // POSIX paths are bytes; a system with wide paths would convert here.
  return {std::string(text)};
}

std::string path_to_utf8(const std::filesystem::path& path) {
  return printable(path_bytes(path));
}

std::string path_bytes(const std::filesystem::path& path) {
  return path.native();  // the one place to convert where paths are wide
}

std::string lower_case_suffix(const std::filesystem::path& path) {
  std::string suffix = path_bytes(path.extension());
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return suffix;
}

std::vector<std::uint8_t> read_file(const std::filesystem::path& path, std::size_t max_bytes,
                                    const CancelToken& cancel) {
  const Descriptor file(open_for_reading(path, 0, cancel));
  return read_all(file.get(), path, max_bytes, cancel);
}

std::vector<std::uint8_t> read_standard_input(std::size_t max_bytes, const CancelToken& cancel) {
  return read_all(STDIN_FILENO, "standard input", max_bytes, cancel);
}

void stream_file(const std::filesystem::path& path,
                 const std::function<void(std::span<const std::uint8_t>)>& sink, const CancelToken& cancel) {
  const Descriptor file(open_for_reading(path, O_NONBLOCK, cancel));
  (void)regular_status_of(file.get(), path);
  std::vector<std::uint8_t> piece(std::size_t{1} << 20);
  for (;;) {
    cancel.check();
    const ssize_t got = ::read(file.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_open_error(path, errno);
    if (got == 0) return;
    sink(std::span(piece).first(static_cast<std::size_t>(got)));
  }
}

FileStamp stamp_of(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0) throw_open_error(path, errno);
  return {static_cast<std::uint64_t>(status.st_dev), static_cast<std::uint64_t>(status.st_ino),
          static_cast<std::uint64_t>(std::max<off_t>(status.st_size, 0)), std::int64_t{status.st_mtim.tv_sec},
          std::int64_t{status.st_mtim.tv_nsec}};
}

std::vector<std::uint8_t> read_regular_file(const std::filesystem::path& path, std::size_t max_bytes) {
  std::vector<std::uint8_t> bytes;
  stream_file(path, [&](std::span<const std::uint8_t> piece) {
    if (piece.size() > max_bytes - bytes.size()) throw_too_long(path, max_bytes);
    bytes.insert(bytes.end(), piece.begin(), piece.end());
  });
  return bytes;
}

MappedFile::MappedFile(const std::filesystem::path& path) : path_(path) {
  Descriptor file(open_for_reading(path, O_NONBLOCK, {}));
  const struct stat status = regular_status_of(file.get(), path);
  size_ = static_cast<std::size_t>(std::max<off_t>(status.st_size, 0));
  if (size_ != 0) {
    void* address = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
    if (address == MAP_FAILED) throw_open_error(path, errno);
    data_ = static_cast<const std::uint8_t*>(address);
  }
  descriptor_ = file.release();
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) ::munmap(const_cast<std::uint8_t*>(data_), size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

void MappedFile::read(std::size_t offset, std::span<std::uint8_t> into) const {
  while (!into.empty()) {
    const ssize_t done = ::pread(descriptor_, into.data(), into.size(), static_cast<off_t>(offset));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) throw_open_error(path_, errno);
    if (done == 0) {
      throw Error(ErrorCode::kIo,
                  fmt::format("'{}' became shorter while it was being read; start again when nothing "
                              "else writes to it",
                              path_to_utf8(path_)));
    }
    into = into.subspan(static_cast<std::size_t>(done));
    offset += static_cast<std::size_t>(done);
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

int write_all(int descriptor, std::span<const std::uint8_t> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return 0;
}

AtomicFile::AtomicFile(std::filesystem::path target, Overwrite overwrite)
    : target_(std::move(target)), overwrite_(overwrite) {
  std::error_code ignored;
  if (overwrite_ == Overwrite::kRefuse && std::filesystem::exists(target_, ignored)) throw_exists(target_);
  descriptor_ = ::open(folder().c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  // Without /proc a nameless file could not be named later.
  if (descriptor_ >= 0 && ::access(descriptor_link(descriptor_).c_str(), F_OK) == 0) return;
  if (descriptor_ >= 0) ::close(descriptor_);
  // Short and independent of the target's name, which may already have the longest length a file system
  // allows.
  std::string pattern = path_bytes(folder() / kTemporaryPattern);
  descriptor_ = ::mkostemp(pattern.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    const int error_number = errno;
    throw Error(ErrorCode::kIo,
                fmt::format("cannot write in '{}': {}{}", path_to_utf8(folder()), reason(error_number),
                            error_number == ENOENT ? "; make the folder first" : ""));
  }
  temporary_ = pattern;
}

AtomicFile::~AtomicFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

std::filesystem::path AtomicFile::folder() const {
  return target_.has_parent_path() ? target_.parent_path() : std::filesystem::path(".");
}

void AtomicFile::throw_cannot_write(int error_number) const {
  throw Error(ErrorCode::kIo,
              fmt::format("cannot write '{}': {}", path_to_utf8(target_), reason(error_number)));
}

void AtomicFile::write(std::span<const std::uint8_t> bytes) {
  const int failed = write_all(descriptor_, bytes);
  if (failed != 0) throw_cannot_write(failed);
}

void AtomicFile::commit() {
  // The file was made private (0600); an output gets the rights that any new file of this user gets.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  if (::fchmod(descriptor_, 0666 & ~mask) != 0 || ::fsync(descriptor_) != 0) throw_cannot_write(errno);
  if (overwrite_ == Overwrite::kRefuse) {
    give_new_name();
  } else {
    replace();
  }
  temporary_.clear();
  if (::close(std::exchange(descriptor_, -1)) != 0) throw_cannot_write(errno);
}

/// Both ways refuse a target that came into being meanwhile, in one step.
void AtomicFile::give_new_name() {
  const int result = temporary_.empty() ? ::linkat(AT_FDCWD, descriptor_link(descriptor_).c_str(), AT_FDCWD,
                                                   target_.c_str(), AT_SYMLINK_FOLLOW)
                                        : ::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(),
                                                      RENAME_NOREPLACE);
  if (result == 0) return;
  if (errno == EEXIST) throw_exists(target_);
  // Some network and FAT drives know neither way; there a look comes before the rename.
  const bool knows_no_way = errno == EINVAL || errno == ENOSYS;
  if (temporary_.empty() || !knows_no_way) throw_cannot_write(errno);
  std::error_code ignored;
  if (std::filesystem::exists(target_, ignored)) throw_exists(target_);
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw_cannot_write(errno);
}

/// rename() replaces in one step, but wants a name to rename from.
void AtomicFile::replace() {
  while (temporary_.empty()) {
    const std::filesystem::path name =
        folder() / fmt::format(".samlet-{:06x}", std::random_device{}() & 0xFFFFFFU);
    if (::linkat(AT_FDCWD, descriptor_link(descriptor_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) ==
        0) {
      temporary_ = name;
    } else if (errno != EEXIST) {
      throw_cannot_write(errno);
    }
  }
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) throw_cannot_write(errno);
}

void write_file_atomic(const std::filesystem::path& target, std::span<const std::uint8_t> bytes,
                       Overwrite overwrite) {
  AtomicFile file(target, overwrite);
  file.write(bytes);
  file.commit();
}

}  // namespace samlet
