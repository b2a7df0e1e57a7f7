// For the golden tests: recorded tensors, exported graphs, and how far two tensors are apart.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "libs/ort/session.h"
#include "samlet/export.h"

namespace samlet::sam3 {

using Tensors = std::map<std::string, Tensor>;

/// A folder of tests/data/golden, "sam3" or "litetext_s0".
std::filesystem::path golden(const std::string& name);

/// All tensors of a recorded file.
Tensors read_tensors(const std::filesystem::path& file);

/// Files of a folder that begin with `prefix`, sorted, without ".safetensors".
std::vector<std::string> cases(const std::string& prefix);

/// An export in a folder of its own, with its graphs as sessions of one thread.
class ExportedModel {
 public:
  explicit ExportedModel(ExportOptions options);
  ~ExportedModel();
  ExportedModel(const ExportedModel&) = delete;
  ExportedModel& operator=(const ExportedModel&) = delete;

  /// Runs a graph with those of the tensors that it takes, and gives all outputs.
  [[nodiscard]] Tensors run(const std::string& graph, const Tensors& given) const;
  [[nodiscard]] const ort::Session& session(const std::string& graph) const;
  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] const ExportReport& report() const { return report_; }

 private:
  std::filesystem::path folder_;
  ExportReport report_;
  mutable std::map<std::string, std::unique_ptr<ort::Session>> sessions_;
};

/// max |a - b| / max |b|; infinite when the counts differ or something is not finite.
double relative_error(const TensorView& a, const TensorView& b);
/// max |a - b|
double absolute_error(const TensorView& a, const TensorView& b);
/// mean |a - b| / standard deviation of b
double mean_error(const TensorView& a, const TensorView& b);

/// A tensor of one number, and of a vector.
Tensor scalar(float value);

/// One row of a tensor with its first axis kept as 1.
Tensor row(const Tensor& tensor, std::int64_t index);

}  // namespace samlet::sam3
