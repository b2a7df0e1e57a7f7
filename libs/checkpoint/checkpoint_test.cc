#include "libs/checkpoint/checkpoint.h"

#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libs/checkpoint/test_support.h"

namespace samlet::checkpoint {
namespace {

namespace fs = std::filesystem;

// ---- What torch and safetensors read.

struct Expected {
  std::string file;
  std::string name;
  std::string type;
  std::string shape;
  std::string values;
};

std::vector<Expected> expectations() {
  std::ifstream in(testdata() / "expected.txt");
  std::vector<Expected> all;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    Expected e;
    for (std::string* field : {&e.file, &e.name, &e.type, &e.shape, &e.values})
      std::getline(fields, *field, '\t');
    all.push_back(e);
  }
  return all;
}

std::string shape_text(const Shape& shape) {
  return fmt::format("{}", fmt::join(shape, ","));
}

std::string bits_of(const std::vector<float>& values) {
  std::string text;
  for (const float value : values) {
    text += fmt::format("{}{:08x}", text.empty() ? "" : " ", std::bit_cast<std::uint32_t>(value));
  }
  return text;
}

TEST(Checkpoint, ReadsWhatTorchAndSafetensorsRead) {
  const std::vector<Expected> all = expectations();
  ASSERT_GT(all.size(), 80U);
  for (std::size_t i = 0; i < all.size();) {
    const Checkpoint checkpoint(testdata() / all[i].file);
    for (const TensorInfo& tensor : checkpoint.tensors()) {
      SCOPED_TRACE(all[i].file + " " + tensor.name);
      ASSERT_EQ(tensor.name, all[i].name);
      EXPECT_EQ(tensor.type.name, all[i].type);
      EXPECT_EQ(shape_text(tensor.shape), all[i].shape);
      if (all[i].values == "-") {
        EXPECT_EQ(error_of([&] { (void)checkpoint.tensor(tensor.name); }).code(),
                  ErrorCode::kModelUnsupported);
      } else {
        EXPECT_EQ(bits_of(checkpoint.tensor(tensor.name).values()), all[i].values);
      }
      ++i;
    }
  }
}

TEST(Checkpoint, FindsByNameAndSaysWhatThereIs) {
  const Checkpoint checkpoint(testdata() / "types.pt");
  EXPECT_EQ(checkpoint.find("nothing"), nullptr);
  EXPECT_EQ(error_of([&] { (void)checkpoint.tensor("nothing"); }).code(), ErrorCode::kInternal);
  const TensorInfo* const rotary = checkpoint.find("rotary");
  ASSERT_NE(rotary, nullptr);
  EXPECT_EQ(rotary->type.dtype, std::nullopt);
  EXPECT_EQ(rotary->bytes(), 32U);
  EXPECT_EQ(checkpoint.find("ramp.f16")->bytes(), 12U);
  EXPECT_EQ(checkpoint.path(), testdata() / "types.pt");
  EXPECT_EQ(checkpoint.files(), std::vector{testdata() / "types.pt"});
}

TEST(Checkpoint, TensorsOutliveIt) {
  LazyTensor tensor;
  {
    const Checkpoint checkpoint(testdata() / "types.safetensors");
    tensor = checkpoint.tensor("ramp.f32");
  }
  EXPECT_EQ(tensor.values(), (std::vector<float>{-3, -2.25F, -1.5F, -0.75F, 0, 0.75F}));
}

TEST(Checkpoint, TakesTheContentNotTheName) {
  const TemporaryFolder folder;
  EXPECT_EQ(Checkpoint(folder.copy("types.safetensors", "a.pt")).tensors().size(), 17U);
  EXPECT_EQ(Checkpoint(folder.copy("types.pt", "b.bin")).tensors().size(), 18U);
}

/// Data that does not begin at a multiple of four cannot be handed out in place.
TEST(Checkpoint, ReadsFloatsThatAreNotAligned) {
  const TemporaryFolder folder;
  const std::string data = little_endian(0xC0600000, 4) + little_endian(0x3F800000, 4);
  for (const std::string_view padding : {"", " ", "  ", "   "}) {
    const std::string header =
        R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})" + std::string(padding);
    const fs::path file = folder.write("a.safetensors", safetensors_of(header, data));
    EXPECT_EQ(Checkpoint(file).tensor("a").values(), (std::vector<float>{-3.5F, 1})) << padding.size();
  }
}

