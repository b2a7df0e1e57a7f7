// The arithmetic behind default_thread_count, with the file system's root as a parameter for tests.
#pragma once

#include <filesystem>

namespace samlet::ort {

/// `allowed` processors cut by the CPU quota of this process's control group and of each group above it (v2
/// cpu.max, v1 cpu.cfs_quota_us), as the files below `root` tell. A quota is rounded up. At least 1. Missing
/// or odd files count as no quota.
[[nodiscard]] int thread_count(int allowed, const std::filesystem::path& root);

}  // namespace samlet::ort
