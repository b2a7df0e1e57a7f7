#include "libs/ort/threads.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>
#ifdef __linux__
#include <sched.h>
#endif

#include "libs/base/file.h"
#include "libs/ort/session.h"
#include "samlet/error.h"

namespace samlet::ort {
namespace fs = std::filesystem;
namespace {

std::optional<std::string> text_of(const fs::path& file) {
  constexpr std::size_t kMaxBytes = 65536;
  try {
    const auto bytes = read_file(file, kMaxBytes);
    return std::string(bytes.begin(), bytes.end());
  } catch (const Error&) {
    return std::nullopt;  // not there or not readable: no quota that we could know
  }
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t at = text.find(separator);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

/// Processors that "quota" microseconds in each "period" amount to, rounded up; nothing for "max", -1 and
/// nonsense.
std::optional<int> processors(std::string_view quota_text, std::string_view period_text) {
  const auto number = [](std::string_view text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : -1;
  };
  const std::int64_t quota = number(quota_text);
  const std::int64_t period = number(period_text);
  if (quota <= 0 || period <= 0) return std::nullopt;
  constexpr std::int64_t kMost = 1 << 20;
  return static_cast<int>(std::min(kMost, quota / period + (quota % period != 0 ? 1 : 0)));
}

std::optional<int> quota_v2(const fs::path& group) {
  const auto text = text_of(group / "cpu.max");  // "200000 100000" or "max 100000"
  if (!text) return std::nullopt;
  const auto parts = split(first_line(*text), ' ');
  return parts.size() == 2 ? processors(parts[0], parts[1]) : std::nullopt;
}

std::optional<int> quota_v1(const fs::path& group) {
  const auto quota = text_of(group / "cpu.cfs_quota_us");
  const auto period = text_of(group / "cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  return processors(first_line(*quota), first_line(*period));
}

/// Cuts `count` by the quota of the group and of each group above it, up to the mount point.
template <typename Quota>
int cut(int count, const fs::path& mount, std::string_view group, Quota quota) {
  fs::path inside = fs::path(group).relative_path().lexically_normal();
  // A process outside of its namespace's root is shown as "/../..": nothing above the mount point is visible.
  if (!inside.empty() && *inside.begin() == "..") inside.clear();
  for (;;) {
    if (const auto limit = quota(mount / inside)) count = std::min(count, *limit);
    // In a container without a namespace of its own the path names groups that are not mounted; walking up
    // ends at the mount point, which is the container's group.
    if (inside.empty()) return count;
    inside = inside.parent_path();
  }
}

int allowed_processors() {
#ifdef __linux__
  // The kernel refuses a mask smaller than its own; 1024 processors is what the plain type holds.
  for (int capacity = 1024; capacity <= (1 << 20); capacity *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(capacity));
    if (set == nullptr) break;
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(capacity));
    const int count = ::sched_getaffinity(0, bytes, set) == 0 ? CPU_COUNT_S(bytes, set) : 0;
    CPU_FREE(set);
    if (count > 0) return count;
  }
#endif
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int thread_count(int allowed, const fs::path& root) {
  int count = std::max(1, allowed);
  const auto groups = text_of(root / "proc/self/cgroup");
  if (!groups) return count;
  const fs::path mount = root / "sys/fs/cgroup";
  for (const std::string_view line : split(*groups, '\n')) {
    // "0::/user.slice/x" is v2; "4:cpu,cpuacct:/docker/y" is v1, its controllers between the colons.
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string_view group = line.substr(second + 1);
    if (controllers.empty()) {
      count = cut(count, mount, group, quota_v2);
      count = cut(count, mount / "unified", group, quota_v2);  // where v1 and v2 are mounted side by side
      continue;
    }
    const auto names = split(controllers, ',');
    if (std::find(names.begin(), names.end(), "cpu") == names.end()) continue;
    count = cut(count, mount / fs::path(controllers), group, quota_v1);
    count = cut(count, mount / "cpu", group, quota_v1);
  }
  return std::max(1, count);
}

int default_thread_count() {
  return thread_count(allowed_processors(), "/");
}

}  // namespace samlet::ort
