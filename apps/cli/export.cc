#include <algorithm>
#include <chrono>
#include <string>

#include <fmt/format.h>

#include "apps/cli/commands.h"
#include "apps/cli/environment.h"
#include "apps/cli/model_store.h"
#include "libs/base/file.h"
#include "samlet/export.h"

namespace samlet::cli {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr double kMega = 1e6;

/// "[#######...] 62 %  2140 of 3450 MB  910 MB/s  sam3_image_encoder.onnx.data"
std::string bar(const ExportProgress& progress, double seconds) {
  constexpr std::size_t kWidth = 24;
  const auto done = static_cast<double>(progress.done);
  const double part = progress.total == 0 ? 1.0 : done / static_cast<double>(progress.total);
  const auto filled = static_cast<std::size_t>(part * static_cast<double>(kWidth));
  return fmt::format("[{:#<{}}{:.<{}}] {:3.0f} %  {:.0f} of {:.0f} MB  {:.0f} MB/s  {}", "", filled, "",
                     kWidth - filled, 100 * part, done / kMega, static_cast<double>(progress.total) / kMega,
                     done / kMega / std::max(seconds, 1e-3), progress.file);
}

std::string in_flops(std::uint64_t flops) {
  constexpr double kGiga = 1e9;
  const double giga = static_cast<double>(flops) / kGiga;
  return giga < 100 ? fmt::format("{:.3g} GFLOP", giga) : fmt::format("{:.0f} GFLOP", giga);
}

void report_details(const ExportReport& report, Terminal& terminal) {
  for (const ExportedFile& file : report.files) {
    terminal.print(fmt::format("  {:<44} {:>14} bytes  sha256 {}\n", file.name, file.bytes, file.sha256));
  }
  terminal.print("Cost of one run (one prompt, one box slot, one point):\n");
  for (const ExportedGraph& graph : report.graphs) {
    terminal.print(fmt::format("  {:<44} {:>14}\n", graph.file, in_flops(graph.flops)));
  }
  terminal.print("Tensors of the checkpoint that are not needed:\n");
  for (const std::string& line : report.unused) terminal.print(fmt::format("  {}\n", line));
}

}  // namespace

int export_checkpoint(const ExportArguments& arguments, Terminal& terminal, const CancelToken& cancel) {
  terminal.set_verbosity(arguments.verbosity);
  ExportOptions options = arguments.options;
  if (!arguments.name.empty()) options.out = folder_in_store(arguments.name);
  RuntimeSearch search = runtime_search(arguments.runtime_library);
  options.runtime_library = std::move(search.library);
  options.runtime_search = std::move(search.search);
  options.cancel = cancel;
  options.log = terminal.log_sink();
  const auto start = Clock::now();
  terminal.step("reading the checkpoint");
  options.progress = [&](const ExportProgress& progress) {
    terminal.step(bar(progress, seconds_since(start)));
  };
  const ExportReport report = export_model(options);
  terminal.clear_step();
  if (arguments.verbosity == Verbosity::kQuiet) return 0;
  std::uint64_t bytes = 0;
  for (const ExportedFile& file : report.files) bytes += file.bytes;
  terminal.print(fmt::format("{}: {} graphs, {:.1f} MB, {:.1f} s, {}\n", path_to_utf8(options.out),
                             report.graphs.size(), static_cast<double>(bytes) / kMega, seconds_since(start),
                             report.checked ? "self-test passed" : "unchecked: " + report.unchecked_reason));
  if (arguments.verbosity == Verbosity::kVerbose) report_details(report, terminal);
  return 0;
}

}  // namespace samlet::cli
