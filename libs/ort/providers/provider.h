// One file a provider: how SessionOptions become its options, and why it cannot be had.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "libs/ort/api.h"

namespace samlet::ort {

/// What a provider's file gets to work with.
struct ProviderContext {
  const Runtime::Impl& runtime;
  OrtSessionOptions* session_options;
  const SessionOptions& options;
};

/// A provider's name in the generic call of the C API, and its options as text.
using ProviderOption = std::pair<std::string, std::string>;

// Each adds its provider to the session options and returns what ONNX Runtime said when it could not.
[[nodiscard]] std::optional<Failure> append_cpu(const ProviderContext& context);
[[nodiscard]] std::optional<Failure> append_cuda(const ProviderContext& context);
[[nodiscard]] std::optional<Failure> append_coreml(const ProviderContext& context);
[[nodiscard]] std::optional<Failure> append_tensorrt(const ProviderContext& context);
[[nodiscard]] std::optional<Failure> append_openvino(const ProviderContext& context);
[[nodiscard]] std::optional<Failure> append_webgpu(const ProviderContext& context);

/// SessionOptionsAppendExecutionProvider with a list of options.
[[nodiscard]] std::optional<Failure> append_by_name(const ProviderContext& context, const char* name,
                                                    const std::vector<ProviderOption>& options);

/// Adds the device's provider. Errors: kInternal for kAuto.
[[nodiscard]] std::optional<Failure> append_provider(Device device, const ProviderContext& context);

/// Why the device cannot be had, as far as the library's own list and the files beside it tell, in one
/// sentence; nothing when only a real session can tell more. `built` is Runtime::built_providers().
[[nodiscard]] std::optional<std::string> missing_reason(Device device, const std::filesystem::path& library,
                                                        const std::vector<std::string>& built);

}  // namespace samlet::ort
