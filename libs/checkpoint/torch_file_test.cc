#include "libs/checkpoint/torch_file.h"

#include <memory>

#include <fmt/format.h>

#include "libs/checkpoint/pickle_machine.h"
#include "libs/checkpoint/test_support.h"

namespace samlet::checkpoint {
namespace {

std::vector<TensorInfo> read(std::string_view bytes) {
  return read_torch_file({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

Error refusal(const std::string& bytes) {
  return error_of([&] { (void)read(bytes); });
}

/// Six floats: 0 to 5.
std::string storage() {
  std::string bytes;
  for (const float value : {0.0F, 1.0F, 2.0F, 3.0F, 4.0F, 5.0F}) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return bytes;
}

Archive archive_of(const pickled::Tensor& tensor) {
  return torch_archive(pickled::whole(pickled::dict({{"a", pickled::tensor(tensor)}})), storage());
}

std::vector<float> values_of(const pickled::Tensor& tensor) {
  const std::string bytes = zip_of(archive_of(tensor));
  return floats_of(read(bytes).at(0), nullptr).values();
}

// ---- Views.

TEST(TorchFile, ReadsViews) {
  EXPECT_EQ(values_of({}), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of({.offset = 2, .shape = {2, 2}, .strides = {2, 1}}), (std::vector<float>{2, 3, 4, 5}));
  EXPECT_EQ(values_of({.shape = {3, 2}, .strides = {1, 3}}), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(values_of({.offset = 1, .shape = {2, 2}, .strides = {3, 1}}), (std::vector<float>{1, 2, 4, 5}));
  EXPECT_EQ(values_of({.shape = {1, 6}, .strides = {99, 1}}), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(values_of({.shape = {2, 2}, .strides = {1, 1}}), (std::vector<float>{0, 1, 1, 2}));
  EXPECT_EQ(values_of({.offset = 5, .shape = {}, .strides = {}}), (std::vector<float>{5}));
  EXPECT_EQ(values_of({.shape = {0, 7}, .strides = {7, 1}}), std::vector<float>{});
}

TEST(TorchFile, RefusesViewsBeyondTheirStorage) {
  const std::vector<pickled::Tensor> beyond{
      {.offset = 1},
      {.offset = 7, .shape = {}, .strides = {}},
      {.shape = {2, 3}, .strides = {4, 1}},
      {.shape = {2, 2}, .strides = {std::int64_t{1} << 62, std::int64_t{1} << 62}},
      {.shape = {std::int64_t{1} << 40}, .strides = {1}},
  };
  for (const pickled::Tensor& tensor : beyond) {
    const Error error = refusal(zip_of(archive_of(tensor)));
    EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
    EXPECT_TRUE(contains(error.what(), "reaches beyond its storage of 6 elements"))
        << to_string(tensor.shape);
  }
}

TEST(TorchFile, RefusesBroadcastViews) {
  EXPECT_TRUE(
      contains(refusal(content_of(testdata() / "expanded.pt")).what(), "repeats elements of its storage"));
  const Error error = refusal(zip_of(archive_of({.shape = {std::int64_t{1} << 40}, .strides = {0}})));
  EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(error.what(), "repeats elements of its storage"));
}

TEST(TorchFile, RefusesTensorsThatCannotBe) {
  struct Case {
    pickled::Tensor tensor;
    std::string words;
    ErrorCode code = ErrorCode::kModelDamaged;
  };
  const std::vector<Case> cases{
      {{.shape = {2, -3}}, "has a shape that is none"},
      {{.strides = {3, -1}}, "has a stride that is none"},
      {{.offset = -1}, "has a storage offset that is none"},
      {{.storage_count = -1}, "has a storage size that is none"},
      {{.strides = {1}}, "has 2 dimensions and 1 strides"},
      {{.shape = Shape(17, 1), .strides = Shape(17, 1)}, "has 17 dimensions"},
      {{.shape = Shape(3, std::int64_t{1} << 40), .strides = Shape(3, 0)}, "has the shape"},
      {{.storage_count = 7}, "has 24 bytes, which is not what 7 elements of f32 take"},
      {{.storage_key = "1"}, "the storage '1' of the tensor 'a' is missing"},
      {{.storage_key = "../byteorder"}, "the storage '../byteorder' of the tensor 'a' is missing"},
      {{.storage_type = "OddStorage"}, "lies in a OddStorage", ErrorCode::kModelUnsupported},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.words);
    const Error error = refusal(zip_of(archive_of(c.tensor)));
    EXPECT_EQ(error.code(), c.code);
    EXPECT_TRUE(contains(error.what(), c.words));
  }
}

// ---- Archives.

TEST(TorchFile, ReadsZip64AndComments) {
  Archive archive = archive_of({});
  archive.zip64 = true;
  archive.comment = "PK\x05\x06 is not the end";
  for (Member& member : archive.members) member.zip64 = true;
  const std::string bytes = zip_of(archive);
  EXPECT_EQ(floats_of(read(bytes).at(0), nullptr).values(), (std::vector<float>{0, 1, 2, 3, 4, 5}));
}

TEST(TorchFile, RefusesArchivesOfOtherKinds) {
  Archive script = archive_of({});
  script.members.push_back({.name = "archive/constants.pkl", .content = "N."});
  EXPECT_TRUE(contains(refusal(zip_of(script)).what(), "a TorchScript archive"));

  Archive code = archive_of({});
  code.members.push_back({.name = "archive/code/__torch__.py", .content = ""});
  EXPECT_TRUE(contains(refusal(zip_of(code)).what(), "a TorchScript archive"));

  Archive big = archive_of({});
  big.members[1].content = "big";
  EXPECT_EQ(refusal(zip_of(big)).code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(refusal(zip_of(big)).what(), "big-endian"));

  Archive odd = archive_of({});
  odd.members[1].content = "middle";
  EXPECT_TRUE(contains(refusal(zip_of(odd)).what(), "neither little nor big"));

  const Archive other{.members = {{.name = "word/document.xml", .content = "x"}}};
  EXPECT_TRUE(contains(refusal(zip_of(other)).what(), "holds no data.pkl"));
  EXPECT_TRUE(contains(refusal(zip_of({})).what(), "holds no data.pkl"));
}

TEST(TorchFile, NeedsNoByteOrder) {
  Archive archive = archive_of({});
  archive.members.erase(archive.members.begin() + 1);
  const std::string bytes = zip_of(archive);
  EXPECT_EQ(read(bytes).size(), 1U);
}

TEST(TorchFile, RefusesMembersThatLie) {
  struct Case {
    Member storage;
    std::string words;
    ErrorCode code = ErrorCode::kModelDamaged;
  };
  const std::string name = "archive/data/0";
  const std::vector<Case> cases{
      {{.name = name, .content = storage(), .method = 8}, "is compressed", ErrorCode::kModelUnsupported},
      {{.name = name, .content = storage(), .flags = 1}, "is encrypted", ErrorCode::kModelUnsupported},
      {{.name = name, .content = storage(), .local_name = "archive/data/1"},
       "has another name in its own header"},
      {{.name = name, .content = storage(), .size = 1U << 30}, "more than the file has"},
      {{.name = name, .content = storage(), .size = ~std::uint64_t{0}, .zip64 = true},
       "more than the file has"},
      {{.name = name, .content = storage(), .offset = 1}, "is not where its directory says"},
      {{.name = name, .content = storage(), .offset = ~std::uint64_t{0}, .zip64 = true},
       "is not where its directory says"},
      {{.name = "archive/byteorder", .content = "little"}, "has two members 'archive/byteorder'"},
      // Reaches into the member behind it.
      {{.name = name, .content = storage(), .size = 100}, "overlap"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.words);
    Archive archive = archive_of({});
    archive.members[2] = c.storage;
    archive.members[3].content = std::string(200, '3');
    const Error error = refusal(zip_of(archive));
    EXPECT_EQ(error.code(), c.code);
    EXPECT_TRUE(contains(error.what(), c.words));
  }
}

TEST(TorchFile, EveryTruncationIsRefused) {
  const std::string whole = content_of(testdata() / "views.pt");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const Error error = refusal(whole.substr(0, size));
    ASSERT_EQ(error.code(), ErrorCode::kModelDamaged) << size;
    ASSERT_TRUE(contains(error.what(), "in its " + std::to_string(size) + " bytes")) << size;
  }
}

/// Whatever a single byte becomes: an error, or tensors that lie in the file.
TEST(TorchFile, ChangedBytesNeverReachBeyondTheFile) {
  const std::string whole = content_of(testdata() / "views.pt");
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const int value : {0x00, 0xFF, 0x7F, whole[at] ^ 1}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(value);
      try {
        for (const TensorInfo& tensor : read(changed)) {
          if (!tensor.type.dtype || tensor.type.name != "f32") continue;
          ASSERT_EQ(floats_of(tensor, nullptr).values().size(), tensor.count());
        }
      } catch (const Error& error) {
        ASSERT_TRUE(error.code() == ErrorCode::kModelDamaged || error.code() == ErrorCode::kModelUnsupported)
            << error.what();
      }
    }
  }
}

// ---- Pickles.

Error refusal_of_pickle(const std::string& pickle) {
  return refusal(zip_of(torch_archive(pickle, storage())));
}

TEST(Pickle, CallsNothing) {
  EXPECT_TRUE(
      contains(refusal(content_of(testdata() / "evil.pt")).what(), "the pickle wants to call posix.system;"));
  for (const auto& [module, name] :
       std::vector<std::pair<std::string, std::string>>{{"os", "system"},
                                                        {"builtins", "eval"},
                                                        {"torch", "load"},
                                                        {"torch", "UntypedStorage"},
                                                        {"torch._utils", "_rebuild_tensor"},
                                                        {"collections", "OrderedDictX"}}) {
    const Error error = refusal_of_pickle(pickled::whole(pickled::global(module, name) + ")R"));
    EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported);
    EXPECT_TRUE(contains(error.what(), fmt::format("wants to call {}.{};", module, name)));
  }
  const std::string by_stack = "\x8C\x02os\x8C\x06system\x93.";
  EXPECT_TRUE(contains(refusal_of_pickle(by_stack).what(), "wants to call os.system;"));
}

TEST(Pickle, SaysWhereTensorsWereLookedFor) {
  EXPECT_TRUE(contains(refusal(content_of(testdata() / "list.pt")).what(), "holds no dict of tensors"));
  EXPECT_TRUE(
      contains(refusal(content_of(testdata() / "elsewhere.pt")).what(), "(it has 'state_dict', 'epoch')"));
  std::vector<std::pair<std::string, std::string>> many;
  for (int i = 0; i < 7; ++i) many.emplace_back(fmt::format("k{}", i), "N");
  const Error error = refusal_of_pickle(pickled::whole(pickled::dict(many)));
  EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(error.what(), "'k4' and 2 more"));
  EXPECT_TRUE(contains(refusal_of_pickle(pickled::whole(pickled::dict({}))).what(), "(it has nothing)"));
}

