// The table of roles, and files that users write.
#include "models/sam3/alias_file.h"

#include <fstream>
#include <map>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "models/sam3/test_support.h"
#include "samlet/error.h"

namespace samlet::sam3 {
namespace {

std::set<std::string> names_of(const Role& role) {
  std::set<std::string> names{std::string(role.name)};
  std::string_view rest = role.others;
  while (!rest.empty()) {
    const std::size_t blank = std::min(rest.find(' '), rest.size());
    EXPECT_GT(blank, 0U) << role.name;
    EXPECT_TRUE(names.insert(std::string(rest.substr(0, blank))).second) << rest;
    rest.remove_prefix(std::min(rest.size(), blank + 1));
  }
  return names;
}

TEST(Aliases, NoNameStandsForTwoRolesOfOneSide) {
  std::map<std::pair<GraphKind, Direction>, std::map<std::string, std::string>> taken;
  for (const Role& role : roles()) {
    EXPECT_LE(role.least_rank, role.most_rank) << role.name;
    for (const std::string& name : names_of(role)) {
      const auto [at, is_new] = taken[{role.graph, role.direction}].emplace(name, role.name);
      EXPECT_TRUE(is_new) << name << " is " << role.name << " and " << at->second;
      EXPECT_TRUE(name == role.name || role.is_also(name)) << name;
    }
    EXPECT_FALSE(role.is_also("")) << role.name;
    EXPECT_FALSE(role.is_also("nothing_of_the_kind")) << role.name;
  }
  EXPECT_EQ(taken.size(), 8U);
}

TEST(AliasFileTest, NamesAndFactsAreRead) {
  const AliasFile file = parse_alias_file(R"({
    "decoder": {"file": "my.onnx", "inputs": {"box_coords": "boxes_in"}, "outputs": {"scores": "p"}},
    "facts": {"masks": "logits", "closing_point": "outside", "threshold_in_graph": 0.25}})",
                                          "x.json");
  EXPECT_EQ(file.of(GraphKind::kDecoder).file, "my.onnx");
  EXPECT_EQ(file.of(GraphKind::kDecoder).inputs.at("box_coords"), "boxes_in");
  EXPECT_EQ(file.of(GraphKind::kDecoder).outputs.at("scores"), "p");
  EXPECT_TRUE(file.of(GraphKind::kPointDecoder).inputs.empty());
  EXPECT_EQ(file.fact(kFactMasks), "logits");
  EXPECT_EQ(file.fact(kFactScores), "");
  EXPECT_EQ(file.fact(kFactClosingPoint), "outside");
  EXPECT_EQ(file.threshold_in_graph, 0.25);
  EXPECT_TRUE(parse_alias_file("{}", "x.json").facts.empty());
}

struct Refused {
  const char* text;
  std::vector<const char*> parts;
};

class RefusedAliases : public testing::TestWithParam<Refused> {};

TEST_P(RefusedAliases, SaysWhatIsWrong) {
  const Error error = error_of([] { (void)parse_alias_file(GetParam().text, "x.json"); });
  EXPECT_EQ(error.code(), ErrorCode::kUsage);
  EXPECT_TRUE(contains(error.what(), "the alias file 'x.json' cannot be used"));
  for (const char* part : GetParam().parts) EXPECT_TRUE(contains(error.what(), part));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, RefusedAliases,
    testing::Values(
        Refused{"", {"not JSON"}}, Refused{"{\"decoder\":", {"not JSON, or cut"}},
        Refused{"[]", {"it is no object"}}, Refused{"{\"decoder\": 3}", {"'decoder' is no object"}},
        Refused{"{\"decodr\": {}}", {"'decodr'", "nearest is 'decoder'", "point_decoder"}},
        Refused{"{\"decoder\": {\"input\": {}}}", {"'input'", "nearest is 'inputs'"}},
        Refused{"{\"decoder\": {\"inputs\": {\"box_cords\": \"b\"}}}",
                {"'inputs' of 'decoder'", "'box_cords'", "nearest is 'box_coords'"}},
        Refused{"{\"decoder\": {\"outputs\": {\"box_coords\": \"b\"}}}",
                {"'outputs' of 'decoder'", "nearest is 'boxes'"}},
        Refused{"{\"decoder\": {\"inputs\": {\"box_coords\": 1}}}", {"'box_coords'", "no text"}},
        Refused{"{\"decoder\": {\"inputs\": {\"box_coords\": \"\"}}}", {"'box_coords'", "is empty"}},
        Refused{"{\"decoder\": {\"inputs\": {\"box_coords\": \"b\", \"box_labels\": \"b\"}}}",
                {"'b' for two roles"}},
        Refused{"{\"decoder\": {}, \"decoder\": {}}", {"the key 'decoder' twice"}},
        Refused{"{\"decoder\": {\"inputs\": {\"box_coords\": \"a\", \"box_coords\": \"b\"}}}",
                {"'box_coords' twice"}},
        Refused{"{\"decoder\": {\"file\": \"../x.onnx\"}}", {"'file' of 'decoder'", "folder"}},
        Refused{"{\"facts\": {\"mask\": \"logits\"}}", {"'mask'", "nearest is 'masks'"}},
        Refused{"{\"facts\": {\"masks\": \"logit\"}}", {"'logit'", "nearest is 'logits'", "probabilities"}},
        Refused{"{\"facts\": {\"threshold_in_graph\": 1.5}}", {"threshold_in_graph", "0 to 1"}},
        Refused{"{\"facts\": {\"threshold_in_graph\": \"x\"}}", {"threshold_in_graph", "0 to 1"}},
        Refused{"[[[[[[[[[[[[]]]]]]]]]]]]", {"nested deeper"}}, Refused{"{\"a\xFF\": 1}", {"not UTF-8"}}));

TEST(AliasFileTest, ATextThatIsTooLongIsRefused) {
  const std::string text = "{" + std::string(std::size_t{70} << 10, ' ') + "}";
  EXPECT_TRUE(contains(error_of([&] { (void)parse_alias_file(text, "x.json"); }).what(), "65536 bytes"));
  const ScratchFolder folder;
  folder.write("long.json", text);
  EXPECT_EQ(error_of([&] { (void)read_alias_file(folder.path() / "long.json"); }).code(), ErrorCode::kIo);
  EXPECT_EQ(error_of([&] { (void)read_alias_file(folder.path() / "none.json"); }).code(),
            ErrorCode::kNotFound);
}

}  // namespace
}  // namespace samlet::sam3
