#include "samlet/error.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "samlet/cancel.h"

namespace samlet {
namespace {

struct Row {
  ErrorCode code;
  int exit_code;
  int http_status;
};

// Written out once more, so that a change of the table is a decision and not an accident.
constexpr Row kDesign[] = {
    {ErrorCode::kUsage, 2, 400},
    {ErrorCode::kPromptInvalid, 2, 422},
    {ErrorCode::kNotFound, 1, 404},
    {ErrorCode::kImageUnreadable, 1, 415},
    {ErrorCode::kImageTooLarge, 1, 413},
    {ErrorCode::kIo, 1, 500},
    {ErrorCode::kModelMissing, 3, 404},
    {ErrorCode::kModelDamaged, 3, 500},
    {ErrorCode::kModelUnsupported, 3, 422},
    {ErrorCode::kDeviceUnavailable, 1, 503},
    {ErrorCode::kOutOfMemory, 1, 503},
    {ErrorCode::kNetwork, 1, 502},
    {ErrorCode::kInternal, 1, 500},
    {ErrorCode::kBusy, -1, 429},
    {ErrorCode::kUnauthorized, -1, 401},
    {ErrorCode::kForbidden, -1, 403},
    {ErrorCode::kCancelled, 130, 499},
    {ErrorCode::kPartialFailure, 4, -1},
};

TEST(ErrorTable, EqualsTheDesign) {
  ASSERT_EQ(error_table().size(), std::size(kDesign));
  for (const Row& row : kDesign) {
    EXPECT_EQ(error_traits(row.code).code, row.code);
    EXPECT_EQ(error_traits(row.code).exit_code, row.exit_code) << error_traits(row.code).name;
    EXPECT_EQ(error_traits(row.code).http_status, row.http_status) << error_traits(row.code).name;
  }
}

TEST(ErrorTable, NamesAreUniqueIdentifiers) {
  std::set<std::string_view> names;
  for (const ErrorTraits& row : error_table()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(row.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos) << row.name;
  }
}

TEST(Error, ContextGoesBeforeTheMessageAndKeepsTheCode) {
  const Error e = Error(ErrorCode::kIo, "disk full").with_context("photo.png");
  EXPECT_EQ(e.code(), ErrorCode::kIo);
  EXPECT_STREQ(e.what(), "photo.png: disk full");
}

TEST(CancelToken, CopiesShareTheFlag) {
  const CancelToken token;
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the copy is the test
  const CancelToken copy = token;
  EXPECT_NO_THROW(copy.check());
  token.cancel();
  try {
    copy.check();
    FAIL() << "check() must throw";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kCancelled);
  }
}

}  // namespace
}  // namespace samlet
