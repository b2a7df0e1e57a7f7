// What a check of a model folder says, one line a thing, whatever the model's family.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "samlet/cancel.h"
#include "samlet/segmenter.h"

namespace samlet {

enum class CheckStatus {
  kPassed,
  kFailed,
  kNote,  ///< Worth knowing; says nothing against the folder.
};

/// One thing that was looked at.
struct CheckLine {
  std::string part;     ///< "files", "contract", "self-test", "device" or "against"
  std::string subject;  ///< a file, a graph's output, a picture
  CheckStatus status = CheckStatus::kPassed;
  std::string message;                                    ///< without an end of sentence
  std::vector<std::pair<std::string, double>> numbers{};  ///< what was measured, by name
};

/// Takes a line as soon as it is known.
using CheckSink = std::function<void(const CheckLine&)>;

struct FolderCheckOptions {
  ModelOptions model;          ///< `device` and `text_encoder` are not looked at
  std::string compare_device;  ///< a device whose results are compared with the CPU's; empty = none
  CancelToken cancel;
  CheckSink found;
  std::function<void(std::string_view)> step;  ///< Told what is being done, for people who wait.
};

}  // namespace samlet
