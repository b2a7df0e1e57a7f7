#include "apps/cli/output_plan.h"

#include <unistd.h>

#include <fstream>

#include <gtest/gtest.h>

#include "samlet/error.h"

namespace samlet::cli {
namespace {

namespace fs = std::filesystem;

class OutputPlan : public testing::Test {
 protected:
  OutputPlan() {
    std::string pattern = (fs::temp_directory_path() / "samlet-plan-XXXXXX").native();
    folder_ = ::mkdtemp(pattern.data());
    fs::current_path(folder_);
    write("photo.jpg", "\xFF\xD8\xFF\xE0");
    write("scan.png", "\x89PNG");
    write("liar.png", "\xFF\xD8\xFF\xE0");
  }
  ~OutputPlan() override {
    fs::current_path("/");
    fs::remove_all(folder_);
  }

  static void write(const fs::path& name, std::string_view content) {
    std::ofstream(name, std::ios::binary) << content;
  }

  static ErrorCode refusal(const RunArguments& arguments) {
    try {
      (void)plan_outputs(arguments);
    } catch (const Error& e) {
      return e.code();
    }
    ADD_FAILURE() << "was accepted";
    return ErrorCode::kInternal;
  }

  static RunArguments with(std::vector<std::string> pictures, std::string out = "") {
    RunArguments arguments;
    arguments.pictures = std::move(pictures);
    arguments.out = std::move(out);
    return arguments;
  }

  fs::path folder_;
};

TEST_F(OutputPlan, DefaultNamesFollowTheContentOfThePicture) {
  const auto plan = plan_outputs(with({"photo.jpg", "scan.png", "liar.png"}));
  EXPECT_EQ(plan[0].overlay, "photo.samlet.jpg");
  EXPECT_EQ(plan[0].format, ImageFormat::kJpeg);
  EXPECT_EQ(plan[1].overlay, "scan.samlet.png");
  EXPECT_EQ(plan[2].overlay, "liar.samlet.jpg");
}

TEST_F(OutputPlan, OverlaysGoToTheCurrentFolderNotBesideThePicture) {
  fs::create_directory("in");
  write("in/a.jpg", "\xFF\xD8\xFF\xE0");
  EXPECT_EQ(plan_outputs(with({"in/a.jpg"}))[0].overlay, "a.samlet.jpg");
}

TEST_F(OutputPlan, JsonAloneWritesNoOverlay) {
  RunArguments arguments = with({"photo.jpg"});
  arguments.json = true;
  EXPECT_FALSE(plan_outputs(arguments)[0].overlay.has_value());
  arguments.out = "x.png";
  EXPECT_EQ(plan_outputs(arguments)[0].overlay, "x.png");
}

TEST_F(OutputPlan, OutNamesAFileAFolderOrStandardOutput) {
  EXPECT_EQ(plan_outputs(with({"photo.jpg"}, "x.JPEG"))[0].format, ImageFormat::kJpeg);
  EXPECT_EQ(plan_outputs(with({"photo.jpg"}, "new/deep/"))[0].overlay, "new/deep/photo.samlet.jpg");
  EXPECT_TRUE(fs::is_directory("new/deep"));
  EXPECT_EQ(plan_outputs(with({"photo.jpg"}, "new"))[0].overlay, "new/photo.samlet.jpg");
  EXPECT_TRUE(plan_outputs(with({"photo.jpg"}, "-"))[0].overlay_to_output);
}

TEST_F(OutputPlan, ExistingOutputsAreRefusedUnlessTheyMayBeReplaced) {
  write("photo.samlet.jpg", "old");
  EXPECT_EQ(refusal(with({"photo.jpg"})), ErrorCode::kIo);
  RunArguments arguments = with({"photo.jpg"});
  arguments.overwrite = true;
  EXPECT_NO_THROW((void)plan_outputs(arguments));
  fs::create_symlink("nowhere", "scan.samlet.png");
  EXPECT_EQ(refusal(with({"scan.png"})), ErrorCode::kIo) << "a dangling link is something, too";
}

TEST_F(OutputPlan, NothingIsEverWrittenOverAPicture) {
  RunArguments arguments = with({"photo.jpg"}, "photo.jpg");
  arguments.overwrite = true;
  EXPECT_EQ(refusal(arguments), ErrorCode::kUsage);
}

TEST_F(OutputPlan, TwoPicturesNeverShareAnOutput) {
  fs::create_directory("in");
  write("in/photo.jpg", "\xFF\xD8\xFF\xE0");
  EXPECT_EQ(refusal(with({"photo.jpg", "in/photo.jpg"})), ErrorCode::kUsage);
  EXPECT_EQ(refusal(with({"photo.jpg", "scan.png"}, "one.png")), ErrorCode::kUsage);
}

TEST_F(OutputPlan, UnknownSuffixesAndImpossibleFoldersAreRefused) {
  EXPECT_EQ(refusal(with({"photo.jpg"}, "x.webp")), ErrorCode::kUsage);
  EXPECT_EQ(refusal(with({"photo.jpg"}, "x")), ErrorCode::kUsage);
  EXPECT_EQ(refusal(with({"photo.jpg"}, "photo.jpg/in/")), ErrorCode::kIo);
  EXPECT_EQ(refusal(with({"photo.jpg"}, std::string(300, 'n') + ".png")), ErrorCode::kIo);
}

TEST_F(OutputPlan, OddNamesKeepTheirBytes) {
  const std::string odd = "a b#%@ \xE5\x9B\xBE.tar.gz.jpg";
  write(odd, "\xFF\xD8\xFF\xE0");
  EXPECT_EQ(plan_outputs(with({odd}))[0].overlay, "a b#%@ \xE5\x9B\xBE.tar.gz.samlet.jpg");
}

}  // namespace
}  // namespace samlet::cli