TEST(Pickle, RefusesANameTwice) {
  const std::string tensor = pickled::tensor({});
  EXPECT_TRUE(
      contains(refusal_of_pickle(pickled::whole(pickled::dict({{"a", tensor}, {"a", tensor}}))).what(),
               "the tensor 'a' is there twice"));
}

TEST(Pickle, RefusesWhatIsNone) {
  struct Case {
    std::string pickle;
    std::string words;
  };
  const std::string call = pickled::global("torch._utils", "_rebuild_tensor_v2");
  const std::vector<Case> cases{
      {"", "is cut: it has 0 bytes and no end"},
      {"\x80\x02}", "is cut: it has 3 bytes and no end"},
      {".", "takes a value from an empty stack"},
      {"(.", "takes a value from an empty stack"},
      {"N(0.", "takes a value from an empty stack"},
      {"u.", "looks for a mark that was not set"},
      {"N(u.", "adds to what is no list or dict"},
      {"(u.", "looks at an empty stack"},
      {"}(Nu.", "a key without a value"},
      {"\x86.", "takes a value from an empty stack"},
      {"2.", "looks at an empty stack"},
      {"h\x05.", "recalls value 5"},
      {"q\x05.", "looks at an empty stack"},
      {"X\xFF\xFF\xFF\xFFhi", "is cut inside a value"},
      {"\x8D\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFFhi", "is cut inside a value"},
      {"ctorch", "is cut inside a value"},
      {"\x80\x06.", "has a protocol later than 5"},
      {"i.", "has the opcode 0x69 at byte 0"},
      {"NNR.", "calls what is no function"},
      {call + ")R.", "with arguments that do not suit it"},
      {"NN\x93.", "names a function by what is no text"},
      {"NNb.", "gives a state to what has none"},
      {"NQ.", "has a storage that is not described as torch.save does"},
      {")Q.", "has a storage that is not described as torch.save does"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.words);
    const Error error = refusal_of_pickle(c.pickle);
    EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
    EXPECT_TRUE(contains(error.what(), c.words));
  }
}

