#include "models/sam3/arch/export.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <future>
#include <map>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "libs/base/file.h"
#include "libs/base/hashing_writer.h"
#include "libs/base/sha256.h"
#include "libs/onnx/writer.h"
#include "models/sam3/arch/export_plan.h"
#include "models/sam3/arch/staging_folder.h"
#include "models/sam3/contract.h"
#include "samlet/error.h"
#include "samlet/version.h"

namespace samlet::sam3 {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMinimumRuntime = "1.21";

std::string_view layout_name(CheckpointLayout layout) {
  switch (layout) {
    case CheckpointLayout::kMeta:
      return "meta";
    case CheckpointLayout::kMeta31:
      return "meta-3.1";
    case CheckpointLayout::kTransformers:
      return "transformers";
  }
  throw Error(ErrorCode::kInternal, "a checkpoint layout without a name");
}

/// Hashes the source files beside the export. Cancelled and waited for when it is left early.
class SourceHashes {
 public:
  explicit SourceHashes(std::vector<fs::path> files) {
    hashes_ = std::async(std::launch::async, [files = std::move(files), stop = stop_] {
      std::map<fs::path, std::string> hashes;
      for (const fs::path& file : files) hashes[file] = sha256_of_file(file, stop);
      return hashes;
    });
  }
  SourceHashes(const SourceHashes&) = delete;
  SourceHashes& operator=(const SourceHashes&) = delete;
  ~SourceHashes() {
    stop_.cancel();
    if (hashes_.valid()) hashes_.wait();
  }

  [[nodiscard]] std::map<fs::path, std::string> wait(const CancelToken& cancel) {
    constexpr std::chrono::milliseconds kLook{50};
    while (hashes_.wait_for(kLook) != std::future_status::ready) cancel.check();
    return hashes_.get();
  }

 private:
  CancelToken stop_;
  std::future<std::map<fs::path, std::string>> hashes_;
};

/// Counts the bytes of all files, and tells at most some times a second.
class Progress {
 public:
  Progress(const ExportOptions& options, std::uint64_t total) : options_(options), state_{0, total, ""} {}

  void file(const std::string& name) { state_.file = name; }
  void add(std::uint64_t bytes) {
    options_.cancel.check();
    state_.done += bytes;
    const auto now = std::chrono::steady_clock::now();
    const bool done = state_.done >= state_.total;
    if (!options_.progress || (!done && now - last_ < kInterval)) return;
    last_ = now;
    options_.progress(state_);
  }

 private:
  static constexpr std::chrono::milliseconds kInterval{100};
  const ExportOptions& options_;
  ExportProgress state_;
  std::chrono::steady_clock::time_point last_;
};

class Exporter {
 public:
  Exporter(const ExportOptions& options, ExportPlan plan) : options_(options), plan_(std::move(plan)) {
    for (const fs::path& file : source_files()) stamps_[file] = stamp_of(file);
  }

  ExportReport run(const SelfTest& self_test) {
    StagingFolder staging(options_.out, options_.overwrite);
    try {
      fill(staging.path(), self_test);
    } catch (const Error& error) {
      // What is named must still be there when somebody reads of it.
      throw Error(error.code(),
                  replaced(error.what(), path_to_utf8(staging.path()), path_to_utf8(options_.out)));
    }
    staging.give_name(options_.cancel);
    return std::move(report_);
  }

 private:
  using Metadata = std::vector<std::pair<std::string, std::string>>;

  static std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
    return text;
  }

  void fill(const fs::path& folder, const SelfTest& self_test) {
    const std::uint64_t total = total_bytes();
    require_space(folder, total);
    SourceHashes hashes(source_files());
    Progress progress(options_, total);
    for (const PlannedGraph& planned : plan_.graphs) {
      if (planned.external) write(planned, {}, true, folder, progress);
    }
    const auto known = hashes.wait(options_.cancel);
    require_unchanged();
    fill_manifest(known);
    for (const PlannedGraph& planned : plan_.graphs) {
      write(planned, metadata(planned), false, folder, progress);
    }
    write_manifest(folder);
    check(self_test, folder);
  }

  [[nodiscard]] std::vector<fs::path> source_files() const {
    std::vector<fs::path> files = plan_.weights->files();
    for (const auto& student : plan_.students) {
      for (const fs::path& file : student->files()) {
        if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
      }
    }
    return files;
  }

  [[nodiscard]] static std::string data_file(const PlannedGraph& planned) {
    return planned.external ? planned.file + ".data" : "";
  }

  /// Of all files but for the graphs' metadata, which says what is not known yet and is a fraction of a
  /// percent.
  [[nodiscard]] std::uint64_t total_bytes() const {
    std::uint64_t total = 0;
    for (const PlannedGraph& planned : plan_.graphs) {
      const onnx::ModelWriter writer(*planned.graph, header({}), data_file(planned));
      total += writer.model_bytes() + writer.data_bytes();
    }
    return total;
  }

  void require_space(const fs::path& folder, std::uint64_t total) const {
    std::error_code failed;
    const fs::space_info space = fs::space(folder, failed);
    if (failed || space.available >= total) return;
    constexpr std::uint64_t kMegabyte = 1'000'000;
    throw Error(ErrorCode::kIo,
                fmt::format("'{}' needs {} MB, but the disk has only {} MB left; free some, or choose "
                            "another disk",
                            path_to_utf8(options_.out), total / kMegabyte, space.available / kMegabyte));
  }

  [[nodiscard]] onnx::ModelHeader header(Metadata metadata) const {
    onnx::ModelHeader header;
    header.producer_version = version();
    header.metadata = std::move(metadata);
    return header;
  }

