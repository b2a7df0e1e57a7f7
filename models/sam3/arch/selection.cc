#include "models/sam3/arch/selection.h"

#include <utility>
#include <vector>

#include "libs/onnx/ops.h"

namespace samlet::sam3 {

using onnx::Builder;
using onnx::Value;

Kept keep_above(const DetectorContext& context, const Detections& detections, const Value& scores,
                const Value& threshold) {
  Builder& g = context.nn.graph;
  g.set_section("selection");
  const Value above = onnx::greater(g, scores, threshold);  // [B, Q]
  const Value indices = onnx::nonzero(g, above, "n");       // [2, n]
  const Value rows = onnx::transpose(g, indices, {1, 0});   // [n, 2]
  const Value prompt_index = onnx::gather(g, indices, g.scalar(std::int64_t{0}), 0);
  const Value any = onnx::reduce_max(g, onnx::cast(g, above, DType::kFloat32), {1}, false);  // [B]
  const Value prompts = onnx::squeeze(g, onnx::nonzero(g, any, "m"), {0});
  return {onnx::gather_nd(g, corners(g, detections.boxes), rows), onnx::gather_nd(g, scores, rows),
          prompt_index, onnx::gather_nd(g, detections.states, rows), prompts};
}

Value masks_of_kept(const DetectorContext& context, const Kept& kept, const Value& memory,
                    const Prompt& prompt, const MakeMaskFeatures& features) {
  Builder& g = context.nn.graph;
  const Value embedding = mask_embedding(context, kept.states);  // [n, D]
  const std::int64_t side = 4 * context.grid;
  g.set_section("masks");
  const Value none = g.constant(std::vector<float>{}, {0, side, side});
  const Value trips = onnx::squeeze(g, onnx::size_of_dimension(g, kept.prompts, 0), {0});

  auto body = g.subgraph("masks_of_one_prompt");
  Builder& b = *body;
  const DetectorContext inner{{b, context.nn.precision}, context.weights, context.dimensions, context.grid};
  const Value round = b.input("round", DType::kInt64, {});
  const Value go_on = b.input("go_on", DType::kBool, {});
  const Value before = b.input("masks_before", DType::kFloat32, {"before", side, side});
  const Value index = onnx::gather(b, kept.prompts, round, 0);
  const auto of_prompt = [&](const Value& x) {
    return onnx::unsqueeze(b, onnx::gather(b, x, index, 0), {0});
  };
  const Prompt one{of_prompt(prompt.tokens), {}, of_prompt(prompt.key_bias)};  // the bias says what is masked
  const Value pixels = onnx::squeeze(b, pixel_embedding(inner, of_prompt(memory), one, features(inner)), {0});
  const Value mine = onnx::squeeze(b, onnx::nonzero(b, onnx::equal(b, kept.prompt_index, index), "r"), {0});
  const Value logits = mask_logits(inner, onnx::gather(b, embedding, mine, 0), pixels);  // [r, 16 L]
  const Value maps = onnx::reshape(b, logits, {logits.dimension(0), side, side});
  b.output("go_on_again", go_on);
  b.output("masks_after", onnx::concat(b, {before, maps}, 0, "after"));
  return g.loop(trips, none, std::move(body), {"n", side, side});
}

}  // namespace samlet::sam3
