#include "libs/checkpoint/pickle_machine.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "libs/base/utf8.h"
#include "samlet/error.h"

namespace samlet::checkpoint {
namespace {

using Kind = PickleValue::Kind;

/// The opcodes of Python's pickletools that a torch.save of plain values writes, whatever the protocol.
enum Opcode : std::uint8_t {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinBytes = 'B',
  kShortBinBytes = 'C',
  kBinFloat = 'G',
  kBinInt = 'J',
  kBinInt1 = 'K',
  kBinInt2 = 'M',
  kPushNone = 'N',
  kBinPersistentId = 'Q',
  kReduce = 'R',
  kBinString = 'T',
  kShortBinString = 'U',
  kBinUnicode = 'X',
  kEmptyList = ']',
  kAppend = 'a',
  kBuild = 'b',
  kPushGlobal = 'c',
  kAppends = 'e',
  kBinGet = 'h',
  kLongBinGet = 'j',
  kBinPut = 'q',
  kLongBinPut = 'r',
  kSetItem = 's',
  kTuple = 't',
  kSetItems = 'u',
  kEmptyDict = '}',
  kEmptyTuple = ')',
  kProtocol = 0x80,
  kNewObject = 0x81,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kNewTrue = 0x88,
  kNewFalse = 0x89,
  kLong1 = 0x8A,
  kShortBinUnicode = 0x8C,
  kBinUnicode8 = 0x8D,
  kStackGlobal = 0x93,
  kMemoize = 0x94,
  kFrame = 0x95,
};

struct Callable {
  std::string_view module;
  std::string_view name;

  friend bool operator==(const Callable&, const Callable&) = default;
};

constexpr Callable kOrderedDict{"collections", "OrderedDict"};
constexpr Callable kRebuildTensor{"torch._utils", "_rebuild_tensor_v2"};
constexpr Callable kRebuildParameter{"torch._utils", "_rebuild_parameter"};
constexpr Callable kSize{"torch", "Size"};
constexpr Callable kDevice{"torch", "device"};
constexpr std::array kCallables{kOrderedDict, kRebuildTensor, kRebuildParameter, kSize, kDevice};
/// Arguments of _rebuild_tensor_v2 at least: storage, offset, size, stride, requires_grad, hooks.
constexpr std::size_t kRebuildArguments = 6;

/// Types of elements and storages: names that are only passed about.
bool names_a_type(const Callable& callable) {
  if (callable.module == "torch" || callable.module == "torch.storage") {
    if (callable.name.ends_with("Storage") && callable.name != "UntypedStorage") return true;
  }
  static constexpr std::array<std::string_view, 15> kTypes{
      "float32", "float", "float64", "double", "float16", "half", "bfloat16", "uint8",
      "int8",    "int16", "int32",   "int64",  "bool",    "int",  "long"};
  return callable.module == "torch" && std::find(kTypes.begin(), kTypes.end(), callable.name) != kTypes.end();
}

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::kModelDamaged,
              fmt::format("the pickle {}; download or save the checkpoint again", what));
}

class Machine {
 public:
  explicit Machine(std::span<const std::uint8_t> bytes) : reader_(bytes) {}

  Pickle run() {
    for (;;) {
      const auto opcode = reader_.u8();
      if (!opcode) damaged(fmt::format("is cut: it has {} bytes and no end", reader_.size()));
      if (*opcode == kStop) break;
      if (!read_constant(*opcode) && !read_container(*opcode) && !read_memo(*opcode) && !read_call(*opcode)) {
        damaged(fmt::format("has the opcode 0x{:02X} at byte {}, which torch.save does not write", *opcode,
                            reader_.position() - 1));
      }
    }
    pickle_.root = pop();
    return std::move(pickle_);
  }

 private:
  // The stack.

  void push(PickleRef ref) {
    if (stack_.size() >= kMaxPickleValues)
      damaged(fmt::format("stacks more than {} values", kMaxPickleValues));
    stack_.push_back(ref);
  }

  PickleRef make(PickleValue value) {
    if (pickle_.values.size() >= kMaxPickleValues)
      damaged(fmt::format("makes more than {} values", kMaxPickleValues));
    pickle_.values.push_back(std::move(value));
    return static_cast<PickleRef>(pickle_.values.size() - 1);
  }

  bool push_new(PickleValue value) {
    push(make(std::move(value)));
    return true;
  }

  [[nodiscard]] std::size_t bottom() const { return marks_.empty() ? 0 : marks_.back(); }

  PickleRef pop() {
    if (stack_.size() <= bottom()) damaged("takes a value from an empty stack");
    const PickleRef ref = stack_.back();
    stack_.pop_back();
    return ref;
  }

  PickleValue& top() {
    if (stack_.size() <= bottom()) damaged("looks at an empty stack");
    return pickle_.values[stack_.back()];
  }

  std::vector<PickleRef> pop_last(std::size_t count) {
    if (stack_.size() - bottom() < count) damaged("takes a value from an empty stack");
    const auto first = stack_.end() - static_cast<std::ptrdiff_t>(count);
    std::vector<PickleRef> items(first, stack_.end());
    stack_.erase(first, stack_.end());
    return items;
  }

