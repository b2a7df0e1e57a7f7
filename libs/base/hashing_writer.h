// Large files: written and hashed by a thread of its own while the caller makes the next bytes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace samlet {

/// What a finished file is known by.
struct WrittenFile {
  std::uint64_t bytes = 0;
  std::string sha256;
};

/// Creates a file and writes to it in order. Holds at most a few megabytes that are not written yet; `write`
/// waits when there are more. Not atomic by itself: meant for a folder that gets its name when all files in
/// it are done. Not thread-safe.
class HashingWriter {
 public:
  /// Errors: kIo when the file exists or cannot be made.
  explicit HashingWriter(const std::filesystem::path& path);
  /// Without finish() the file stays as it is, incomplete.
  ~HashingWriter();
  HashingWriter(const HashingWriter&) = delete;
  HashingWriter& operator=(const HashingWriter&) = delete;

  /// Errors: kIo, for example when the disk is full; it may come from an earlier call's bytes.
  void write(std::span<const std::uint8_t> bytes);
  /// Waits until all is written. Errors: as write.
  [[nodiscard]] WrittenFile finish();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace samlet