TEST(Pickle, RefusesTensorsWithoutAStorage) {
  const std::string tensor = pickled::global("torch._utils", "_rebuild_tensor_v2") + "(NNNNNNtR";
  EXPECT_TRUE(
      contains(refusal_of_pickle(pickled::whole(pickled::dict({{"a", tensor}}))).what(), "has no storage"));
}

TEST(Pickle, HasLimits) {
  EXPECT_TRUE(contains(refusal_of_pickle(std::string(kMaxPickleValues + 1, 'N')).what(),
                       "makes more than 1000000 values"));
  EXPECT_TRUE(contains(refusal_of_pickle(std::string("N") + std::string(kMaxPickleValues + 1, '2')).what(),
                       "stacks more than"));
  EXPECT_TRUE(contains(refusal_of_pickle(std::string(kMaxPickleValues + 1, '(')).what(), "too many marks"));
  std::string memo = "N";
  for (std::uint32_t i = 0; i <= kMaxPickleValues; ++i) memo.append("r").append(little_endian(i, 4));
  EXPECT_TRUE(contains(refusal_of_pickle(memo).what(), "remembers more than"));
  EXPECT_TRUE(contains(refusal_of_pickle(std::string(kMaxPickleBytes + 1, 'N')).what(),
                       "more than the 67108864 that are read"));
}

