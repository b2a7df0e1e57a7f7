// Runs a folder's graph files: one runtime, one device, each session opened when first needed.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libs/ort/session.h"
#include "samlet/cancel.h"
#include "samlet/segmenter.h"

namespace samlet::sam3 {

/// Thread-safe.
class GraphRunner {
 public:
  /// `minimum_runtime` is a version such as "1.21"; empty = any. Errors: kUsage for an unknown device name.
  GraphRunner(const ModelOptions& options, std::string minimum_runtime);

  /// Runs a graph on the device; `large` marks an image encoder. On CoreML only that one goes to the device:
  /// the others are small, and their dynamic dimensions do not suit it. Inputs are taken to be right by what
  /// the folder declares, so on the CPU a run that fails is the folder's fault: kModelDamaged. Errors: also
  /// those of opening a session.
  [[nodiscard]] std::vector<ort::Value> run(const std::filesystem::path& graph, bool large,
                                            const std::vector<ort::Feed>& feeds,
                                            const std::vector<std::string>& outputs,
                                            const CancelToken& cancel);

  /// Gives back what a graph's session holds (gigabytes, for an image encoder); the next run opens it again.
  /// Not while it runs.
  void close(const std::filesystem::path& graph);

  /// The device in use. Resolves it if needed. Errors: kDeviceUnavailable.
  [[nodiscard]] ort::Device device();
  /// The library's version, "1.32.0". Errors: kDeviceUnavailable.
  [[nodiscard]] std::string runtime_version();

 private:
  /// One graph's session and the lock that only its opening holds, so that two can open at a time.
  struct Slot {
    std::mutex mutex;
    std::unique_ptr<ort::Session> session;
  };

  std::shared_ptr<const ort::Runtime> runtime();
  const ort::Session& session(const std::filesystem::path& graph, bool large);

  ModelOptions options_;
  std::string minimum_runtime_;
  ort::Device wanted_;
  std::mutex mutex_;
  std::shared_ptr<const ort::Runtime> runtime_;
  std::optional<ort::Device> device_;
  std::map<std::filesystem::path, std::unique_ptr<Slot>> slots_;
};

}  // namespace samlet::sam3