  void write(const PlannedGraph& planned, Metadata metadata, bool data, const fs::path& folder,
             Progress& progress) {
    const onnx::ModelWriter writer(*planned.graph, header(std::move(metadata)), data_file(planned));
    const std::string name = data ? data_file(planned) : planned.file;
    HashingWriter file(folder / name);
    progress.file(name);
    const auto sink = [&](std::span<const std::uint8_t> bytes) {
      file.write(bytes);
      progress.add(bytes.size());
    };
    if (data) {
      writer.write_data(sink);
    } else {
      writer.write_model(sink);
    }
    const WrittenFile written = file.finish();
    report_.files.push_back({name, written.bytes, written.sha256});
    manifest_.files[name] = {written.bytes, written.sha256};
  }

  void add_source(std::string role, const fs::path& file, std::string layout,
                  const std::map<fs::path, std::string>& hashes) {
    manifest_.sources.push_back({std::move(role), path_to_utf8(file.filename()), stamps_.at(file).bytes,
                                 hashes.at(file), std::move(layout)});
  }

  /// A folder must not say that it comes from a file which is another one by now.
  void require_unchanged() const {
    for (const auto& [file, stamp] : stamps_) {
      if (stamp_of(file) == stamp) continue;
      throw Error(ErrorCode::kIo,
                  fmt::format("'{}' changed while it was being exported; start again when nothing else "
                              "writes to it",
                              path_to_utf8(file)));
    }
  }

  void fill_manifest(const std::map<fs::path, std::string>& hashes) {
    const Dimensions& d = plan_.dimensions;
    manifest_.exporter = fmt::format("samlet {}", version());
    manifest_.sizes = {d.vision.image,   d.vision.patch,     d.vision.grid(),
                       d.detector.width, d.detector.queries, 4 * d.vision.grid()};
    manifest_.decoder = decoder_form(options_.target);
    manifest_.target = options_.target;
    manifest_.precision = options_.precision;
    manifest_.minimum_runtime = kMinimumRuntime;
    for (const fs::path& file : plan_.weights->files()) {
      add_source("checkpoint", file, std::string(layout_name(plan_.weights->layout())), hashes);
    }
    for (const auto& student : plan_.students) {
      for (const fs::path& file : student->files()) add_source("text_encoder", file, "litetext", hashes);
    }
    for (const PlannedGraph& planned : plan_.graphs) {
      const auto flops = static_cast<std::uint64_t>(planned.graph->flops());
      manifest_.graphs[planned.file] = {flops};
      report_.graphs.push_back({planned.file, flops});
      if (!planned.text_encoder.empty()) {
        manifest_.text_encoders.push_back({planned.text_encoder, planned.file, planned.context});
      }
    }
    report_.unused = plan_.weights->unused();
    for (const auto& student : plan_.students) {
      for (std::string& line : student->unused()) report_.unused.push_back(std::move(line));
    }
  }

  [[nodiscard]] Metadata metadata(const PlannedGraph& planned) const {
    if (is_v030(options_)) return {{"samlet.layout", "sam3-onnx v0.3.0"}};
    const ManifestSizes& sizes = manifest_.sizes;
    Metadata metadata{
        {"samlet.contract", std::to_string(v1::kVersion)},
        {"samlet.family", std::string(kFamily)},
        {"samlet.exporter", manifest_.exporter},
        {"samlet.image", std::to_string(sizes.image)},
        {"samlet.grid", std::to_string(sizes.grid)},
        {"samlet.width", std::to_string(sizes.width)},
        {"samlet.queries", std::to_string(sizes.queries)},
        {"samlet.resize", manifest_.preprocessing.resize},
        {"samlet.precision", manifest_.precision},
        {"samlet.target", manifest_.target},
        {"samlet.decoder", std::string(name_of(manifest_.decoder))},
        {"samlet.minimum_runtime", manifest_.minimum_runtime},
        {"samlet.source_sha256", checkpoint_hash(manifest_).value_or("")},
        {"samlet.flops", std::to_string(manifest_.graphs.at(planned.file).flops)},
    };
    if (!planned.text_encoder.empty()) {
      metadata.emplace_back("samlet.text_encoder", planned.text_encoder);
      metadata.emplace_back("samlet.context", std::to_string(planned.context));
    }
    return metadata;
  }

  void write_manifest(const fs::path& folder) const {
    if (is_v030(options_)) return;
    const std::string text = manifest_to_json(manifest_);
    write_file_atomic(folder / kManifestFile,
                      {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, Overwrite::kReplace);
  }

  void check(const SelfTest& self_test, const fs::path& folder) {
    if (!options_.self_test) {
      report_.unchecked_reason = "not asked for";
      return;
    }
    try {
      manifest_.self_test = self_test(folder, report_.unchecked_reason);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::kCancelled || error.code() == ErrorCode::kDeviceUnavailable) throw;
      throw Error(
          error.code(),
          fmt::format(
              "the export of '{}' did not pass its self-test, and nothing was kept (--no-check keeps it): {}",
              path_to_utf8(plan_.weights->path()), error.what()));
    }
    report_.checked = manifest_.self_test.has_value();
    if (report_.checked) write_manifest(folder);
  }

  const ExportOptions& options_;
  ExportPlan plan_;
  std::map<fs::path, FileStamp> stamps_;  // of the checkpoints, when they were opened
  Manifest manifest_;
  ExportReport report_;
};

}  // namespace

ExportReport export_checkpoint(const ExportOptions& options, const SelfTest& self_test) {
  check_options(options);
  refuse_taken_folder(options.out, options.overwrite);
  return Exporter(options, plan_export(options)).run(self_test);
}

}  // namespace samlet::sam3
