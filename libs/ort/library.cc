#include "libs/ort/library.h"

#include <dlfcn.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>
#include <system_error>
#ifdef __APPLE__
#include <array>

#include <mach-o/dyld.h>
#endif

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "libs/ort/discover.h"

namespace samlet::ort {
namespace fs = std::filesystem;
namespace {

#ifdef __APPLE__
constexpr std::string_view kLibraryName = "libonnxruntime.dylib";
#else
constexpr std::string_view kLibraryName = "libonnxruntime.so";
#endif

std::string advice() {
  return fmt::format(
      "Install ONNX Runtime 1.{} or newer, for example with 'pip install onnxruntime' in a virtual "
      "environment, or "
      "name the library or its folder (samlet: --ort-library).",
      kMinApiVersion);
}

/// What became of one place.
struct Attempt {
  std::optional<Library> library;
  std::string problem;
};

/// The minor number of "1.32.0", or nothing when the text is something else.
std::optional<int> minor_of(std::string_view version) {
  if (!version.starts_with("1.")) return std::nullopt;
  version.remove_prefix(2);
  int minor = 0;
  const auto [end, error] = std::from_chars(version.data(), version.data() + version.size(), minor);
  if (error != std::errc()) return std::nullopt;
  return minor;
}

std::string loader_message() {
  const char* message = ::dlerror();
  return message == nullptr ? "unknown reason" : printable(message);
}

/// Opens a path, or a bare name that the system's loader searches for.
Attempt open_one(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return {std::nullopt, loader_message()};
  void* symbol = ::dlsym(handle, "OrtGetApiBase");
  if (symbol == nullptr) {
    ::dlclose(handle);
    return {std::nullopt, fmt::format("{} is not ONNX Runtime (it has no OrtGetApiBase)", printable(name))};
  }
  Dl_info info{};
  fs::path file = ::dladdr(symbol, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : name;
  std::error_code error;
  if (fs::path real = fs::canonical(file, error); !error) file = std::move(real);

  using GetApiBase = const OrtApiBase*(ORT_API_CALL*)();
  const OrtApiBase* base = reinterpret_cast<GetApiBase>(symbol)();  // the only way dlsym offers
  std::string version = base->GetVersionString();
  if (newest_api(*base).api == nullptr) {
    ::dlclose(handle);
    return {std::nullopt, fmt::format("found ONNX Runtime {} at {}, need >= 1.{}", printable(version),
                                      path_to_utf8(file), kMinApiVersion)};
  }
  return {Library{std::move(file), std::move(version), base}, {}};
}

Attempt open_in_folder(const fs::path& folder) {
  const std::vector<FoundLibrary> found = libraries_in(folder);
  if (found.empty()) return {std::nullopt, "none there"};
  return open_one(path_bytes(found.front().file));
}

Attempt open_system(const Places& places) {
  std::string problem;
  for (const std::string& name : places.system_names) {
    Attempt attempt = open_one(name);
    if (attempt.library) return attempt;
    problem += (problem.empty() ? "" : "; ") + attempt.problem;
  }
  // Debian's package has only the name with the version (libonnxruntime.so.1.21) unless its -dev part is
  // there.
  for (const fs::path& folder : places.system_folders) {
    if (libraries_in(folder).empty()) continue;
    Attempt attempt = open_in_folder(folder);
    if (attempt.library) return attempt;
    problem += (problem.empty() ? "" : "; ") + attempt.problem;
  }
  return {std::nullopt, std::move(problem)};
}

}  // namespace

fs::path program_folder() {
#ifdef __APPLE__
  std::array<char, 4096> buffer{};
  auto size = static_cast<std::uint32_t>(buffer.size());
  if (::_NSGetExecutablePath(buffer.data(), &size) != 0) return {};
  const fs::path link = buffer.data();
#else
  const fs::path link = "/proc/self/exe";
#endif
  std::error_code error;
  const fs::path program = fs::canonical(link, error);
  return error ? fs::path() : program.parent_path();
}

Places real_places() {
#if defined(__APPLE__)
  return {program_folder(), {"libonnxruntime.dylib"}, {"/opt/homebrew/lib", "/usr/local/lib"}};
#elif defined(__x86_64__)
  constexpr const char* kMultiarch = "/usr/lib/x86_64-linux-gnu";
#elif defined(__aarch64__)
  constexpr const char* kMultiarch = "/usr/lib/aarch64-linux-gnu";
#else
  constexpr const char* kMultiarch = "/usr/lib";
#endif
#if !defined(__APPLE__)
  return {program_folder(),
          {"libonnxruntime.so.1", "libonnxruntime.so"},
          {"/usr/local/lib", kMultiarch, "/usr/lib64", "/usr/lib"}};
#endif
}

ApiChoice newest_api(const OrtApiBase& base) {
  int newest = ORT_API_VERSION;
  // GetApi writes to stderr when it is asked for more than it knows; API version n came with release 1.n.
  if (const auto minor = minor_of(base.GetVersionString()); minor && *minor < newest) newest = *minor;
  for (int version = newest; version >= kMinApiVersion; --version) {
    const OrtApi* api = base.GetApi(static_cast<std::uint32_t>(version));
    if (api != nullptr) return {api, version};
  }
  return {nullptr, 0};
}

fs::path resolve_library(const fs::path& library) {
  std::error_code error;
  fs::path real = fs::canonical(library, error);
  if (error) {
    throw Error(
        ErrorCode::kDeviceUnavailable,
        fmt::format(
            "the ONNX Runtime library '{}' cannot be opened: {}. Correct the path, or leave it out to "
            "search for one.",
            path_to_utf8(library), error.message()));
  }
  if (!fs::is_directory(real, error)) return real;
  const std::vector<FoundLibrary> found = libraries_in(real);
  if (found.empty()) {
    throw Error(ErrorCode::kDeviceUnavailable, fmt::format("the folder '{}' holds no {}. {}",
                                                           path_to_utf8(library), kLibraryName, advice()));
  }
  return found.front().file;
}

Library open_library(const RuntimeOptions& options, const Places& places) {
  if (!options.library.empty()) {
    Attempt attempt = open_one(path_bytes(resolve_library(options.library)));
    if (attempt.library) return *std::move(attempt.library);
    throw Error(ErrorCode::kDeviceUnavailable,
                fmt::format("the ONNX Runtime library '{}' cannot be used: {}. {}",
                            path_to_utf8(options.library), attempt.problem, advice()));
  }
  std::vector<fs::path> folders = folders_beside(places.program_folder);
  // A relative folder would depend on the current one, where anybody may have put anything.
  std::copy_if(options.search.begin(), options.search.end(), std::back_inserter(folders),
               [](const fs::path& folder) { return folder.is_absolute(); });
  std::string report;
  for (const fs::path& folder : folders) {
    Attempt attempt = open_in_folder(folder);
    if (attempt.library) return *std::move(attempt.library);
    report += fmt::format("\n  {}: {}", path_to_utf8(folder), attempt.problem);
  }
  Attempt attempt = open_system(places);
  if (attempt.library) return *std::move(attempt.library);
  throw Error(ErrorCode::kDeviceUnavailable,
              fmt::format("no usable ONNX Runtime library ({}) was found. Looked in:{}\n  the system: {}\n{}",
                          kLibraryName, report, attempt.problem, advice()));
}

}  // namespace samlet::ort
