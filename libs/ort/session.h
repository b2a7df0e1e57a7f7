// ONNX Runtime behind one door: the library is loaded with dlopen, its C API is reached only from this
// folder, and nothing of its header shows here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libs/tensor/tensor.h"
#include "samlet/cancel.h"
#include "samlet/log.h"

namespace samlet::ort {

/// Where to look for the library, and what to say while doing it.
struct RuntimeOptions {
  /// The library file, or a folder that holds it. When set, nothing else is tried.
  std::filesystem::path library;
  /// Folders to try in order when `library` is empty, after the folder of the running program (and its
  /// ../lib) and before the system's own search. The library never reads the environment; an application
  /// passes what it read (for example site-packages of $VIRTUAL_ENV; see discover.h). Relative folders are
  /// left out.
  std::vector<std::filesystem::path> search;
  LogSink log;
};

/// The loaded library with its one environment. Process-wide: while one is held, a call that names the same
/// library, or none, shares it (its log sink included). Thread-safe.
class Runtime {
 public:
  /// Errors: kDeviceUnavailable when no library is found, it is too old, or another one is in use; the
  /// message lists the places tried and what to install.
  static std::shared_ptr<const Runtime> load(const RuntimeOptions& options);

  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;
  ~Runtime();

  [[nodiscard]] const std::filesystem::path& library_path() const noexcept;
  /// The library's own version, "1.32.0".
  [[nodiscard]] std::string library_version() const;
  /// The API version in use (the newest that both header and library know), for example 21.
  [[nodiscard]] int api_version() const noexcept;
  /// The API version of the header that was compiled in.
  [[nodiscard]] static int header_api_version() noexcept;
  /// Execution providers the library was built with, by ONNX Runtime's names. Being listed does not mean
  /// usable.
  [[nodiscard]] std::vector<std::string> built_providers() const;

  struct Impl;
  [[nodiscard]] const Impl& impl() const noexcept { return *impl_; }

 private:
  explicit Runtime(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// Where a session runs.
enum class Device { kAuto, kCpu, kCuda, kCoreMl, kTensorRt, kOpenVino, kWebGpu };

/// "auto", "cpu", "cuda", "coreml", "tensorrt", "openvino", "webgpu". Errors: kUsage naming the valid ones.
[[nodiscard]] Device device_from_name(std::string_view name);
[[nodiscard]] std::string_view name_of(Device device) noexcept;
/// ONNX Runtime's name, "CPUExecutionProvider". Not for kAuto.
[[nodiscard]] std::string_view provider_name(Device device) noexcept;

/// A real one-node session on the device: nothing when it runs, otherwise the reason why it cannot be had
/// (missing file, wanted and found CUDA or cuDNN major, not built in), in one sentence. Never throws for an
/// unusable device.
[[nodiscard]] std::optional<std::string> probe(const Runtime& runtime, Device device);

/// kAuto tries CUDA, then CoreML, then CPU. Others are probed and given back, or refused.
/// A fallback of kAuto past a provider that is built in but unusable is said once through `log`.
/// Errors: kDeviceUnavailable with the probe's reason.
[[nodiscard]] Device resolve_device(const Runtime& runtime, Device wanted, const LogSink& log);

/// Processors this process may really use: affinity mask, cut by the cgroup quota (v2 and v1). At least 1.
[[nodiscard]] int default_thread_count();

struct SessionOptions {
  Device device = Device::kCpu;  ///< resolved, not kAuto
  int threads = 0;               ///< within an operator; 0 = default_thread_count()
  LogSink log;
  /// Where CoreML, TensorRT and OpenVINO keep what they compile; empty = no cache. None of them notices a
  /// changed model: name the folder after the model's hash, the system's build and the options.
  std::filesystem::path cache_folder;
  /// ONNX Runtime's own session configuration entries, set last ("mlas.disable_kleidiai" = "1" frees the
  /// gigabytes that 1.24 and newer keep on ARM). Entries that a version does not know are ignored by it.
  std::map<std::string, std::string> config;
};

/// Name, element type and shape of an input or output; -1 is a dimension that varies.
struct ValueInfo {
  std::string name;
  DType dtype;
  Shape shape;
};

/// A tensor that ONNX Runtime owns (a result), movable into later calls without a copy.
class Value {
 public:
  Value(Value&&) noexcept;
  Value& operator=(Value&&) noexcept;
  ~Value();

  /// The elements; they live as long as the Value. Errors: kInternal when this was moved from.
  [[nodiscard]] TensorView view() const;

  struct Impl;
  explicit Value(std::unique_ptr<Impl> impl);
  [[nodiscard]] const Impl& impl() const noexcept { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// An input of a call: a name and either an owned ONNX Runtime value (no copy) or memory that outlives the
/// call.
struct Feed {
  std::string_view name;
  const Value* value = nullptr;
  const Tensor* tensor = nullptr;
};

/// One loaded graph. `run` may be called from several threads at once.
class Session {
 public:
  /// The model's file and its external data are checked first, as read_model_file does.
  /// Errors: kModelMissing, kModelDamaged (ONNX Runtime's own text shown below ours), kModelUnsupported (an
  /// input or output that is no tensor of numbers, an operator that the library does not have),
  /// kDeviceUnavailable, kOutOfMemory, kInternal for kAuto.
  Session(std::shared_ptr<const Runtime> runtime, const std::filesystem::path& model,
          const SessionOptions& options);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  [[nodiscard]] const std::vector<ValueInfo>& inputs() const noexcept;
  [[nodiscard]] const std::vector<ValueInfo>& outputs() const noexcept;

  /// Runs the graph and returns the named outputs in the given order, in CPU memory.
  /// Errors: kInternal for a name, type or shape the graph does not take; kOutOfMemory; kCancelled when the
  /// token is set while it runs (checked by ONNX Runtime between nodes).
  [[nodiscard]] std::vector<Value> run(const std::vector<Feed>& feeds,
                                       const std::vector<std::string>& outputs,
                                       const CancelToken& cancel = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace samlet::ort
