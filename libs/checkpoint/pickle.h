// What torch.save pickles, read without running anything: a small interpreter that knows how tensors are put
// together, and nothing else.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libs/tensor/tensor.h"

namespace samlet::checkpoint {

/// A view of a storage, as torch._utils._rebuild_tensor_v2 is told. The text views the pickle's bytes.
struct PickledTensor {
  std::string name;
  std::string_view storage_type;    ///< "FloatStorage"
  std::string_view storage_key;     ///< names the archive's member
  std::int64_t storage_count = 0;   ///< elements; not negative
  std::int64_t storage_offset = 0;  ///< elements; not negative
  Shape shape;
  Shape strides;  ///< in elements, one a dimension
};

/// The tensors of a pickled dict, or of the dict that it has under "model" when it holds no tensor itself, in
/// order. What else the dicts hold (numbers, text, lists, further dicts) is passed over. Errors:
/// kModelDamaged (not a pickle, cut, a name twice); kModelUnsupported (it calls what samlet does not know, or
/// holds no tensor where they are looked for). Thread-safe.
[[nodiscard]] std::vector<PickledTensor> read_pickle(std::span<const std::uint8_t> bytes);

}  // namespace samlet::checkpoint
