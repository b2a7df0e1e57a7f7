#include "apps/cli/output_plan.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "apps/cli/picture_source.h"
#include "libs/base/file.h"
#include "samlet/error.h"

namespace samlet::cli {
namespace {

namespace fs = std::filesystem;

std::string_view suffix_of(ImageFormat format) {
  return format == ImageFormat::kJpeg ? ".jpg" : ".png";
}

ImageFormat format_of_name(const fs::path& out) {
  const std::string suffix = lower_case_suffix(out);
  if (suffix == ".jpg" || suffix == ".jpeg") return ImageFormat::kJpeg;
  if (suffix == ".png") return ImageFormat::kPng;
  throw Error(ErrorCode::kUsage,
              fmt::format("'{}' does not say a picture format; end the name in .jpg or .png, or "
                          "name a folder with a slash at its end",
                          path_to_utf8(out)));
}

bool names_a_folder(const std::string& out) {
  std::error_code ignored;
  return out.ends_with('/') || fs::is_directory(path_from_utf8(out), ignored);
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) {
    throw Error(ErrorCode::kIo,
                fmt::format("cannot make the folder '{}': {}", path_to_utf8(folder), failed.message()));
  }
}

fs::path default_name(const fs::path& picture, ImageFormat format) {
  // The stem is bytes, not text: any name that the picture can have, its overlay can have.
  fs::path name = is_standard_input(picture) ? fs::path("stdin") : picture.stem();
  name += ".samlet";
  name += suffix_of(format);
  return name;
}

void require_free(const fs::path& overlay, bool overwrite) {
  std::error_code failed;
  const bool exists = fs::exists(fs::symlink_status(overlay, failed));
  if (failed && failed != std::errc::no_such_file_or_directory) {
    const bool too_long = failed == std::errc::filename_too_long;
    throw Error(ErrorCode::kIo, fmt::format("cannot write '{}': {}{}", path_to_utf8(overlay),
                                            too_long ? "the name is too long" : failed.message(),
                                            too_long ? "; give a shorter one with --out" : ""));
  }
  if (fs::is_directory(overlay, failed)) {
    throw Error(ErrorCode::kIo,
                fmt::format("'{}' is a folder and stands where the overlay would go; give --out another name",
                            path_to_utf8(overlay)));
  }
  if (exists && !overwrite) {
    throw Error(
        ErrorCode::kIo,
        fmt::format("'{}' exists already; give --overwrite to replace it, or --out to write elsewhere",
                    path_to_utf8(overlay)));
  }
}

/// An overlay must never replace a picture that is read in the same call.
void require_distinct(const std::vector<PlannedPicture>& plan) {
  std::map<fs::path, fs::path> taken;
  for (const PlannedPicture& row : plan) {
    if (!row.overlay) continue;
    const auto [at, is_new] = taken.try_emplace(row.overlay->lexically_normal(), row.picture);
    if (!is_new) {
      throw Error(
          ErrorCode::kUsage,
          fmt::format("'{}' and '{}' would both be written to '{}'; run them one by one with "
                      "--out",
                      path_to_utf8(at->second), path_to_utf8(row.picture), path_to_utf8(*row.overlay)));
    }
  }
  for (const PlannedPicture& row : plan) {
    for (const PlannedPicture& other : plan) {
      std::error_code ignored;
      if (row.overlay && fs::equivalent(*row.overlay, other.picture, ignored)) {
        throw Error(ErrorCode::kUsage,
                    fmt::format("the overlay of '{}' would replace the picture '{}'; choose another --out",
                                path_to_utf8(row.picture), path_to_utf8(other.picture)));
      }
    }
  }
}

PlannedPicture plan_one(const RunArguments& arguments, const std::string& picture_name, bool into_folder) {
  PlannedPicture row;
  row.picture = path_from_utf8(picture_name);
  if (arguments.out == "-") {
    row.format = overlay_format_for(row.picture);
    row.overlay_to_output = true;
    return row;
  }
  if (arguments.out.empty() && arguments.json) return row;
  if (arguments.out.empty() || into_folder) {
    row.format = overlay_format_for(row.picture);
    row.overlay = path_from_utf8(arguments.out) / default_name(row.picture, row.format);
  } else {
    row.overlay = path_from_utf8(arguments.out);
    row.format = format_of_name(*row.overlay);
  }
  return row;
}

}  // namespace

ImageFormat overlay_format_for(const std::filesystem::path& picture) {
  std::array<char, 3> head{};
  std::error_code ignored;
  if (fs::is_regular_file(picture, ignored)) {
    std::ifstream in(picture, std::ios::binary);
    in.read(head.data(), head.size());
  }
  constexpr std::array<char, 3> kJpegHead{'\xFF', '\xD8', '\xFF'};
  return head == kJpegHead ? ImageFormat::kJpeg : ImageFormat::kPng;
}

std::vector<PlannedPicture> plan_outputs(const RunArguments& arguments) {
  const bool into_folder = arguments.out != "-" && !arguments.out.empty() && names_a_folder(arguments.out);
  if (arguments.out == "-" && arguments.json) {
    throw Error(ErrorCode::kUsage, "--json and --out - both want standard output; give --out a file name");
  }
  if (std::count(arguments.pictures.begin(), arguments.pictures.end(), kStandardInput) > 1)
    throw Error(ErrorCode::kUsage, "standard input (-) is named twice, and can be read once only");
  if (arguments.pictures.size() > 1 && !arguments.out.empty() && !into_folder) {
    throw Error(ErrorCode::kUsage,
                fmt::format("{} pictures cannot all be written to '{}'; name a folder, with a slash at the "
                            "end",
                            arguments.pictures.size(), arguments.out));
  }
  std::vector<PlannedPicture> plan;
  for (const std::string& picture : arguments.pictures)
    plan.push_back(plan_one(arguments, picture, into_folder));
  require_distinct(plan);
  for (const PlannedPicture& row : plan) {
    if (row.overlay) require_free(*row.overlay, arguments.overwrite);
  }
  if (into_folder) make_folder(path_from_utf8(arguments.out));
  return plan;
}

}  // namespace samlet::cli