/// A tensor of many pieces, from a file of 1.2 GB that takes no room: the memory of the process may not grow
/// with it.
TEST(Checkpoint, StreamsMoreThanFitsIntoMemory) {
  const TemporaryFolder folder;
  constexpr std::uint64_t kCount = 300'000'000;
  const std::string header = fmt::format(R"({{"a":{{"dtype":"F16","shape":[{0}],"data_offsets":[0,{1}]}},)"
                                         R"("b":{{"dtype":"F32","shape":[{2}],"data_offsets":[{1},{3}]}}}})",
                                         kCount, kCount * 2, kCount / 2, kCount * 4);
  const fs::path file = folder.write("large.safetensors", safetensors_of(header, "\x01"));
  fs::resize_file(file, 8 + header.size() + kCount * 4);
#if !SAMLET_SANITIZED  // whose own memory is beyond any limit
  const struct rlimit limit{.rlim_cur = 400'000'000, .rlim_max = RLIM_INFINITY};
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &limit), 0);
#endif
  const Checkpoint checkpoint(file);
  for (const auto& [name, count] : {std::pair("a", kCount), std::pair("b", kCount / 2)}) {
    std::uint64_t seen = 0;
    std::size_t largest = 0;
    float first = -1;
    checkpoint.tensor(name).stream([&](std::span<const float> piece) {
      first = seen == 0 ? piece[0] : first;
      seen += piece.size();
      largest = std::max(largest, piece.size_bytes());
    });
    EXPECT_EQ(first, name[0] == 'a' ? 0x1p-24F : 0.0F);
    EXPECT_EQ(seen, count);
    EXPECT_LE(largest, 1U << 20);
  }
#if !SAMLET_SANITIZED
  const struct rlimit none{.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
  ASSERT_EQ(::setrlimit(RLIMIT_DATA, &none), 0);
#endif
}

// ---- Folders.

TEST(Checkpoint, TakesTheOnlyCheckpointOfAFolder) {
  const TemporaryFolder folder;
  const Error none = error_of([&] { (void)Checkpoint(folder.path()); });
  EXPECT_EQ(none.code(), ErrorCode::kModelMissing);
  EXPECT_TRUE(contains(none.what(), "has no checkpoint"));

  folder.write("config.json", "{}");
  folder.write(".hidden.pt", "");
  folder.write("folder.pt/x", "");
  const fs::path file = folder.copy("views.pt", "sam3.pt");
  EXPECT_EQ(Checkpoint(folder.path()).path(), file);

  folder.copy("types.safetensors", "model.safetensors");
  const Error several = error_of([&] { (void)Checkpoint(folder.path()); });
  EXPECT_EQ(several.code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(several.what(), "2 checkpoints (model.safetensors, sam3.pt)"));
}

TEST(Checkpoint, MissingPathsAreNamed) {
  const TemporaryFolder folder;
  EXPECT_EQ(error_of([&] { (void)Checkpoint(folder.path() / "sam3.pt"); }).code(), ErrorCode::kNotFound);
  EXPECT_EQ(error_of([&] { (void)Checkpoint("/dev/null"); }).code(), ErrorCode::kIo);
}

// ---- Shards.

constexpr std::string_view kIndex = "model.safetensors.index.json";

TEST(Shards, OpenByFolderAndByIndex) {
  for (const fs::path& path : {testdata() / "shards", testdata() / "shards" / kIndex}) {
    const Checkpoint checkpoint(path);
    EXPECT_EQ(checkpoint.path(), testdata() / "shards" / kIndex);
    ASSERT_EQ(checkpoint.files().size(), 2U);
    EXPECT_EQ(checkpoint.files()[1].filename(), "model-00002-of-00002.safetensors");
    EXPECT_EQ(checkpoint.find("c.weight")->file, 1U);
  }
}

TEST(Shards, OneAloneIsRefused) {
  const Error error =
      error_of([] { (void)Checkpoint(testdata() / "shards" / "model-00001-of-00002.safetensors"); });
  EXPECT_EQ(error.code(), ErrorCode::kModelUnsupported);
  EXPECT_TRUE(contains(error.what(), "one shard of several"));
  const TemporaryFolder folder;
  const fs::path whole = folder.copy("types.safetensors", "model-00001-of-00001.safetensors");
  EXPECT_EQ(Checkpoint(folder.path()).path(), whole);
}

TEST(Shards, WithoutTheirIndexAreNamed) {
  const TemporaryFolder folder;
  folder.copy("shards", "shards");
  fs::remove(folder.path() / "shards" / kIndex);
  const Error error = error_of([&] { (void)Checkpoint(folder.path() / "shards"); });
  EXPECT_EQ(error.code(), ErrorCode::kModelMissing);
  EXPECT_TRUE(contains(error.what(), "index.json; download it too"));
}

TEST(Shards, AMissingOneIsNamed) {
  const TemporaryFolder folder;
  folder.copy("shards", "shards");
  fs::remove(folder.path() / "shards" / "model-00002-of-00002.safetensors");
  const Error error = error_of([&] { (void)Checkpoint(folder.path() / "shards"); });
  EXPECT_EQ(error.code(), ErrorCode::kModelMissing);
  EXPECT_TRUE(contains(error.what(), "needs 'model-00002-of-00002.safetensors' beside it"));
}

