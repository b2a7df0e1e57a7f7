#include "libs/ort/discover.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <system_error>

#include "libs/base/file.h"
#include "libs/ort/library.h"

namespace samlet::ort {
namespace fs = std::filesystem;
namespace {

#ifdef __APPLE__
// Untested: no such machine at hand. libonnxruntime.1.32.0.dylib
constexpr std::string_view kStem = "libonnxruntime";
constexpr std::string_view kTail = ".dylib";
#else
constexpr std::string_view kStem = "libonnxruntime.so";
constexpr std::string_view kTail;
#endif

/// "1.21.0" -> {1, 21, 0}; parts that are no number end it.
std::vector<int> numbers_of(std::string_view version) {
  std::vector<int> numbers;
  while (!version.empty()) {
    int number = 0;
    const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    version.remove_prefix(static_cast<std::size_t>(end - version.data()));
    if (!version.starts_with('.')) break;
    version.remove_prefix(1);
  }
  return numbers;
}

/// The version in a library's file name (possibly empty), or nothing when the name is not one of the
/// library's.
std::optional<std::string> version_in_name(std::string_view name) {
  if (name.size() < kStem.size() + kTail.size()) return std::nullopt;
  if (!name.starts_with(kStem) || !name.ends_with(kTail)) return std::nullopt;
  name.remove_prefix(kStem.size());
  name.remove_suffix(kTail.size());
  if (name.empty()) return std::string();
  // libonnxruntime_providers_cuda.so and libonnxruntime.so.bak are something else.
  if (name.front() != '.' || name.find_first_not_of("0123456789.") != std::string_view::npos)
    return std::nullopt;
  return std::string(name.substr(1));
}

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    entries.push_back(it->path());
  }
  return entries;
}

bool newer(const FoundLibrary& a, const FoundLibrary& b) {
  return std::pair(numbers_of(a.version), b.file) > std::pair(numbers_of(b.version), a.file);
}

void add_new(std::vector<FoundLibrary>& to, const fs::path& folder) {
  for (FoundLibrary& found : libraries_in(folder)) {
    const bool known =
        std::any_of(to.begin(), to.end(), [&](const auto& other) { return other.file == found.file; });
    if (!known) to.push_back(std::move(found));
  }
}

}  // namespace

std::vector<FoundLibrary> libraries_in(const fs::path& folder) {
  std::vector<FoundLibrary> found;
  std::set<fs::path> seen;
  for (const fs::path& entry : entries_of(folder)) {
    const auto own_version = version_in_name(path_bytes(entry.filename()));
    if (!own_version) continue;
    std::error_code error;
    const fs::path file = fs::canonical(entry, error);
    if (error || !fs::is_regular_file(file, error) || !seen.insert(file).second) continue;
    // libonnxruntime.so is most often a link whose target carries the version.
    const auto real_version = version_in_name(path_bytes(file.filename()));
    found.push_back({file, real_version && !real_version->empty() ? *real_version : *own_version});
  }
  std::sort(found.begin(), found.end(), newer);
  return found;
}

std::vector<fs::path> python_site_packages(const fs::path& prefix) {
  if (prefix.empty()) return {};
  constexpr std::string_view kPython = "python3";
  std::vector<std::pair<std::vector<int>, fs::path>> pythons;
  for (const fs::path& entry : entries_of(prefix / "lib")) {
    const std::string name = path_bytes(entry.filename());
    if (!name.starts_with(kPython)) continue;
    const fs::path capi = entry / "site-packages" / "onnxruntime" / "capi";
    std::error_code error;
    if (fs::is_directory(capi, error))
      pythons.emplace_back(numbers_of(name.substr(kPython.size() - 1)), capi);
  }
  std::sort(pythons.rbegin(), pythons.rend());
  std::vector<fs::path> folders;
  folders.reserve(pythons.size());
  for (auto& [version, folder] : pythons) folders.push_back(std::move(folder));
  return folders;
}

std::vector<fs::path> folders_beside(const fs::path& program_folder) {
  if (program_folder.empty()) return {};
  const fs::path lib = program_folder.parent_path() / "lib";
  return {program_folder, lib, lib / "samlet"};
}

std::vector<FoundLibrary> find_libraries(const std::vector<fs::path>& search,
                                         std::string_view ld_library_path) {
  std::vector<FoundLibrary> found;
  const Places places = real_places();
  for (const fs::path& folder : folders_beside(places.program_folder)) add_new(found, folder);
  for (const fs::path& folder : search) {
    if (folder.is_absolute()) add_new(found, folder);
  }
  while (!ld_library_path.empty()) {
    const std::string_view part = ld_library_path.substr(0, ld_library_path.find(':'));
    ld_library_path.remove_prefix(std::min(part.size() + 1, ld_library_path.size()));
    const fs::path folder{std::string(part)};
    if (folder.is_absolute()) add_new(found, folder);
  }
  for (const fs::path& folder : places.system_folders) add_new(found, folder);
  return found;
}

}  // namespace samlet::ort
