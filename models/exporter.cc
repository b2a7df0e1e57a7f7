// The one door to the exporters of all families; today there is one family.
#include <optional>
#include <string>

#include <fmt/format.h>

#include "models/sam3/arch/export.h"
#include "models/sam3/self_test.h"
#include "samlet/error.h"
#include "samlet/export.h"

namespace samlet {
namespace {

/// Without a runtime an export is as good as with one, only nobody has seen it run.
std::optional<sam3::ManifestSelfTest> run_graphs(const ExportOptions& options,
                                                 const std::filesystem::path& folder, std::string& why_not) {
  sam3::SelfTestOptions test;
  test.model.device = "cpu";
  test.model.runtime_library = options.runtime_library;
  test.model.runtime_search = options.runtime_search;
  test.model.log = options.log;
  test.cancel = options.cancel;
  test.step = [&](std::string_view graph) {
    log(options.log, LogLevel::kInfo, fmt::format("running {}", graph));
    if (options.progress) options.progress({0, 0, std::string(graph)});
  };
  try {
    return sam3::require_self_test(folder, test);
  } catch (const Error& error) {
    // A library that was asked for by name must be the one.
    if (error.code() != ErrorCode::kDeviceUnavailable || !options.runtime_library.empty()) throw;
    why_not = error.what();
    return std::nullopt;
  }
}

}  // namespace

ExportReport export_model(const ExportOptions& options) {
  return sam3::export_checkpoint(options, [&](const std::filesystem::path& folder, std::string& why_not) {
    return run_graphs(options, folder, why_not);
  });
}

}  // namespace samlet
