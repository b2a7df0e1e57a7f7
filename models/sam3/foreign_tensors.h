// Inputs of mapped graphs, in the types and shapes that they declare. For graphs_v050.cc and the self-test.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libs/tensor/tensor.h"
#include "models/sam3/foreign.h"
#include "models/sam3/graphs.h"

namespace samlet::sam3 {

/// By the names of the graph's inputs.
using NamedTensors = std::vector<std::pair<std::string, Tensor>>;

/// Numbers in a type that samlet fills (f32, i64, i32, bool). Errors: kInternal for another.
[[nodiscard]] Tensor tensor_of(std::optional<DType> type, Shape shape, std::span<const double> values);

/// u8 [3, S, S] in the type and rank that the image encoder takes; `form` is the word of the fact "pixels".
[[nodiscard]] Tensor pixels_for(const ort::DeclaredValue& image, const Tensor& planes, std::string_view form);

/// A phrase for the language encoder.
[[nodiscard]] NamedTensors token_tensors(const MappedGraph& language, std::span<const std::int64_t> tokens);

/// [C, 1, D] as [1, C, D] or the other way round, where the decoder wants that; none where it does not.
/// Errors: kModelUnsupported for f16.
[[nodiscard]] std::optional<Tensor> text_for(const ort::DeclaredValue& taken, const TensorView& made);

/// Boxes and threshold for the decoder; slots that are not needed are masked. Errors: kModelUnsupported when
/// slots would be left over that cannot be masked.
[[nodiscard]] NamedTensors box_tensors(const ForeignModel& model, std::span<const NormalizedBox> boxes,
                                       double threshold);

/// One object for the point decoder, closed as it wants it. Errors: kModelUnsupported for a number of points
/// it cannot take, and for an earlier answer that it takes none of.
[[nodiscard]] NamedTensors point_tensors(const ForeignModel& model, const PointPrompt& prompt, bool several);

}  // namespace samlet::sam3
