#include "libs/ort/model_file.h"

#include <protozero/pbf_writer.hpp>

#include "libs/base/file.h"
#include "libs/ort/test_support.h"

namespace samlet::ort {
namespace {

namespace fs = std::filesystem;
using protozero::pbf_writer;

ModelFile parse(std::string_view bytes) {
  return parse_model_file({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

std::string text_of(const fs::path& path) {
  const auto bytes = read_file(path, 1U << 20);
  return {bytes.begin(), bytes.end()};
}

/// IR version 9 and a graph.
std::string model_with_graph(std::string_view graph) {
  std::string bytes;
  pbf_writer model(bytes);
  model.add_int64(1, 9);
  model.add_message(7, graph.data(), graph.size());
  return bytes;
}

TEST(ModelFileTest, ReadsWhatTheFileDeclares) {
  const ModelFile file = read_model_file(testdata() / "add.onnx");
  EXPECT_EQ(file.ir_version, 9);
  EXPECT_EQ(file.opset, 20);
  EXPECT_EQ(file.producer, "samlet-testdata");
  ASSERT_EQ(file.inputs.size(), 2U);
  EXPECT_EQ(file.inputs[0].name, "x");
  EXPECT_EQ(file.inputs[0].dtype, DType::kFloat32);
  EXPECT_EQ(file.inputs[0].shape, (Shape{2, 3}));
  ASSERT_EQ(file.outputs.size(), 1U);
  EXPECT_EQ(file.outputs[0].name, "z");
  EXPECT_EQ(file.metadata,
            (std::map<std::string, std::string>{{"samlet.family", "sam3"}, {"note", "é 图片"}}));
  EXPECT_TRUE(file.external.empty());
}

TEST(ModelFileTest, FreeDimensionsTypesAndInitializers) {
  const ModelFile dynamic = read_model_file(testdata() / "dynamic.onnx");
  ASSERT_EQ(dynamic.inputs.size(), 1U);  // "two" is listed, but has a value
  EXPECT_EQ(dynamic.inputs[0].shape, (Shape{-1, 4}));
  const ModelFile types = read_model_file(testdata() / "types.onnx");
  EXPECT_EQ(types.inputs[0].dtype, DType::kBool);
  EXPECT_EQ(types.inputs[1].dtype, DType::kInt64);
  EXPECT_EQ(types.inputs[2].dtype, DType::kUInt8);
  EXPECT_EQ(read_model_file(testdata() / "string.onnx").inputs[0].dtype, std::nullopt);
  EXPECT_EQ(read_model_file(testdata() / "loop.onnx").inputs.size(),
            2U);  // those of the body are not the model's
}

TEST(ModelFileTest, ExternalDataOneRowAFile) {
  const ModelFile file = parse(text_of(testdata() / "external_far.onnx"));
  ASSERT_EQ(file.external.size(), 2U);
  EXPECT_EQ(file.external[0].location, "a.data");
  EXPECT_EQ(file.external[0].end, 256U);
  EXPECT_EQ(file.external[1].location, "far.data");
  EXPECT_EQ(file.external[1].end, 5 * (std::uint64_t{1} << 30) + 256);
  // No length: the shape and the type tell. Hidden in a subgraph: found all the same.
  EXPECT_EQ(parse(text_of(testdata() / "external_bare.onnx")).external.at(0).end, 256U);
  EXPECT_EQ(parse(text_of(testdata() / "external_hidden.onnx")).external.at(0).location, "../hidden.data");
}

TEST(ModelFileTest, ImpossibleExternalDataIsRefused) {
  const auto message = [](const char* name) {
    const Error error = error_of([&] { (void)parse(text_of(testdata() / name)); });
    EXPECT_EQ(error.code(), ErrorCode::kModelDamaged) << name;
    return std::string(error.what());
  };
  EXPECT_TRUE(contains(message("external_unnamed.onnx"), "'w' has external data without a file name"));
  EXPECT_TRUE(contains(message("external_not_a_number.onnx"), "the length '12x', which is no number"));
  EXPECT_TRUE(contains(message("external_overflow.onnx"), "ends beyond any file"));
  EXPECT_TRUE(contains(message("external_wrong_length.onnx"), "has 100 bytes, its shape [64] needs 256"));
  EXPECT_TRUE(contains(message("external_negative.onnx"), "the impossible shape [-64]"));
}

TEST(ModelFileTest, EveryCutIsRefusedOrShorter) {
  const std::string whole = text_of(testdata() / "loop.onnx");
  int parsed = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      (void)parse(std::string_view(whole).substr(0, size));
      ++parsed;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kModelDamaged) << size;
    }
  }
  // Only a cut between two fields behind the graph leaves a whole message: here, before the operator set.
  EXPECT_LE(parsed, 1);
}

TEST(ModelFileTest, OtherBytesAreNotAModel) {
  for (const std::string& bytes :
       {std::string(), std::string("this is not a model"), std::string(1000, '\0'), std::string(1000, '\xff'),
        std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16), std::string("\x08\x09", 2)}) {
    EXPECT_EQ(error_of([&] { (void)parse(bytes); }).code(), ErrorCode::kModelDamaged) << bytes.substr(0, 8);
  }
}

TEST(ModelFileTest, LengthsBeyondTheEndAreRefused) {
  // Field 7 (graph), then lengths far past the end: 2^31, 2^32 + 1, 2^63.
  for (const char* length :
       {"\x80\x80\x80\x80\x08", "\x81\x80\x80\x80\x10", "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01",
        "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"}) {
    const std::string bytes = std::string("\x08\x09\x3a") + length;
    EXPECT_EQ(error_of([&] { (void)parse(bytes); }).code(), ErrorCode::kModelDamaged);
  }
}

TEST(ModelFileTest, NestingHasALimit) {
  const auto nested = [](int depth) {
    std::string graph;
    for (int i = 0; i < depth; ++i) {
      for (const protozero::pbf_tag_type tag : {6U, 5U, 1U}) {  // subgraph of attribute of node of graph
        std::string outer;
        pbf_writer(outer).add_message(tag, graph);
        graph = std::move(outer);
      }
    }
    return model_with_graph(graph);
  };
  EXPECT_NO_THROW((void)parse(nested(32)));
  EXPECT_TRUE(contains(error_of([&] { (void)parse(nested(33)); }).what(), "nested deeper than 32"));
  EXPECT_EQ(error_of([&] { (void)parse(nested(2000)); }).code(), ErrorCode::kModelDamaged);
}

TEST(ModelFileTest, ManyDimensionsAreNotStored) {
  std::string shape;
  for (int i = 0; i < 65; ++i) pbf_writer(shape).add_message(1, std::string("\x08\x02"));
  std::string tensor_type;
  pbf_writer(tensor_type).add_message(2, shape);
  std::string type;
  pbf_writer(type).add_message(1, tensor_type);
  std::string info;
  pbf_writer(info).add_message(2, type);
  std::string graph;
  pbf_writer(graph).add_message(11, info);
  EXPECT_TRUE(
      contains(error_of([&] { (void)parse(model_with_graph(graph)); }).what(), "more than 64 dimensions"));
}

TEST(ModelFileTest, RepeatedFieldsMergeAsProtobufSays) {
  const std::string once = text_of(testdata() / "add.onnx");
  const ModelFile twice = parse(once + once);
  EXPECT_EQ(twice.ir_version, 9);
  EXPECT_EQ(twice.inputs.size(), 4U);  // lists of merged messages grow
  EXPECT_EQ(twice.metadata.size(), 2U);
  std::string later = once;
  pbf_writer model(later);
  model.add_int64(1, 10);
  model.add_string(2, "other");
  EXPECT_EQ(parse(later).ir_version, 10);
  EXPECT_EQ(parse(later).producer, "other");
}

TEST(ModelFileTest, FieldsOfAnotherWireTypeAreSkipped) {
  std::string graph;
  pbf_writer writer(graph);
  writer.add_int64(5, 1);        // initializer as a number
  writer.add_fixed64(11, 1);     // input as 8 bytes
  writer.add_fixed32(12, 1);     // output as 4 bytes
  writer.add_string(99, "new");  // unknown
  std::string bytes = model_with_graph(graph);
  pbf_writer model(bytes);
  model.add_string(1, "nine");  // ir_version as text
  model.add_int64(14, 3);       // metadata as a number
  const ModelFile file = parse(bytes);
  EXPECT_EQ(file.ir_version, 9);
  EXPECT_TRUE(file.inputs.empty());
}

// --- external files ---

Error read_error(const fs::path& path) {
  return error_of([&] { (void)read_model_file(path); });
}

TEST(ModelFolderTest, GoodDataPasses) {
  const ModelFile file = read_model_file(testdata() / "external.onnx");
  ASSERT_EQ(file.external.size(), 1U);
  EXPECT_EQ(file.external[0].end, 272U);
  const fs::path before = fs::current_path();
  fs::current_path(testdata());
  EXPECT_EQ(read_model_file("external.onnx").external.size(), 1U);
  fs::current_path(before);
}

TEST(ModelFolderTest, MissingShortAndSwappedData) {
  const TemporaryFolder folder;
  EXPECT_EQ(read_error(folder / "external.onnx").code(), ErrorCode::kModelMissing);
  const fs::path model = folder.copy("external.onnx", "external.onnx");
  const Error missing = read_error(model);
  EXPECT_EQ(missing.code(), ErrorCode::kModelMissing);
  EXPECT_TRUE(contains(missing.what(), "external.onnx needs external.onnx.data beside it"));
  folder.write("external.onnx.data", std::string(271, 'x'));
  const Error cut = read_error(model);
  EXPECT_EQ(cut.code(), ErrorCode::kModelDamaged);
  EXPECT_TRUE(contains(cut.what(), "'external.onnx.data' has 271 bytes, 272 are needed"));
  folder.write("external.onnx.data", std::string(272, 'x'));
  EXPECT_NO_THROW((void)read_model_file(model));
  fs::remove(folder / "external.onnx.data");
  fs::create_directory(folder / "external.onnx.data");
  EXPECT_EQ(read_error(model).code(), ErrorCode::kModelDamaged);
}

TEST(ModelFolderTest, DataBeyondFourGigabytes) {
  const TemporaryFolder folder;
  const fs::path model = folder.copy("external_far.onnx", "external_far.onnx");
  folder.write("a.data", std::string(256, 'x'));
  const fs::path data = folder.write("far.data", "");
  const std::uintmax_t end = 5 * (std::uintmax_t{1} << 30) + 256;
  fs::resize_file(data, end - 1);  // a hole: takes no room
  EXPECT_TRUE(contains(read_error(model).what(), "has 5368709375 bytes, 5368709376 are needed"));
  fs::resize_file(data, end);
  EXPECT_NO_THROW((void)read_model_file(model));
}

TEST(ModelFolderTest, LocationsOutsideOfTheFolderAreRefused) {
  for (const char* name : {"external_up.onnx", "external_absolute.onnx", "external_hidden.onnx"}) {
    const Error error = read_error(testdata() / name);
    EXPECT_EQ(error.code(), ErrorCode::kModelDamaged) << name;
    EXPECT_TRUE(contains(error.what(), "lies outside of the model's folder"));
    EXPECT_TRUE(contains(error.what(), name));
  }
}

TEST(ModelFolderTest, LinksOutOfTheFolderAreRefused) {
  const TemporaryFolder folder;
  const fs::path model = folder.copy("external.onnx", "model/external.onnx");
  folder.copy("external.onnx.data", "secret/data");
  fs::create_symlink("../secret/data", folder / "model/external.onnx.data");
  const Error error = read_error(model);
  EXPECT_EQ(error.code(), ErrorCode::kModelDamaged);
  EXPECT_TRUE(contains(error.what(), "is a link out of the model's folder"));
  // A folder whose name only begins like the model's is another folder.
  folder.copy("external.onnx.data", "model2/data");
  fs::remove(folder / "model/external.onnx.data");
  fs::create_symlink("../model2/data", folder / "model/external.onnx.data");
  EXPECT_EQ(read_error(model).code(), ErrorCode::kModelDamaged);
}

TEST(ModelFolderTest, AHubCacheOfLinksIsFine) {
  const TemporaryFolder folder;
  folder.copy("external.onnx", "blobs/aaa");
  folder.copy("external.onnx.data", "blobs/bbb");
  folder.copy("external.onnx.data", "elsewhere/bbb");
  fs::create_directories(folder / "snapshots/rev");
  const fs::path model = folder / "snapshots/rev/external.onnx";
  const fs::path data = folder / "snapshots/rev/external.onnx.data";
  fs::create_symlink("../../blobs/aaa", model);
  fs::create_symlink("../../blobs/bbb", data);
  EXPECT_NO_THROW((void)read_model_file(model));
  fs::remove(data);
  fs::create_symlink("../../elsewhere/bbb", data);  // a blob that is not of the model's store
  EXPECT_EQ(read_error(model).code(), ErrorCode::kModelDamaged);
}

TEST(ModelFolderTest, AFolderIsNotAModel) {
  EXPECT_EQ(read_error(testdata()).code(), ErrorCode::kModelDamaged);
}

}  // namespace
}  // namespace samlet::ort
