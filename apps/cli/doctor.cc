#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/cli/commands.h"
#include "apps/cli/environment.h"
#include "libs/base/file.h"
#include "libs/ort/discover.h"
#include "libs/ort/session.h"
#include "samlet/error.h"
#include "samlet/version.h"

namespace samlet::cli {
namespace {

constexpr std::array kDevices{ort::Device::kCpu,      ort::Device::kCuda,     ort::Device::kCoreMl,
                              ort::Device::kTensorRt, ort::Device::kOpenVino, ort::Device::kWebGpu};

bool is_built_in(const std::vector<std::string>& built, ort::Device device) {
  return std::find(built.begin(), built.end(), ort::provider_name(device)) != built.end();
}

std::string device_line(const ort::Runtime& runtime, const std::vector<std::string>& built,
                        ort::Device device) {
  // The probe is asked only of what is built in: a session on it is the proof, being listed is not.
  std::string state = "not in this library";
  if (is_built_in(built, device)) {
    const auto reason = ort::probe(runtime, device);
    state = reason ? fmt::format("cannot be used: {}", *reason) : "ready (a session ran on it)";
  }
  if (!ort::is_tested(device)) state += "; samlet has not been tested on such a machine";
  return fmt::format("  {:<10}{}\n", ort::name_of(device), state);
}

std::string other_libraries(const RuntimeSearch& search, const ort::Runtime& runtime) {
  std::string text;
  std::error_code ignored;
  for (const ort::FoundLibrary& found : ort::find_libraries(search.search, search.library_path)) {
    if (std::filesystem::equivalent(found.file, runtime.library_path(), ignored)) continue;
    text += fmt::format("  {} ({})\n", path_to_utf8(found.file),
                        found.version.empty() ? "version unknown" : found.version);
  }
  if (text.empty()) return text;
  return fmt::format(
      "\nOther ONNX Runtime libraries on the search path, not used (name one with --ort-library):\n{}", text);
}

}  // namespace

int doctor(const DoctorArguments& arguments, Terminal& terminal) {
  terminal.set_verbosity(arguments.verbosity);
  terminal.require_output(false);
  terminal.print(fmt::format("samlet {}\n", version()));
  const RuntimeSearch search = runtime_search(arguments.runtime_library);
  const auto runtime = ort::Runtime::load({search.library, search.search, terminal.log_sink()});
  terminal.print(fmt::format("ONNX Runtime {} at {}\n  API {} in use; built with the header of API {}\n",
                             runtime->library_version(), path_to_utf8(runtime->library_path()),
                             runtime->api_version(), ort::Runtime::header_api_version()));
  terminal.print(fmt::format("Processors that may be used: {}\n\nDevices\n", ort::default_thread_count()));
  const auto built = runtime->built_providers();
  for (const ort::Device device : kDevices) terminal.print(device_line(*runtime, built, device));
  terminal.print(other_libraries(search, *runtime));
  const auto broken = ort::probe(*runtime, ort::Device::kCpu);
  if (broken) throw Error(ErrorCode::kDeviceUnavailable, *broken);
  return 0;
}

}  // namespace samlet::cli
