#include "libs/ort/discover.h"

#include "libs/ort/test_support.h"

namespace samlet::ort {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> versions_of(const std::vector<FoundLibrary>& found) {
  std::vector<std::string> versions;
  versions.reserve(found.size());
  for (const FoundLibrary& library : found) versions.push_back(library.version);
  return versions;
}

TEST(DiscoverTest, TheHighestVersionComesFirstByNumberNotByText) {
  const TemporaryFolder folder;
  for (const char* name : {"libonnxruntime.so.1.9.0", "libonnxruntime.so.1.21.0", "libonnxruntime.so.1.21.1",
                           "libonnxruntime.so.2", "libonnxruntime.so.1.21"}) {
    folder.write(name, "x");
  }
  EXPECT_EQ(versions_of(libraries_in(folder.path())),
            (std::vector<std::string>{"2", "1.21.1", "1.21.0", "1.21", "1.9.0"}));
}

TEST(DiscoverTest, LinksCountOnceAndTakeTheVersionOfTheirTarget) {
  const TemporaryFolder folder;
  folder.write("libonnxruntime.so.1.32.0", "x");
  fs::create_symlink("libonnxruntime.so.1.32.0", folder / "libonnxruntime.so.1");
  fs::create_symlink("libonnxruntime.so.1", folder / "libonnxruntime.so");
  fs::create_symlink("nowhere", folder / "libonnxruntime.so.9");
  fs::create_directory(folder / "libonnxruntime.so.8");
  const auto found = libraries_in(folder.path());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].file, folder / "libonnxruntime.so.1.32.0");
  EXPECT_EQ(found[0].version, "1.32.0");
}

TEST(DiscoverTest, OtherFilesAreNotTheLibrary) {
  const TemporaryFolder folder;
  for (const char* name :
       {"libonnxruntime_providers_cuda.so", "libonnxruntime.so.bak", "libonnxruntime.so.1.x",
        "libonnxruntime.a", "xlibonnxruntime.so", "libonnxruntime.s"}) {
    folder.write(name, "x");
  }
  EXPECT_TRUE(libraries_in(folder.path()).empty());
  folder.write("libonnxruntime.so", "x");
  EXPECT_EQ(versions_of(libraries_in(folder.path())), std::vector<std::string>{""});
  EXPECT_TRUE(libraries_in(folder / "none").empty());
}

TEST(DiscoverTest, PythonFoldersNewestFirst) {
  const TemporaryFolder prefix;
  const std::string tail = "/site-packages/onnxruntime/capi";
  for (const char* python : {"python3.9", "python3.12", "python3", "python2.7"}) {
    fs::create_directories(prefix / ("lib/" + (python + tail)));
  }
  fs::create_directories(prefix / "lib/python3.13/site-packages");  // has no onnxruntime
  const auto found = python_site_packages(prefix.path());
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0], prefix / ("lib/python3.12" + tail));
  EXPECT_EQ(found[1], prefix / ("lib/python3.9" + tail));
  EXPECT_EQ(found[2], prefix / ("lib/python3" + tail));
  EXPECT_TRUE(python_site_packages(prefix / "none").empty());
  EXPECT_TRUE(python_site_packages("").empty());
}

TEST(DiscoverTest, FindsEachLibraryOnceInSearchOrder) {
  const TemporaryFolder folder;
  folder.write("search/libonnxruntime.so.1.30.0", "x");
  folder.write("path/libonnxruntime.so.1.17.0", "x");
  fs::create_directory_symlink("search", folder / "again");
  const std::string ld_library_path =
      ":relative:" + (folder / "again").native() + ":" + (folder / "path").native() + ":";
  std::vector<FoundLibrary> ours;
  for (const FoundLibrary& library : find_libraries({folder / "search", "."}, ld_library_path)) {
    if (library.file.native().starts_with(folder.path().native())) ours.push_back(library);
  }
  EXPECT_EQ(versions_of(ours), (std::vector<std::string>{"1.30.0", "1.17.0"}));
}

TEST(DiscoverTest, TheFoldersBesideAProgram) {
  EXPECT_EQ(folders_beside("/opt/samlet/bin"),
            (std::vector<fs::path>{"/opt/samlet/bin", "/opt/samlet/lib", "/opt/samlet/lib/samlet"}));
  EXPECT_TRUE(folders_beside("").empty());
  EXPECT_EQ(program_folder(), fs::canonical("/proc/self/exe").parent_path());
}

TEST(DiscoverTest, OnlyTheCpuWasTested) {
  EXPECT_TRUE(is_tested(Device::kCpu));
  EXPECT_FALSE(is_tested(Device::kCuda));
  EXPECT_FALSE(is_tested(Device::kCoreMl));
}

}  // namespace
}  // namespace samlet::ort
