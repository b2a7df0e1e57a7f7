// The interpreter of pickles: opcodes to a tree of plain values. No code is run; the few names that a pickle
// may call are listed in pickle_machine.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libs/base/byte_reader.h"

namespace samlet::checkpoint {

/// More values than the pickle of any model makes (SAM 3's makes 40,000).
inline constexpr std::size_t kMaxPickleValues = 1'000'000;
inline constexpr std::size_t kMaxPickleBytes = std::size_t{64} << 20;

/// A value, by its number: the memo lets values refer to each other in circles.
using PickleRef = std::uint32_t;

struct PickleValue {
  enum class Kind {
    kNone,
    kBool,
    kInteger,
    kFloat,
    kText,
    kGlobal,   ///< text is the module, name the name in it
    kTuple,    ///< items
    kList,     ///< items
    kDict,     ///< items: key, value, key, value, ...
    kStorage,  ///< items: the tuple's; made by a persistent id
    kTensor,   ///< items: the arguments of _rebuild_tensor_v2
    kOther,    ///< something harmless that nobody looks into: a dtype, a device, bytes, a huge integer
  };

  Kind kind = Kind::kNone;
  std::int64_t integer = 0;    ///< kInteger, kBool
  std::string_view text = {};  ///< kText, kGlobal; a view of the pickle
  std::string_view name = {};  ///< kGlobal
  std::vector<PickleRef> items = {};

  [[nodiscard]] bool is(Kind wanted) const noexcept { return kind == wanted; }
};

/// The values of a pickle and which of them it stands for.
struct Pickle {
  std::vector<PickleValue> values;
  PickleRef root = 0;

  [[nodiscard]] const PickleValue& at(PickleRef ref) const { return values[ref]; }
};

/// Runs a pickle of protocol 2 to 5 to its end. Errors: as read_pickle.
[[nodiscard]] Pickle run_pickle(std::span<const std::uint8_t> bytes);

}  // namespace samlet::checkpoint
