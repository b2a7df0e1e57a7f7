// Mount namespaces for a child process: permission bits do not bind root, a read-only or full file system
// does.
#pragma once

#include <filesystem>
#include <functional>

namespace samlet::test {

/// For ProcessOptions::before_exec. The child gets a mount namespace of its own (and, without root, a user
/// namespace) with a tmpfs of `bytes` at `folder`, which becomes its working folder. What is in it is gone
/// when the child ends. When that cannot be had the child exits with 124, so that a test fails instead of
/// passing for a wrong reason.
std::function<void()> with_small_disk(const std::filesystem::path& folder, unsigned long bytes);

/// The same with the folder as it is, but read-only.
std::function<void()> with_read_only(const std::filesystem::path& folder);

}  // namespace samlet::test
