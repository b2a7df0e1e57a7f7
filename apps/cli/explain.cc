#include "apps/cli/explain.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "apps/cli/explain_json.h"
#include "apps/cli/picture_source.h"
#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet::cli {
namespace {

/// By orientation number, 1 to 8.
constexpr std::array<std::string_view, 9> kTurned{
    "",
    "as stored",
    "mirrored left to right",
    "turned by 180 degrees",
    "mirrored top to bottom",
    "mirrored along the diagonal from the top left",
    "turned clockwise by 90 degrees",
    "mirrored along the diagonal from the top right",
    "turned counter-clockwise by 90 degrees",
};

ValueRange range_of(const Image& image) {
  ValueRange range;
  if (image.rgb.empty()) return range;
  const auto [least, most] = std::minmax_element(image.rgb.begin(), image.rgb.end());
  return {*least, *most};
}

std::string turning(const PictureInfo& info) {
  const auto words = kTurned.at(static_cast<std::size_t>(info.orientation));
  if (info.orientation_source.empty()) return fmt::format("{}; the file says nothing about it", words);
  return fmt::format("{} (orientation {} by {})", words, info.orientation, info.orientation_source);
}

/// What a picture of one value says about its file: that it is probably not what a person sees elsewhere.
std::string shown_range(const ValueRange& range) {
  if (range.least == range.most) return fmt::format("{} everywhere: the picture shows nothing", range.least);
  return fmt::format("{} to {}", range.least, range.most);
}

std::string explanation(const ExplainedPicture& picture) {
  const PictureInfo& info = picture.info;
  std::string text = fmt::format("{}: {}, {}x{} pixels\n", picture_name(path_from_utf8(picture.name)),
                                 info.type, info.width, info.height);
  const auto line = [&text](std::string_view name, const std::string& words) {
    text += fmt::format("  {:<12}{}\n", name, words);
  };
  line("stored as",
       fmt::format("{}, {} {} a sample", info.colours, info.bits, info.bits == 1 ? "bit" : "bits"));
  line("becomes", fmt::format("RGB, 8 bits a sample: {}", info.rule));
  line("upright", fmt::format("{}x{}, {}", picture.width, picture.height, turning(info)));
  line("pictures", info.frames > 1 ? fmt::format("{} in the file; the first is used", info.frames)
                                   : std::string("1 in the file"));
  line("values", shown_range(picture.values));
  for (const std::string& warning : picture.warnings) line("warning", warning);
  return text;
}

ExplainedPicture explain(const std::string& name, const CheckArguments& arguments,
                         const CancelToken& cancel) {
  const std::filesystem::path path = path_from_utf8(name);
  ExplainedPicture explained;
  explained.name = path_to_utf8(path);
  DecodeOptions options;
  options.max_pixels = arguments.max_pixels;
  options.cancel = cancel;
  options.log = collect_warnings(explained.warnings);
  const Picture picture = read_picture_argument(path, options);
  explained.info = picture.info;
  explained.width = picture.image.width;
  explained.height = picture.image.height;
  explained.values = range_of(picture.image);
  return explained;
}

void require_pictures_only(const CheckArguments& arguments) {
  const bool other = !arguments.model.empty() || !arguments.against.empty() || !arguments.images.empty() ||
                     !arguments.texts.empty() || !arguments.device.empty() || !arguments.aliases.empty();
  if (other) {
    throw Error(ErrorCode::kUsage,
                "--image explains how a picture is read and takes no model (repeat --image for each further "
                "picture); for pictures to compare two models "
                "on give --images");
  }
  if (std::count(arguments.explained.begin(), arguments.explained.end(), kStandardInput) > 1)
    throw Error(ErrorCode::kUsage, "standard input (-) is named twice, and can be read once only");
}

}  // namespace

int explain_pictures(const CheckArguments& arguments, Terminal& terminal, const CancelToken& cancel) {
  require_pictures_only(arguments);
  const std::size_t count = arguments.explained.size();
  std::size_t failed = 0;
  for (const std::string& name : arguments.explained) {
    cancel.check();
    try {
      const ExplainedPicture picture = explain(name, arguments, cancel);
      terminal.print(arguments.json ? explained_json(picture) + "\n" : explanation(picture));
    } catch (const Error& error) {
      if (count == 1 || terminal.output_failed() || error.code() == ErrorCode::kCancelled) throw;
      terminal.error(error.what());
      ++failed;
    }
  }
  if (failed == 0) return 0;
  throw Error(ErrorCode::kPartialFailure, fmt::format("{} of {} pictures cannot be read", failed, count));
}

}  // namespace samlet::cli
