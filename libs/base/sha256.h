// SHA-256, by which files are known again.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "samlet/cancel.h"

namespace samlet {

/// Hashes bytes that come a piece at a time. Move-only. Not thread-safe; different objects are independent.
class Sha256 {
 public:
  /// Errors: kInternal when the library has no SHA-256 to give.
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const std::uint8_t> bytes);
  /// 64 lower-case hexadecimal digits. Ends the hash: afterwards the object may only be destroyed.
  [[nodiscard]] std::string hex();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// The hash of a regular file, read in pieces. `progress` is told how many bytes are done, after each piece.
/// Errors: kNotFound, kIo (also for what is no regular file), kCancelled. Thread-safe.
[[nodiscard]] std::string sha256_of_file(const std::filesystem::path& path, const CancelToken& cancel = {},
                                         const std::function<void(std::uint64_t)>& progress = {});

}  // namespace samlet
