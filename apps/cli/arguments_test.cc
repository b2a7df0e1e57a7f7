#include <initializer_list>
#include <vector>

#include <gtest/gtest.h>

#include "apps/cli/commands.h"
#include "samlet/error.h"
#include "samlet/version.h"

namespace samlet::cli {
namespace {

Arguments parse(std::initializer_list<const char*> words) {
  std::vector<const char*> argv{"samlet"};
  argv.insert(argv.end(), words);
  return parse_arguments(static_cast<int>(argv.size()), argv.data());
}

RunArguments parse_run(std::initializer_list<const char*> words) {
  return std::get<RunArguments>(parse(words));
}

ErrorCode refusal(std::initializer_list<const char*> words, std::string* message = nullptr) {
  try {
    (void)parse(words);
  } catch (const Error& e) {
    if (message != nullptr) *message = e.what();
    return e.code();
  }
  ADD_FAILURE() << "was accepted";
  return ErrorCode::kInternal;
}

TEST(Arguments, PicturesMayBeNamedBothWays) {
  const auto run =
      parse_run({"run", "./m", "a.jpg", "b.jpg", "--image", "c.png", "-i", "-dash.png", "--text", "dog"});
  EXPECT_EQ(run.model, "./m");
  EXPECT_EQ(run.pictures, (std::vector<std::string>{"a.jpg", "b.jpg", "c.png", "-dash.png"}));
}

TEST(Arguments, WordsAfterTwoDashesArePictures) {
  const std::vector<std::string> pictures{"a.jpg", "b.jpg", "-x.png", "--json"};
  const auto run =
      parse_run({"run", "./m", "a.jpg", "b.jpg", "--text", "dog", "--json", "--", "-x.png", "--json"});
  EXPECT_EQ(run.pictures, pictures);
  EXPECT_TRUE(run.json);
  const auto all_after = parse_run({"run", "--text", "--", "--", "./m", "-x.png"});
  EXPECT_EQ(all_after.texts, std::vector<std::string>{"--"});
  EXPECT_EQ(all_after.model, "./m");
  EXPECT_EQ(all_after.pictures, std::vector<std::string>{"-x.png"});
}

TEST(Arguments, PicturesAreNamesAndNotLists) {
  EXPECT_EQ(parse_run({"run", "./m", "[a,b]", "c,d", "--text", "x"}).pictures,
            (std::vector<std::string>{"[a,b]", "c,d"}));
}

TEST(Arguments, AnAliasFileIsForRunAndCheck) {
  EXPECT_EQ(parse_run({"run", "./m", "a.jpg", "--text", "x", "--aliases", "names.json"}).aliases,
            "names.json");
  EXPECT_EQ(parse_run({"run", "./m", "a.jpg", "--text", "x"}).aliases, "");
  EXPECT_EQ(std::get<CheckArguments>(parse({"check", "./m", "--aliases", "names.json"})).aliases,
            "names.json");
  EXPECT_EQ(refusal({"check", "./m", "--aliases", ""}), ErrorCode::kUsage);
}

TEST(Arguments, EmptyWordsAreMistakes) {
  for (const char* option : {"--threshold", "--out", "--max-pixels", "--threads", "--device", "--aliases"}) {
    EXPECT_EQ(refusal({"run", "./m", "a.jpg", "--text", "x", option, ""}), ErrorCode::kUsage) << option;
  }
  for (const char* pixels : {"0", "-1", "99999999999999999999999"}) {
    EXPECT_EQ(refusal({"run", "./m", "a.jpg", "--text", "x", "--max-pixels", pixels}), ErrorCode::kUsage)
        << pixels;
  }
}

TEST(Arguments, RepeatableOptionsTakeOneWordEach) {
  const auto run = parse_run({"run", "--text", "dog", "--text", "red ball", "./m", "--box", "1,2,3,4",
                              "a.jpg", "--negative-box", "5, 6, 7.5, 8e0"});
  EXPECT_EQ(run.texts, (std::vector<std::string>{"dog", "red ball"}));
  EXPECT_EQ(run.pictures, std::vector<std::string>{"a.jpg"});
  ASSERT_EQ(run.boxes.size(), 2U);
  EXPECT_TRUE(run.boxes[0].positive);
  EXPECT_EQ(run.boxes[0].box.y2, 4);
  EXPECT_FALSE(run.boxes[1].positive);
  EXPECT_EQ(run.boxes[1].box.x2, 7.5);
}

TEST(Arguments, TextIsTakenAsItStands) {
  // Each of these means something to some command line parser: a list, a quote, an option, a comment, an
  // escape.
  for (const char* text : {"a,b [c] %x", "-not-an-option", "", "[dog]", "[a,b]", "\"quoted\"", "'s", "#hash",
                           "a\\nb", "{}", "--", "@file", "b64:x", "$HOME", "0x10", "true"}) {
    EXPECT_EQ(parse_run({"run", "./m", "a.jpg", "--text", text}).texts, std::vector<std::string>{text});
    EXPECT_EQ(parse_run({"run", "./m", "--image", text, "--text", "x"}).pictures,
              std::vector<std::string>{text});
  }
}

TEST(Arguments, BoxesMayBeNegativeNumbers) {
  const auto run = parse_run({"run", "./m", "a.jpg", "--box", "-5,-6,7,8"});
  EXPECT_EQ(run.boxes[0].box.x1, -5);
}

TEST(Arguments, DefaultsAreThoseOfTheDesign) {
  const auto run = parse_run({"run", "./m", "a.jpg", "--text", "dog"});
  EXPECT_EQ(run.threshold, 0.5);
  EXPECT_EQ(run.device, "auto");
  EXPECT_EQ(run.threads, 0);
  EXPECT_EQ(run.max_pixels, 256'000'000U);
  EXPECT_FALSE(run.json);
  EXPECT_FALSE(run.overwrite);
  EXPECT_FALSE(run.normalized);
  EXPECT_EQ(run.verbosity, Verbosity::kNormal);
}

TEST(Arguments, EverythingElseIsRefusedWithAWayOn) {
  EXPECT_EQ(refusal({}), ErrorCode::kUsage);
  EXPECT_EQ(refusal({"fly"}), ErrorCode::kUsage);
  EXPECT_EQ(refusal({"run", "./m", "a.jpg"}), ErrorCode::kUsage);
  EXPECT_EQ(refusal({"run", "./m", "--text", "x"}), ErrorCode::kUsage);
  EXPECT_EQ(refusal({"run", "--text", "x"}), ErrorCode::kUsage);
  EXPECT_EQ(refusal({"run", "./m", "a.jpg", "--text"}), ErrorCode::kUsage);
  EXPECT_EQ(refusal({"run", "./m", "a.jpg", "--text", "x", "--threads", "-1"}), ErrorCode::kUsage);
  EXPECT_EQ(refusal({"run", "./m", "a.jpg", "--text", "x", "--threshold", "high"}), ErrorCode::kUsage);
  EXPECT_EQ(refusal({"run", "./m", "a.jpg", "--text", "x", "-q", "-v"}), ErrorCode::kUsage);
  std::string message;
  EXPECT_EQ(refusal({"run", "./m", "a.jpg", "--txt", "x"}, &message), ErrorCode::kUsage);
  EXPECT_NE(message.find("--help"), std::string::npos) << message;
}

TEST(Arguments, ABoxIsFourNumbers) {
  for (const char* bad :
       {"", "1,2,3", "1,2,3,4,5", "a,b,c,d", "1,2,3,", "1;2;3;4", "0x1,2,3,4", "1 2,2,3,4", ",,,"}) {
    EXPECT_EQ(refusal({"run", "./m", "a.jpg", "--box", bad}), ErrorCode::kPromptInvalid) << bad;
  }
}

TEST(Arguments, HelpAndVersionAreOnlyPrinted) {
  EXPECT_EQ(std::get<PrintArguments>(parse({"--version"})).text, std::string("samlet ") + version() + "\n");
  EXPECT_NE(std::get<PrintArguments>(parse({"--help"})).text.find("doctor"), std::string::npos);
  EXPECT_NE(std::get<PrintArguments>(parse({"run", "--help"})).text.find("--negative-box"),
            std::string::npos);
}

TEST(Arguments, TokensTakesThePhraseAsItStands) {
  EXPECT_EQ(std::get<TokensArguments>(parse({"tokens", "red ball"})).text, "red ball");
}

}  // namespace
}  // namespace samlet::cli