TEST(Shards, ContradictionsAreNamed) {
  struct Case {
    std::string weight_map;
    std::string words;
  };
  const std::string one = "model-00001-of-00002.safetensors";
  const std::string two = "model-00002-of-00002.safetensors";
  const std::vector<Case> cases{
      {fmt::format(R"({{"a.weight":"{0}","b.weight":"{0}","c.weight":"{1}","d":"{1}"}})", one, two),
       "the tensor 'd' is not in the shard"},
      {fmt::format(R"({{"b.weight":"{0}","c.weight":"{1}"}})", one, two),
       "does not name the tensor 'a.weight'"},
      {fmt::format(R"({{"a.weight":"{0}","b.weight":"{1}","c.weight":"{1}"}})", one, two),
       "the tensor 'b.weight' is in this shard, but the index says that it is in"},
      {R"({"a.weight":"../model.safetensors"})", "no plain name of a file"},
      {R"({"a.weight":"/etc/passwd"})", "no plain name of a file"},
      {R"({"a.weight":".."})", "no plain name of a file"},
      {R"({"a.weight":"a\u0000b"})", "no plain name of a file"},
      {R"({"a.weight":""})", "no plain name of a file"},
      {R"({"a.weight":1})", "no file name for the tensor 'a.weight'"},
      {R"({})", "has no weight_map"},
      {R"([])", "has no weight_map"},
      {R"({"a":"b","a":"c"})", "has the key 'a' twice"},
      {R"({"a":)", "is no JSON from byte"},
  };
  const TemporaryFolder folder;
  folder.copy("shards", "shards");
  for (const Case& c : cases) {
    SCOPED_TRACE(c.weight_map);
    const fs::path index =
        folder.write(fs::path("shards") / kIndex, R"({"weight_map":)" + c.weight_map + "}");
    const Error error = error_of([&] { (void)Checkpoint(index); });
    EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
    EXPECT_TRUE(contains(error.what(), c.words));
  }
}

/// A tensor in two shards: the second is where the index does not say.
TEST(Shards, ATensorInTwoIsNamed) {
  const TemporaryFolder folder;
  folder.copy("shards", "shards");
  folder.write("shards/model-00002-of-00002.safetensors",
               safetensors_of({{"c.weight", {2}}, {"a.weight", {3}}}));
  const Error error = error_of([&] { (void)Checkpoint(folder.path() / "shards"); });
  EXPECT_TRUE(contains(error.what(),
                       "the tensor 'a.weight' is in this shard, but the index says that it is in "
                       "'model-00001-of-00002.safetensors'"));
}

TEST(Shards, MustBeSafetensors) {
  const TemporaryFolder folder;
  folder.copy("shards", "shards");
  fs::copy_file(testdata() / "types.pt", folder.path() / "shards" / "model-00002-of-00002.safetensors",
                fs::copy_options::overwrite_existing);
  const Error error = error_of([&] { (void)Checkpoint(folder.path() / "shards"); });
  EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
  EXPECT_TRUE(contains(error.what(), "no safetensors file"));
}

// ---- What people have instead.

TEST(Sniff, SaysWhatAFileIsInstead) {
  struct Case {
    std::string bytes;
    std::string words;
    ErrorCode code = ErrorCode::kModelDamaged;
  };
  const std::string legacy{"\x80\x02\x8A\x0A\x6C\xFC\x9C\x46\xF9\x20\x6A\xA8\x50\x19.", 15};
  const std::vector<Case> cases{
      {"", "is empty (0 bytes)"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 3450062241\n",
       "a Git LFS pointer, not the checkpoint (3450062241 bytes)"},
      {"version https://git-lfs.github.com/spec/v1\nsize x\n", "a Git LFS pointer, not the checkpoint that"},
      {"\n <!DOCTYPE html><html>", "is a web page"},
      {"<HTML><head>", "is a web page"},
      {"<?xml version='1.0'?><Error>", "is a web page"},
      {legacy, "before version 1.6", ErrorCode::kModelUnsupported},
      {"GGUF\x03", "a GGUF file", ErrorCode::kModelUnsupported},
      {"\x89HDF\r\n", "an HDF5 file", ErrorCode::kModelUnsupported},
      {"\x1F\x8B\x08", "is compressed", ErrorCode::kModelUnsupported},
      {std::string(5000, '\0'), "nothing but zeros"},
      {"Entry not found", "has 15 bytes and begins with 'Entry not found'"},
      {"\x1B[2J", "begins with '\\x1b[2J'"},
      {R"({"error":"Invalid credentials"})", "no index of a checkpoint's shards"},
      {"PK\x03\x04", "is cut: a zip archive ends with its directory, and there is none in its 4 bytes"},
  };
  const TemporaryFolder folder;
  for (const Case& c : cases) {
    SCOPED_TRACE(c.words);
    const fs::path file = folder.write("sam3.pt", c.bytes);
    const Error error = error_of([&] { (void)Checkpoint(file); });
    EXPECT_EQ(error.code(), c.code);
    EXPECT_TRUE(contains(error.what(), c.words));
    EXPECT_TRUE(contains(error.what(), "sam3.pt'"));
  }
}

}  // namespace
}  // namespace samlet::checkpoint
