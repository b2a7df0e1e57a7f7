// Writes a built graph as an ONNX file: bytes go out in order, weights are made when their turn comes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libs/onnx/builder.h"
#include "libs/onnx/canonical.h"

namespace samlet::onnx {

/// Takes the next bytes of a file; they live as long as the call.
using ByteSink = std::function<void(std::span<const std::uint8_t>)>;

/// What stands around the graph.
struct ModelHeader {
  std::int64_t ir_version = 9;  ///< Of ONNX 1.15, the first with operator set 20.
  std::int64_t operator_set = 20;
  std::string producer_version;
  /// ModelProto.metadata_props, in this order.
  std::vector<std::pair<std::string, std::string>> metadata;
};

/// Weights at least this large go to the data file when there is one.
inline constexpr std::size_t kExternalBytes = 1024;

/// The layout of a model on disk: what `write_model` and `write_data` will write.
class ModelWriter {
 public:
  /// `data_file` is the name of the file beside the model that holds the large weights; empty = all in the
  /// model. Errors: kInternal when the model alone would exceed 2 GiB, which protobuf cannot hold. The
  /// builder outlives this.
  ModelWriter(const Builder& builder, const ModelHeader& header, const std::string& data_file);
  ModelWriter(const ModelWriter&) = delete;
  ModelWriter& operator=(const ModelWriter&) = delete;

  [[nodiscard]] std::uint64_t model_bytes() const noexcept { return model_bytes_; }
  [[nodiscard]] std::uint64_t data_bytes() const noexcept { return data_bytes_; }

  /// Writes exactly model_bytes(), or data_bytes(). Errors: those of the sink and of the weights;
  /// kModelUnsupported for a weight that is not finite or that half precision cannot hold.
  void write_model(const ByteSink& sink) const;
  void write_data(const ByteSink& sink) const;

 private:
  struct Placed {
    const Initializer* initializer;
    std::string head;          // the TensorProto up to its values
    std::uint64_t offset = 0;  // in the data file
    bool external = false;
  };

  CanonicalGraph graph_;
  std::vector<Placed> placed_;
  std::string before_graph_;
  std::string graph_head_;  // nodes, inputs, outputs
  std::uint64_t graph_bytes_ = 0;
  std::uint64_t model_bytes_ = 0;
  std::uint64_t data_bytes_ = 0;
};

}  // namespace samlet::onnx