/// Lists that hold themselves, and nesting that would break a recursive reader.
TEST(Pickle, ReadsCirclesAndDepth) {
  std::string pickle = "}(";
  pickle += pickled::text("l") + "]q\x01h\x01" + "a";
  pickle += pickled::text("d") + std::string(100'000, ']') + std::string(99'999, 'a');
  pickle += pickled::text("t") + pickled::tensor({}) + "u.";
  const std::string bytes = zip_of(torch_archive(pickle, storage()));
  EXPECT_EQ(read(bytes).at(0).name, "t");
}

TEST(Pickle, IntegersOfAnySize) {
  const auto integer = [](std::string_view opcode) {
    const std::string bytes = std::string(opcode) + ".";
    const Pickle pickle = run_pickle({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
    return pickle.at(pickle.root).integer;
  };
  EXPECT_EQ(integer("K\xFF"), 255);
  EXPECT_EQ(integer("M\xFF\xFF"), 65535);
  EXPECT_EQ(integer("J\xFE\xFF\xFF\xFF"), -2);
  EXPECT_EQ(integer(std::string_view("\x8A\x00", 2)), 0);
  EXPECT_EQ(integer("\x8A\x01\xFF"), -1);
  EXPECT_EQ(integer(std::string_view("\x8A\x02\xFF\x00", 4)), 255);
  EXPECT_EQ(integer("\x8A\x08\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"), INT64_MAX);
}

}  // namespace
}  // namespace samlet::checkpoint
