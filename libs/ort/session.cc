#include "libs/ort/session.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/base/file.h"
#include "libs/base/utf8.h"
#include "libs/ort/api.h"
#include "libs/ort/model_file.h"
#include "libs/ort/session_options.h"
#include "libs/ort/value.h"

namespace samlet::ort {
namespace {

/// The path that goes to ONNX Runtime. From 1.24 on it compares the real path of external data with the
/// model's folder and refuses what lies outside, so the folder is given with its links resolved. The file's
/// own name stays: in a hub cache the model is a link to blobs/<hash>, and its data is found by the name
/// beside the link only.
std::filesystem::path resolved(const std::filesystem::path& model) {
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::canonical(model.has_parent_path() ? model.parent_path() : ".", error);
  return error ? model : folder / model.filename();
}

ErrorCode load_error_code(const Failure& failure, Device device) {
  switch (failure.code) {
    case ORT_NO_SUCHFILE:
    case ORT_NO_MODEL:
    case ORT_INVALID_PROTOBUF:
    case ORT_INVALID_GRAPH:
      return ErrorCode::kModelDamaged;
    case ORT_NOT_IMPLEMENTED:
      return ErrorCode::kModelUnsupported;
    case ORT_EP_FAIL:
    case ORT_ENGINE_ERROR:
      return ErrorCode::kDeviceUnavailable;
    default:
      break;
  }
  // What is left is a fault that ONNX Runtime met on the way. On the CPU only the model can be its cause.
  return device == Device::kCpu ? ErrorCode::kModelDamaged : ErrorCode::kDeviceUnavailable;
}

Handle<OrtSession> open_session(const Runtime::Impl& runtime, const std::filesystem::path& model,
                                const OrtSessionOptions* options, Device device) {
  OrtSession* raw = nullptr;
  const OrtApi& api = *runtime.api;
  if (const auto failure =
          take_failure(api, api.CreateSession(runtime.env.get(), resolved(model).c_str(), options, &raw))) {
    throw make_error(load_error_code(*failure, device),
                     fmt::format("the model '{}' cannot be loaded on the device '{}'", path_to_utf8(model),
                                 name_of(device)),
                     *failure);
  }
  return {raw, api.ReleaseSession};
}

/// The name of input or output `index`, by one of the two API functions.
template <typename GetName>
std::string read_name(const OrtApi& api, GetName get_name, const OrtSession* session, std::size_t index) {
  OrtAllocator* allocator = nullptr;
  check(api, api.GetAllocatorWithDefaultOptions(&allocator), "give its allocator");
  char* raw = nullptr;
  check(api, get_name(session, index, allocator, &raw), "name an input or output");
  std::string name = raw;
  check(api, api.AllocatorFree(allocator, raw), "free a name");
  return name;
}

ValueInfo describe(const OrtApi& api, std::string name, const OrtTypeInfo* type) {
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;  // owned by `type`
  check(api, api.CastTypeInfoToTensorInfo(type, &tensor), "describe an input or output");
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  if (tensor != nullptr) check(api, api.GetTensorElementType(tensor, &element), "name an element type");
  const auto dtype = dtype_of(element);
  if (!dtype) {
    throw Error(ErrorCode::kModelUnsupported,
                fmt::format("'{}' is not a tensor of numbers; the model is not one that samlet runs",
                            printable(name)));
  }
  return {std::move(name), *dtype, shape_of(api, tensor)};
}

/// All inputs, or all outputs.
template <typename GetCount, typename GetName, typename GetType>
std::vector<ValueInfo> describe_all(const OrtApi& api, const OrtSession* session, GetCount get_count,
                                    GetName get_name, GetType get_type) {
  std::size_t count = 0;
  check(api, get_count(session, &count), "count inputs or outputs");
  std::vector<ValueInfo> all;
  for (std::size_t i = 0; i < count; ++i) {
    OrtTypeInfo* raw = nullptr;
    check(api, get_type(session, i, &raw), "describe an input or output");
    const Handle<OrtTypeInfo> type(raw, api.ReleaseTypeInfo);
    all.push_back(describe(api, read_name(api, get_name, session, i), raw));
  }
  return all;
}

std::string names_of(const std::vector<ValueInfo>& values) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const ValueInfo& value : values) names.push_back(printable(value.name));
  return fmt::format("{}", fmt::join(names, ", "));
}

bool accepts(const Shape& declared, const Shape& given) {
  return std::equal(declared.begin(), declared.end(), given.begin(), given.end(),
                    [](std::int64_t want, std::int64_t have) { return want < 0 || want == have; });
}

