// From a checkpoint to a model folder: the ONNX graphs that samlet runs, written without Python.
//
//   samlet::ExportOptions options;
//   options.checkpoint = "sam3.pt";
//   options.out = "models/sam3";
//   const samlet::ExportReport report = samlet::export_model(options);
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "samlet/cancel.h"
#include "samlet/log.h"

namespace samlet {

/// How far an export is: bytes of all files together, and the file that is being written. In the self-test
/// the total is 0 and the file is the graph that is being run.
struct ExportProgress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  std::string file;
};

struct ExportOptions {
  /// A .pt or .safetensors file, an index of shards (.safetensors.index.json), or a folder that holds one of
  /// them.
  std::filesystem::path checkpoint;
  /// LiteText checkpoints whose small language encoders are written too.
  std::vector<std::filesystem::path> text_encoders;
  /// The folder to make. It appears when all is written, and not before.
  std::filesystem::path out;
  bool overwrite = false;  ///< Replace a folder that is there.
  /// "portable", "cpu", "cuda" (the decoder selects inside), "coreml" or "tensorrt" (all queries come out).
  std::string target = "portable";
  /// "samlet", or "sam3-onnx" for the graphs of sam3-onnx v0.3.0, which other programs run.
  std::string layout = "samlet";
  std::string precision = "fp32";  ///< or "fp16": weights and features are halved
  /// Side of the model's picture; 0 = the checkpoint's own. A multiple of the side it was pretrained with
  /// (336).
  int size = 0;
  /// Run every graph once before the folder gets its name. Needs ONNX Runtime; where none is found the folder
  /// is written all the same and the report says why it is unchecked.
  bool self_test = true;
  /// Where ONNX Runtime is, as in ModelOptions.
  std::filesystem::path runtime_library;
  std::vector<std::filesystem::path> runtime_search;
  CancelToken cancel;
  LogSink log;
  std::function<void(const ExportProgress&)>
      progress;  ///< Called from the calling thread, a few times a second.
};

struct ExportedFile {
  std::string name;
  std::uint64_t bytes = 0;
  std::string sha256;
};

struct ExportedGraph {
  std::string file;
  std::uint64_t flops =
      0;  ///< Of one run with one prompt, one box slot, one point, one kept prompt; 2 a multiply-add.
};

struct ExportReport {
  std::vector<ExportedFile> files;
  std::vector<ExportedGraph> graphs;
  /// Tensors of the checkpoint that are not needed, by group, with the reason.
  std::vector<std::string> unused;
  bool checked = false;
  std::string unchecked_reason;  ///< Empty when checked.
};

/// Exports. Errors: kUsage (an option that is unknown or does not fit), kNotFound, kIo (also: `out` exists),
/// kModelDamaged (tensors missing, misshapen or not finite; the self-test failed), kModelUnsupported (no SAM
/// 3 checkpoint), kCancelled. After an error nothing is left under `out`. Thread-safe.
ExportReport export_model(const ExportOptions& options);

}  // namespace samlet