  std::vector<PickleRef> pop_to_mark() {
    if (marks_.empty()) damaged("looks for a mark that was not set");
    std::vector<PickleRef> items = pop_last(stack_.size() - marks_.back());
    marks_.pop_back();
    return items;
  }

  // The bytes.

  template <typename T>
  static T need(std::optional<T> value) {
    if (!value) damaged("is cut inside a value");
    return *value;
  }

  std::string_view text(std::uint64_t length) {
    const auto view = need(reader_.take(length));
    return {reinterpret_cast<const char*>(view.data()), view.size()};
  }

  std::string_view line() {
    const std::size_t begin = reader_.position();
    std::size_t length = 0;
    while (need(reader_.u8()) != '\n') ++length;
    if (!reader_.seek(begin)) damaged("is cut inside a name");
    const std::string_view name = text(length);
    (void)reader_.skip(1);
    return name;
  }

  bool push_text(std::string_view text) { return push_new({.kind = Kind::kText, .text = text}); }
  bool push_integer(std::int64_t value) { return push_new({.kind = Kind::kInteger, .integer = value}); }
  bool push_bool(bool value) { return push_new({.kind = Kind::kBool, .integer = value ? 1 : 0}); }

  bool push_other(std::uint64_t bytes_to_skip) {
    (void)text(bytes_to_skip);
    return push_new({.kind = Kind::kOther});
  }