std::vector<const char*> pointers_to(const std::vector<std::string>& names) {
  std::vector<const char*> pointers;
  pointers.reserve(names.size());
  for (const std::string& name : names) pointers.push_back(name.c_str());
  return pointers;
}

/// The feeds of a call in the form of the C API: ended strings, which a string_view need not be, and values.
class Inputs {
 public:
  Inputs(const OrtApi& api, const std::vector<Feed>& feeds) {
    for (const Feed& feed : feeds) {
      names_.emplace_back(feed.name);
      if (feed.tensor != nullptr) borrowed_.push_back(borrow(api, feed.tensor->view()));
      values_.push_back(feed.tensor != nullptr ? borrowed_.back().get() : feed.value->impl().value.get());
    }
    pointers_ = pointers_to(names_);
  }

  [[nodiscard]] const char* const* names() const { return pointers_.data(); }
  [[nodiscard]] const OrtValue* const* values() const { return values_.data(); }
  [[nodiscard]] std::size_t count() const { return values_.size(); }

 private:
  std::vector<std::string> names_;
  std::vector<const char*> pointers_;
  std::vector<Handle<OrtValue>> borrowed_;
  std::vector<const OrtValue*> values_;
};

/// Sets a run's terminate flag when a cancel token is set. ONNX Runtime has no callback to ask, so a thread
/// looks at the token; it costs some tens of microseconds a run.
class CancelWatch {
 public:
  CancelWatch(const OrtApi& api, OrtRunOptions* options, const CancelToken& cancel) {
    try {
      thread_ = std::jthread(
          [&api, options, cancel](const std::stop_token& done) { watch(api, options, cancel, done); });
    } catch (const std::system_error&) {
      // No more threads to be had: the run goes on and cannot be stopped in its middle.
      return;
    }
  }

 private:
  static void watch(const OrtApi& api, OrtRunOptions* options, const CancelToken& cancel,
                    const std::stop_token& done) {
    constexpr std::chrono::milliseconds kPeriod{20};
    std::mutex mutex;
    std::condition_variable_any sleep;
    std::unique_lock lock(mutex);
    // Wakes at once when the run is over.
    while (!sleep.wait_for(lock, done, kPeriod, [&] { return done.stop_requested(); })) {
      if (done.stop_requested()) return;
      if (!cancel.cancelled()) continue;
      (void)take_failure(api, api.RunOptionsSetTerminate(options));
      return;
    }
  }

  std::jthread thread_;  // stopped and joined by its destructor
};

}  // namespace

struct Session::Impl {
  std::shared_ptr<const Runtime> runtime;
  std::string name;                // for messages
  std::unique_ptr<LogBridge> log;  // before the session, which writes to it until it is gone
  Handle<OrtSession> session;
  std::vector<ValueInfo> inputs;
  std::vector<ValueInfo> outputs;

  [[nodiscard]] Error misuse(const std::string& what) const {
    return {ErrorCode::kInternal, fmt::format("{}: {}", name, what)};
  }

  void check_feed(const ValueInfo& input, const TensorView& given) const {
    if (given.dtype() == input.dtype && accepts(input.shape, given.shape())) return;
    throw misuse(fmt::format("the input '{}' takes {} {}, was given {} {}", printable(input.name),
                             samlet::name_of(input.dtype), to_string(input.shape),
                             samlet::name_of(given.dtype()), to_string(given.shape())));
  }

  /// Every input once, nothing else, each of the declared type and shape.
  void check_feeds(const std::vector<Feed>& feeds) const {
    for (const ValueInfo& input : inputs) {
      const auto count =
          std::count_if(feeds.begin(), feeds.end(), [&](const Feed& f) { return f.name == input.name; });
      if (count == 0) throw misuse(fmt::format("the input '{}' was not given", printable(input.name)));
      if (count > 1) throw misuse(fmt::format("the input '{}' was given twice", printable(input.name)));
    }
    for (const Feed& feed : feeds) {
      const auto input =
          std::find_if(inputs.begin(), inputs.end(), [&](const auto& i) { return i.name == feed.name; });
      if (input == inputs.end()) {
        throw misuse(
            fmt::format("there is no input '{}'; it takes {}", printable(feed.name), names_of(inputs)));
      }
      if ((feed.value == nullptr) == (feed.tensor == nullptr)) {
        throw misuse(fmt::format("the input '{}' needs either a value or a tensor", printable(feed.name)));
      }
      check_feed(*input, feed.value != nullptr ? feed.value->view() : feed.tensor->view());
    }
  }

