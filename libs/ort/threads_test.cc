#include "libs/ort/threads.h"

#ifdef __linux__
#include <sched.h>
#endif

#include "libs/ort/test_support.h"

namespace samlet::ort {
namespace {

constexpr const char* kSelf = "proc/self/cgroup";

TEST(ThreadCountTest, NoGroupsMeansWhatIsAllowed) {
  const TemporaryFolder root;
  EXPECT_EQ(thread_count(8, root.path()), 8);
  EXPECT_EQ(thread_count(0, root.path()), 1);
  EXPECT_EQ(thread_count(-3, root.path()), 1);
}

TEST(ThreadCountTest, VersionTwoQuotaIsRoundedUp) {
  const TemporaryFolder root;
  root.write(kSelf, "0::/job\n");
  const auto with = [&](std::string_view quota) {
    root.write("sys/fs/cgroup/job/cpu.max", quota);
    return thread_count(8, root.path());
  };
  EXPECT_EQ(with("200000 100000\n"), 2);
  EXPECT_EQ(with("150000 100000\n"), 2);
  EXPECT_EQ(with("100001 100000\n"), 2);
  EXPECT_EQ(with("1000 100000\n"), 1);
  EXPECT_EQ(with("9900000 100000\n"), 8);  // more than there is
  EXPECT_EQ(with("max 100000\n"), 8);
}

TEST(ThreadCountTest, OddFilesCountAsNoQuota) {
  const TemporaryFolder root;
  root.write(kSelf, "0::/job\n");
  for (const char* quota : {"", "\n", "100000", "100000 0\n", "-5 100000\n", "0 100000\n", "1e5 100000\n",
                            "100000 100000 1\n", "99999999999999999999 100000\n", "max max\n"}) {
    root.write("sys/fs/cgroup/job/cpu.max", quota);
    EXPECT_EQ(thread_count(8, root.path()), 8) << quota;
  }
}

TEST(ThreadCountTest, TheSmallestQuotaOnTheWayUpCounts) {
  const TemporaryFolder root;
  root.write(kSelf, "0::/a/b/c\n");
  root.write("sys/fs/cgroup/a/b/c/cpu.max", "max 100000\n");
  root.write("sys/fs/cgroup/a/cpu.max", "300000 100000\n");
  EXPECT_EQ(thread_count(8, root.path()), 3);
  root.write("sys/fs/cgroup/a/b/cpu.max", "500000 100000\n");
  EXPECT_EQ(thread_count(8, root.path()), 3);
  root.write("sys/fs/cgroup/cpu.max", "200000 100000\n");  // a container's own group is at the mount point
  EXPECT_EQ(thread_count(8, root.path()), 2);
}

TEST(ThreadCountTest, VersionOneQuota) {
  const TemporaryFolder root;
  root.write(kSelf, "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n1:name=systemd:/docker/x\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "250000\n");
  root.write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(thread_count(8, root.path()), 3);
  root.write("sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(thread_count(8, root.path()), 8);
}

TEST(ThreadCountTest, VersionOneInAContainerThatDoesNotSeeItsOwnPath) {
  const TemporaryFolder root;
  root.write(kSelf, "4:cpuacct,cpu:/docker/x\n0::/docker/x\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(thread_count(8, root.path()), 1);
}

TEST(ThreadCountTest, CpusetIsNotTheCpuController) {
  const TemporaryFolder root;
  root.write(kSelf, "4:cpuset:/x\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
  root.write("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(thread_count(8, root.path()), 8);
}

TEST(ThreadCountTest, SideBySideMount) {
  const TemporaryFolder root;
  root.write(kSelf, "0::/x\n");
  root.write("sys/fs/cgroup/unified/x/cpu.max", "400000 100000\n");
  EXPECT_EQ(thread_count(8, root.path()), 4);
}

TEST(ThreadCountTest, APathOutsideOfTheNamespaceStaysBelowTheMountPoint) {
  const TemporaryFolder root;
  root.write(kSelf, "0::/../../other\n");
  root.write("sys/other/cpu.max", "100000 100000\n");
  root.write("other/cpu.max", "100000 100000\n");
  EXPECT_EQ(thread_count(8, root.path()), 8);
  root.write("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(thread_count(8, root.path()), 2);
}

TEST(ThreadCountTest, MalformedLinesAreSkipped) {
  const TemporaryFolder root;
  root.write(kSelf, "nonsense\n:\n0:\n::\n0::/job");
  root.write("sys/fs/cgroup/job/cpu.max", "200000 100000");
  EXPECT_EQ(thread_count(8, root.path()), 2);
}

#ifdef __linux__
TEST(ThreadCountTest, FollowsTheAffinityOfThisProcess) {
  cpu_set_t before;
  ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
  EXPECT_LE(default_thread_count(), CPU_COUNT(&before));
  EXPECT_GE(default_thread_count(), 1);
  int first = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(first), &before)) ++first;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(first), &one);
  ASSERT_EQ(::sched_setaffinity(0, sizeof one, &one), 0);
  EXPECT_EQ(default_thread_count(), 1);
  ASSERT_EQ(::sched_setaffinity(0, sizeof before, &before), 0);
}
#endif

}  // namespace
}  // namespace samlet::ort
