#include "libs/checkpoint/test_support.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace samlet::checkpoint {
namespace fs = std::filesystem;

const fs::path& testdata() {
  static const fs::path kPath = fs::path(SAMLET_SOURCE_DIR) / "libs" / "checkpoint" / "testdata";
  return kPath;
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (fs::temp_directory_path() / "samlet-checkpoint-XXXXXX").native();
  if (::mkdtemp(pattern.data()) == nullptr) throw Error(ErrorCode::kIo, "cannot make " + pattern);
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path TemporaryFolder::write(const fs::path& name, std::string_view content) const {
  fs::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name, std::ios::binary) << content;
  return path_ / name;
}

fs::path TemporaryFolder::copy(const fs::path& from, const fs::path& name) const {
  fs::copy(testdata() / from, path_ / name, fs::copy_options::recursive);
  return path_ / name;
}

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

testing::AssertionResult contains(std::string_view text, std::string_view part) {
  if (text.find(part) != std::string_view::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "'" << part << "' is not in '" << text << "'";
}

std::string little_endian(std::uint64_t value, std::size_t bytes) {
  std::string result;
  for (std::size_t i = 0; i < bytes; ++i) result += static_cast<char>((value >> (8 * i)) & 0xFF);
  return result;
}

std::string safetensors_of(std::string_view header, std::string_view data) {
  return little_endian(header.size(), 8) + std::string(header) + std::string(data);
}

namespace {

std::size_t size_of_type(std::string_view type) {
  if (type == "F32") return 4;
  return type.ends_with("F16") ? 2 : 8;
}

}  // namespace

std::string safetensors_of(const std::vector<Listed>& tensors) {
  std::string header;
  std::string data;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Listed& tensor = tensors[i];
    const std::size_t begin = data.size();
    const std::size_t size = size_of_type(tensor.type);
    const auto number = static_cast<float>(i);
    const std::string element =
        size == 4 ? std::string(reinterpret_cast<const char*>(&number), 4) : std::string(size, '\0');
    for (std::size_t n = 0; n < element_count(tensor.shape).value_or(0); ++n) data += element;
    header +=
        fmt::format(R"({}"{}":{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", i == 0 ? "{" : ",",
                    tensor.name, tensor.type, fmt::join(tensor.shape, ","), begin, data.size());
  }
  return safetensors_of(header + "}", data);
}

namespace {

std::string zip64_extra(const Member& member, std::uint64_t size, std::uint64_t offset) {
  if (!member.zip64) return "";
  return little_endian(1, 2) + little_endian(24, 2) + little_endian(size, 8) + little_endian(size, 8) +
         little_endian(offset, 8);
}

std::string directory_entry(const Member& member, std::size_t true_offset) {
  const std::uint64_t size = member.size.value_or(member.content.size());
  const std::uint64_t offset = member.offset.value_or(true_offset);
  const std::string extra = zip64_extra(member, size, offset);
  const auto number = [&](std::uint64_t value) {
    return little_endian(member.zip64 ? 0xFFFFFFFF : value, 4);
  };
  return std::string("PK\x01\x02") + std::string(4, '\0') + little_endian(member.flags, 2) +
         little_endian(member.method, 2) + std::string(8, '\0') + number(size) + number(size) +
         little_endian(member.name.size(), 2) + little_endian(extra.size(), 2) + std::string(10, '\0') +
         number(offset) + member.name + extra;
}

std::string local_entry(const Member& member) {
  const std::string name = member.local_name.value_or(member.name);
  return std::string("PK\x03\x04") + std::string(22, '\0') + little_endian(name.size(), 2) +
         little_endian(5, 2) + name + "extra" + member.content;
}

}  // namespace

std::string zip_of(const Archive& archive) {
  std::string bytes;
  std::string directory;
  for (const Member& member : archive.members) {
    directory += directory_entry(member, bytes.size());
    bytes += local_entry(member);
  }
  const std::size_t offset = bytes.size();
  bytes += directory;
  const std::size_t count = archive.members.size();
  if (archive.zip64) {
    const std::size_t record = bytes.size();
    bytes += std::string("PK\x06\x06") + little_endian(44, 8) + std::string(12, '\0') +
             little_endian(count, 8) + little_endian(count, 8) + little_endian(directory.size(), 8) +
             little_endian(offset, 8);
    bytes += std::string("PK\x06\x07") + little_endian(0, 4) + little_endian(record, 8) + little_endian(1, 4);
  }
  const std::uint64_t places = archive.zip64 ? 0xFFFF : count;
  return bytes + "PK\x05\x06" + std::string(4, '\0') + little_endian(places, 2) + little_endian(places, 2) +
         little_endian(archive.zip64 ? 0xFFFFFFFF : directory.size(), 4) +
         little_endian(archive.zip64 ? 0xFFFFFFFF : offset, 4) + little_endian(archive.comment.size(), 2) +
         archive.comment;
}

namespace pickled {

std::string text(std::string_view value) {
  return std::string("X") + little_endian(value.size(), 4) + std::string(value);
}

std::string integer(std::int32_t value) {
  return std::string("J") + little_endian(static_cast<std::uint32_t>(value), 4);
}

std::string global(std::string_view module, std::string_view name) {
  return fmt::format("c{}\n{}\n", module, name);
}

std::string tuple(const std::vector<std::string>& items) {
  return fmt::format("({}t", fmt::join(items, ""));
}

std::string numbers(const Shape& values) {
  std::vector<std::string> items;
  for (const std::int64_t value : values)
    items.push_back(std::string("\x8A\x08") + little_endian(static_cast<std::uint64_t>(value), 8));
  return tuple(items);
}

std::string dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string pickle = "}(";
  for (const auto& [key, value] : items) pickle += text(key) + value;
  return pickle + "u";
}

std::string whole(const std::string& value) {
  return std::string("\x80\x02") + value + ".";
}

std::string tensor(const Tensor& tensor) {
  const std::string storage = tuple({text("storage"), global("torch", tensor.storage_type),
                                     text(tensor.storage_key), text("cpu"), integer(tensor.storage_count)}) +
                              "Q";
  const std::string hooks = global("collections", "OrderedDict") + ")R";
  return global("torch._utils", "_rebuild_tensor_v2") +
         tuple({storage, integer(tensor.offset), numbers(tensor.shape), numbers(tensor.strides), "\x89",
                hooks}) +
         "R";
}

}  // namespace pickled

Archive torch_archive(const std::string& pickle, std::string_view storage) {
  return {.members = {{.name = "archive/data.pkl", .content = pickle},
                      {.name = "archive/byteorder", .content = "little"},
                      {.name = "archive/data/0", .content = std::string(storage)},
                      {.name = "archive/version", .content = "3\n"}}};
}

}  // namespace samlet::checkpoint