  void check_outputs(const std::vector<std::string>& names) const {
    if (names.empty()) throw misuse("no output was asked for");
    for (const std::string& wanted : names) {
      const bool known =
          std::any_of(outputs.begin(), outputs.end(), [&](const auto& o) { return o.name == wanted; });
      if (!known) {
        throw misuse(
            fmt::format("there is no output '{}'; it gives {}", printable(wanted), names_of(outputs)));
      }
    }
  }
};

Session::Session(std::shared_ptr<const Runtime> runtime, const std::filesystem::path& model,
                 const SessionOptions& options) {
  if (options.device == Device::kAuto) {
    throw Error(ErrorCode::kInternal,
                "a session was asked for on the device 'auto'; resolve_device comes first");
  }
  // ONNX Runtime of before 1.24 would follow a location like ../../etc/passwd.
  (void)read_model_file(model);
  const Runtime::Impl& rt = runtime->impl();
  const OrtApi& api = *rt.api;
  auto bridge = std::make_unique<LogBridge>(options.log, rt.log_mutex);
  const auto session_options = make_session_options(*runtime, options, *bridge);
  if (const auto reason = add_device(*runtime, options, session_options.get())) {
    throw Error(ErrorCode::kDeviceUnavailable,
                fmt::format("the device '{}' cannot be used: {}", name_of(options.device), *reason));
  }
  Handle<OrtSession> session = open_session(rt, model, session_options.get(), options.device);
  try {
    std::vector<ValueInfo> inputs = describe_all(api, session.get(), api.SessionGetInputCount,
                                                 api.SessionGetInputName, api.SessionGetInputTypeInfo);
    std::vector<ValueInfo> outputs = describe_all(api, session.get(), api.SessionGetOutputCount,
                                                  api.SessionGetOutputName, api.SessionGetOutputTypeInfo);
    impl_ = std::make_unique<Impl>(Impl{std::move(runtime), path_to_utf8(model.filename()), std::move(bridge),
                                        std::move(session), std::move(inputs), std::move(outputs)});
  } catch (const Error& error) {
    throw error.with_context(path_to_utf8(model));
  }
}

Session::~Session() = default;
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;

const std::vector<ValueInfo>& Session::inputs() const noexcept {
  return impl_->inputs;
}
const std::vector<ValueInfo>& Session::outputs() const noexcept {
  return impl_->outputs;
}

std::vector<Value> Session::run(const std::vector<Feed>& feeds, const std::vector<std::string>& outputs,
                                const CancelToken& cancel) const {
  cancel.check();
  impl_->check_feeds(feeds);
  impl_->check_outputs(outputs);
  const OrtApi& api = *impl_->runtime->impl().api;
  const Inputs inputs(api, feeds);
  const std::vector<const char*> output_names = pointers_to(outputs);

  OrtRunOptions* raw_options = nullptr;
  check(api, api.CreateRunOptions(&raw_options), "make run options");
  const Handle<OrtRunOptions> options(raw_options, api.ReleaseRunOptions);
  // What makes a run fail comes back with its status; as a log line it would be said twice, and a cancelled
  // run would look like a fault.
  check(api, api.RunOptionsSetRunLogSeverityLevel(raw_options, ORT_LOGGING_LEVEL_FATAL), "take a log level");
  std::vector<OrtValue*> results(outputs.size(), nullptr);
  OrtStatus* status = nullptr;
  {
    const CancelWatch watch(api, raw_options, cancel);
    status = api.Run(impl_->session.get(), raw_options, inputs.names(), inputs.values(), inputs.count(),
                     output_names.data(), output_names.size(), results.data());
  }
  const auto failure = take_failure(api, status);
  std::vector<Handle<OrtValue>> owned;
  owned.reserve(results.size());
  for (OrtValue* result : results) owned.emplace_back(result, api.ReleaseValue);
  if (failure) {
    cancel.check();  // the failure is the stop that was asked for
    throw make_error(ErrorCode::kInternal, fmt::format("{} could not be run", impl_->name), *failure);
  }
  std::vector<Value> adopted;
  adopted.reserve(owned.size());
  for (std::size_t i = 0; i < owned.size(); ++i) {
    adopted.push_back(adopt(impl_->runtime, std::move(owned[i]), outputs[i]));
  }
  return adopted;
}

}  // namespace samlet::ort
