// SessionOptions as ONNX Runtime wants them.
#pragma once

#include "libs/ort/api.h"

namespace samlet::ort {

/// The options without a provider. `bridge` must outlive the sessions made with them. Errors: kInternal.
[[nodiscard]] Handle<OrtSessionOptions> make_session_options(const Runtime& runtime,
                                                             const SessionOptions& options,
                                                             LogBridge& bridge);

/// Adds the provider of options.device; gives back why it cannot be had. Errors: kInternal.
[[nodiscard]] std::optional<std::string> add_device(const Runtime& runtime, const SessionOptions& options,
                                                    OrtSessionOptions* to);

}  // namespace samlet::ort
