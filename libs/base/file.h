// Files: whole reads with a limit, read-only mappings, and writes that are complete or not there at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "samlet/cancel.h"

namespace samlet {

/// The path that UTF-8 text names, and back. All conversions go through these two, so that a system with wide
/// paths has one place to be right in. `path_to_utf8` is for messages and JSON: bytes that are no UTF-8
/// become U+FFFD.
[[nodiscard]] std::filesystem::path path_from_utf8(std::string_view text);
[[nodiscard]] std::string path_to_utf8(const std::filesystem::path& path);

/// The most that is read from what is no regular file: a pipe or a device does not say its size beforehand.
inline constexpr std::size_t kMaxStreamBytes = std::size_t{256} << 20;

/// The whole content of a regular file, or of a pipe.
/// Errors: kNotFound when there is none, kIo when it is a folder, unreadable, or holds more than `max_bytes`
/// (a pipe: more than kMaxStreamBytes), kCancelled when a signal interrupts a read that waits and the token
/// is set.
[[nodiscard]] std::vector<std::uint8_t> read_file(const std::filesystem::path& path, std::size_t max_bytes,
                                                  const CancelToken& cancel = {});

/// All of standard input. Errors: as for a pipe; kIo when it is closed.
[[nodiscard]] std::vector<std::uint8_t> read_standard_input(std::size_t max_bytes,
                                                            const CancelToken& cancel = {});

/// The path's bytes as narrow system calls and other libraries take them: as they are where paths are bytes,
/// UTF-8 where paths are wide.
[[nodiscard]] std::string path_bytes(const std::filesystem::path& path);

/// The path's suffix in lower case (ASCII only), ".jpg" of "A.JPG".
[[nodiscard]] std::string lower_case_suffix(const std::filesystem::path& path);

/// Gives a regular file's content to `sink` in order, a piece (1 MiB at most) at a time. Errors: as
/// read_file, kIo for what is no regular file, kCancelled when the token is set between two pieces.
void stream_file(const std::filesystem::path& path,
                 const std::function<void(std::span<const std::uint8_t>)>& sink,
                 const CancelToken& cancel = {});

/// By which a file is known to be the same one with the same content as before: equal as long as nobody wrote
/// to it, replaced it or removed it.
struct FileStamp {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t changed_seconds = 0;
  std::int64_t changed_nanoseconds = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

/// Errors: kNotFound, kIo.
[[nodiscard]] FileStamp stamp_of(const std::filesystem::path& path);

/// The whole content of a regular file; anything else (a pipe, a device) is refused without waiting for it.
/// Errors: as read_file.
[[nodiscard]] std::vector<std::uint8_t> read_regular_file(const std::filesystem::path& path,
                                                          std::size_t max_bytes);

/// A read-only memory mapping of a regular file. Move-only; the view lives as long as the object.
class MappedFile {
 public:
  /// Errors: as read_file, and kIo for what is no regular file. An empty file maps to an empty view.
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  [[nodiscard]] std::span<const std::uint8_t> bytes() const noexcept { return {data_, size_}; }

  /// Copies the bytes from `offset` on by reading, not by the mapping: for streaming through gigabytes, whose
  /// pages would count as this process's memory, and safe when somebody cuts the file meanwhile, which ends a
  /// program that looks at a mapping. Errors: kIo when the file has become shorter or cannot be read.
  /// Thread-safe.
  void read(std::size_t offset, std::span<std::uint8_t> into) const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Writes everything; 0, or the errno of the write that failed. Goes on after a signal. Never throws.
[[nodiscard]] int write_all(int descriptor, std::span<const std::uint8_t> bytes) noexcept;

/// What to do when the target exists.
enum class Overwrite { kRefuse, kReplace };

/// Writes a file that has no name yet, in the target's folder; `commit()` makes it durable and gives it its
/// name. Without commit (an exception, a kill) nothing is left. Where nameless files cannot be had, a
/// temporary name
/// (.samlet-XXXXXX) takes their place, which the destructor removes. Not thread-safe; different objects are
/// independent, also with the same target (the last commit wins, or, with Overwrite::kRefuse, the first).
class AtomicFile {
 public:
  /// Errors: kIo when the folder is missing or not writable, or the target exists and must not be replaced.
  AtomicFile(std::filesystem::path target, Overwrite overwrite);
  ~AtomicFile();
  AtomicFile(AtomicFile&&) = delete;
  AtomicFile& operator=(AtomicFile&&) = delete;
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  /// Errors: kIo, for example when the disk is full.
  void write(std::span<const std::uint8_t> bytes);
  void commit();

 private:
  [[nodiscard]] std::filesystem::path folder() const;
  [[noreturn]] void throw_cannot_write(int error_number) const;
  void give_new_name();
  void replace();

  std::filesystem::path target_;
  std::filesystem::path temporary_;  // empty while the file has no name
  Overwrite overwrite_;
  int descriptor_ = -1;
};

/// AtomicFile in one call.
void write_file_atomic(const std::filesystem::path& target, std::span<const std::uint8_t> bytes,
                       Overwrite overwrite);

}  // namespace samlet
