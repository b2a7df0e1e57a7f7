#include "libs/ort/providers/shared_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "libs/ort/elf.h"
#include "samlet/error.h"

namespace samlet::ort {
namespace fs = std::filesystem;
namespace {

bool loads(const std::string& name) {
  void* handle = ::dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

std::vector<int> found_majors(std::string_view stem, int wanted) {
  constexpr int kAround = 3;
  std::vector<int> found;
  for (int major = std::max(1, wanted - kAround); major <= wanted + kAround; ++major) {
    if (loads(fmt::format("{}.so.{}", stem, major))) found.push_back(major);
  }
  return found;
}

std::vector<std::string> needs_of(const fs::path& file) {
  try {
    return needed_libraries(MappedFile(file).bytes());
  } catch (const Error&) {
    return {};  // only a detail of a message that is made anyway
  }
}

struct Dependency {
  std::string_view stem;
  std::string_view title;
};
constexpr std::array<Dependency, 3> kDependencies{
    {{"libcudart", "CUDA"}, {"libcudnn", "cuDNN"}, {"libnvinfer", "TensorRT"}}};

}  // namespace

std::optional<int> major_of(const std::vector<std::string>& names, std::string_view stem) {
  const std::string prefix = fmt::format("{}.so.", stem);
  for (const std::string& name : names) {
    if (!name.starts_with(prefix)) continue;
    int major = 0;
    const auto [end, error] = std::from_chars(name.data() + prefix.size(), name.data() + name.size(), major);
    if (error == std::errc()) return major;
  }
  return std::nullopt;
}

std::optional<std::string> describe_dependency(const std::vector<std::string>& needed, std::string_view stem,
                                               std::string_view title) {
  const auto wanted = major_of(needed, stem);
  if (!wanted) return std::nullopt;
  const std::vector<int> found = found_majors(stem, *wanted);
  return fmt::format("{} {} ({})", title, *wanted,
                     found.empty() ? "found none" : fmt::format("found {}", fmt::join(found, ", ")));
}

std::optional<std::string> provider_library_problem(const fs::path& library, std::string_view file_name,
                                                    std::string_view package) {
  const fs::path file = library.parent_path() / file_name;
  std::error_code error;
  if (!fs::exists(file, error)) {
    return fmt::format("{} is missing beside {}; {} has it", file_name, path_to_utf8(library), package);
  }
  // ONNX Runtime opens it the same way a moment later, so that nothing is done twice.
  if (::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) return std::nullopt;
  const char* message = ::dlerror();
  std::string problem = fmt::format("{} does not load: {}", path_to_utf8(file),
                                    message == nullptr ? "unknown reason" : printable(message));
  const std::vector<std::string> needed = needs_of(file);
  std::vector<std::string> wanted;
  for (const Dependency& d : kDependencies) {
    if (auto text = describe_dependency(needed, d.stem, d.title)) wanted.push_back(*std::move(text));
  }
  if (!wanted.empty()) problem += fmt::format("; it needs {}", fmt::join(wanted, " and "));
  return problem;
}

}  // namespace samlet::ort