  /// Two's complement, little-endian, of any length.
  bool push_long(std::size_t length) {
    if (length > sizeof(std::int64_t)) return push_other(length);
    const auto bytes = need(reader_.take(length));
    std::uint64_t value = length > 0 && (bytes.back() & 0x80U) != 0 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = length; i-- > 0;) value = (value << 8) | bytes[i];
    return push_integer(static_cast<std::int64_t>(value));
  }

  bool read_constant(std::uint8_t opcode) {
    switch (opcode) {
      case kPushNone:
        return push_new({.kind = Kind::kNone});
      case kNewTrue:
      case kNewFalse:
        return push_bool(opcode == kNewTrue);
      case kBinInt:
        return push_integer(static_cast<std::int32_t>(need(reader_.u32_le())));
      case kBinInt1:
        return push_integer(need(reader_.u8()));
      case kBinInt2:
        return push_integer(need(reader_.u16_le()));
      case kLong1:
        return push_long(need(reader_.u8()));
      case kBinFloat:
        (void)text(sizeof(double));
        return push_new({.kind = Kind::kFloat});
      case kBinUnicode:
        return push_text(text(need(reader_.u32_le())));
      case kShortBinUnicode:
      case kShortBinString:
        return push_text(text(need(reader_.u8())));
      case kBinUnicode8:
        return push_text(text(need(reader_.u64_le())));
      case kBinString:
      case kBinBytes:
        return push_other(need(reader_.u32_le()));
      case kShortBinBytes:
        return push_other(need(reader_.u8()));
      default:
        return false;
    }
  }

  // Tuples, lists, dicts.

  bool push_tuple(std::vector<PickleRef> items) {
    return push_new({.kind = Kind::kTuple, .items = std::move(items)});
  }

  bool extend(Kind container, const std::vector<PickleRef>& items) {
    PickleValue& target = top();
    if (!target.is(container)) damaged("adds to what is no list or dict");
    if (container == Kind::kDict && items.size() % 2 != 0) damaged("gives a dict a key without a value");
    target.items.insert(target.items.end(), items.begin(), items.end());
    return true;
  }

  bool read_container(std::uint8_t opcode) {
    switch (opcode) {
      case kMark:
        if (marks_.size() >= kMaxPickleValues) damaged("sets too many marks");
        marks_.push_back(stack_.size());
        return true;
      case kPop:
        (void)pop();
        return true;
      case kPopMark:
        (void)pop_to_mark();
        return true;
      case kDup:
        (void)top();
        push(stack_.back());
        return true;
      case kEmptyTuple:
        return push_tuple({});
      case kTuple:
        return push_tuple(pop_to_mark());
      case kTuple1:
      case kTuple2:
      case kTuple3:
        return push_tuple(pop_last(opcode - kTuple1 + 1U));
      case kEmptyList:
        return push_new({.kind = Kind::kList});
      case kEmptyDict:
        return push_new({.kind = Kind::kDict});
      case kAppend:
        return extend(Kind::kList, pop_last(1));
      case kAppends:
        return extend(Kind::kList, pop_to_mark());
      case kSetItem:
        return extend(Kind::kDict, pop_last(2));
      case kSetItems:
        return extend(Kind::kDict, pop_to_mark());
      default:
        return false;
    }
  }

  // The memo, and what only frames the pickle.

  bool put(std::uint32_t number) {
    if (memo_.size() >= kMaxPickleValues)
      damaged(fmt::format("remembers more than {} values", kMaxPickleValues));
    (void)top();
    memo_[number] = stack_.back();
    return true;
  }

  bool get(std::uint32_t number) {
    const auto it = memo_.find(number);
    if (it == memo_.end()) damaged(fmt::format("recalls value {}, which it has not remembered", number));
    push(it->second);
    return true;
  }

  bool read_memo(std::uint8_t opcode) {
    switch (opcode) {
      case kBinPut:
        return put(need(reader_.u8()));
      case kLongBinPut:
        return put(need(reader_.u32_le()));
      case kMemoize:
        return put(static_cast<std::uint32_t>(memo_.size()));
      case kBinGet:
        return get(need(reader_.u8()));
      case kLongBinGet:
        return get(need(reader_.u32_le()));
      case kProtocol:
        if (need(reader_.u8()) > 5) damaged("has a protocol later than 5");
        return true;
      case kFrame:
        (void)need(reader_.u64_le());
        return true;
      default:
        return false;
    }
  }

  // Calls: none is made.

  bool push_global(const Callable& callable) {
    const bool known = std::find(kCallables.begin(), kCallables.end(), callable) != kCallables.end();
    if (!known && !names_a_type(callable)) {
      throw Error(
          ErrorCode::kModelUnsupported,
          fmt::format("the pickle wants to call {}.{}; samlet runs no code from a checkpoint: save the plain "
                      "state dict with torch.save(model.state_dict(), ...)",
                      printable(callable.module.substr(0, 80)), printable(callable.name.substr(0, 80))));
    }
    return push_new({.kind = Kind::kGlobal, .text = callable.module, .name = callable.name});
  }

  bool push_stack_global() {
    const std::vector<PickleRef> items = pop_last(2);
    const PickleValue& module = pickle_.at(items[0]);
    const PickleValue& name = pickle_.at(items[1]);
    if (!module.is(Kind::kText) || !name.is(Kind::kText)) damaged("names a function by what is no text");
    return push_global({module.text, name.text});
  }

  bool call() {
    const std::vector<PickleRef> pair = pop_last(2);
    const PickleValue& function = pickle_.at(pair[0]);
    const PickleValue& arguments = pickle_.at(pair[1]);
    if (!function.is(Kind::kGlobal) || !arguments.is(Kind::kTuple)) damaged("calls what is no function");
    const Callable callable{function.text, function.name};
    if (callable == kOrderedDict && arguments.items.empty()) return push_new({.kind = Kind::kDict});
    if (callable == kDevice) return push_new({.kind = Kind::kOther});
    if (callable == kRebuildTensor && arguments.items.size() >= kRebuildArguments) {
      std::vector<PickleRef> items(arguments.items.begin(), arguments.items.begin() + kRebuildArguments);
      return push_new({.kind = Kind::kTensor, .items = std::move(items)});
    }
    if (callable == kRebuildParameter && !arguments.items.empty() &&
        pickle_.at(arguments.items[0]).is(Kind::kTensor)) {
      push(arguments.items[0]);
      return true;
    }
    if (callable == kSize && arguments.items.size() == 1) {
      push(arguments.items[0]);
      return true;
    }
    damaged(fmt::format("calls {}.{} with arguments that do not suit it", callable.module, callable.name));
  }

  /// The state that an OrderedDict or a parameter gets besides its items (_metadata) says nothing about
  /// weights.
  bool build() {
    (void)pop();
    if (!top().is(Kind::kDict) && !top().is(Kind::kTensor)) damaged("gives a state to what has none");
    return true;
  }

  /// ("storage", torch.FloatStorage, "12", "cpu", 4096)
  bool push_storage() {
    std::vector<PickleRef> items = pickle_.at(pop()).items;
    const auto kind_of = [&](std::size_t i) { return pickle_.at(items[i]).kind; };
    if (items.size() != 5 || kind_of(0) != Kind::kText || pickle_.at(items[0]).text != "storage" ||
        kind_of(1) != Kind::kGlobal || kind_of(2) != Kind::kText || kind_of(4) != Kind::kInteger) {
      damaged("has a storage that is not described as torch.save does");
    }
    return push_new({.kind = Kind::kStorage, .items = std::move(items)});
  }

  bool read_call(std::uint8_t opcode) {
    switch (opcode) {
      case kPushGlobal: {
        const std::string_view module = line();
        return push_global({module, line()});
      }
      case kStackGlobal:
        return push_stack_global();
      case kReduce:
      case kNewObject:
        return call();
      case kBuild:
        return build();
      case kBinPersistentId:
        return push_storage();
      default:
        return false;
    }
  }

  ByteReader reader_;
  Pickle pickle_;
  std::vector<PickleRef> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint32_t, PickleRef> memo_;
};

}  // namespace

Pickle run_pickle(std::span<const std::uint8_t> bytes) {
  if (bytes.size() > kMaxPickleBytes) {
    damaged(fmt::format("has {} bytes, more than the {} that are read", bytes.size(), kMaxPickleBytes));
  }
  return Machine(bytes).run();
}

}  // namespace samlet::checkpoint
