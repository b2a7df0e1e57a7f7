// Runs every graph of a folder on made-up inputs: does it run, is all finite, does every input matter?
#pragma once

#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/sam3/foreign.h"
#include "models/sam3/manifest.h"
#include "samlet/cancel.h"
#include "samlet/segmenter.h"

namespace samlet::sam3 {

struct SelfTestOptions {
  /// Runtime, threads and device. Figures are meant to be made on the CPU.
  ModelOptions model;
  CancelToken cancel;
  /// Told the name of each graph before it is run.
  std::function<void(std::string_view graph)> step;
};

/// One thing that is wrong, as a sentence.
struct SelfTestFault {
  std::string graph;
  std::string what;
};

struct SelfTestReport {
  ManifestSelfTest test;              ///< What the outputs were like.
  std::vector<SelfTestFault> faults;  ///< Empty when all is well.
  std::set<std::string> unjudged;     ///< Graphs that ran, but whose inputs were not changed.
  std::vector<Fact> facts;            ///< Found out by running, of folders of mapped graphs.
};

/// Runs the graphs of a folder: of contract version 1 all that its model.json names, of sam3-onnx v0.3.0 its
/// three, of mapped graphs (by the options' alias file) also the point decoder. The inputs are the same on
/// every machine. Each graph runs once on them and once more for every input that is changed; a changed input
/// must move some output, each output must be moved by some input, all of a picture's features must move with
/// the picture, all numbers must be finite, and a prompt must give among others what it gives alone. (A
/// decoder of v0.3.0 keeps nothing of a made-up picture, so there its inputs cannot be judged.) Takes about
/// twenty runs of the decoder and two of the image encoder. Errors: those of open_folder and of running a
/// graph; kDeviceUnavailable when there is no ONNX Runtime.
[[nodiscard]] SelfTestReport run_self_test(const std::filesystem::path& folder,
                                           const SelfTestOptions& options);

/// The figures of run_self_test. Errors: also kModelDamaged, listing what is wrong.
[[nodiscard]] ManifestSelfTest require_self_test(const std::filesystem::path& folder,
                                                 const SelfTestOptions& options);

/// How far a stored figure may be from one found later or elsewhere, as a part of the output's largest
/// magnitude.
[[nodiscard]] double figure_tolerance(const std::string& precision);

/// How far one output of a graph on another device is from the CPU's.
struct DeviceDifference {
  std::string graph;
  std::string output;
  double difference = 0;  ///< max|a - b| / max|b|; infinite when shapes differ or numbers are not finite
  double bound = 0;
};

/// Runs every graph on the inputs of the self-test, the CPU's features included, on the CPU and on
/// `options.model.device`. Errors: as run_self_test, kDeviceUnavailable.
[[nodiscard]] std::vector<DeviceDifference> compare_device(const std::filesystem::path& folder,
                                                           const SelfTestOptions& options);

}  // namespace samlet::sam3
