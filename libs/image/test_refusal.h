// What the tests of refusals share: bytes that are no picture, damaged ones and dishonest ones.
#pragma once

#include <sys/resource.h>

#include <ctime>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "libs/image/test_support.h"
#include "samlet/image.h"

namespace samlet::test {

inline Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

inline Error refusal(const Bytes& bytes, const DecodeOptions& options = {}) {
  return error_of([&] { (void)decode_image(bytes, options); });
}

/// Changes each byte in turn by `bits`, and returns how many of these files are refused; every other one must
/// be read, and a refusal must be one of a picture.
inline int refused_of_flipped(const Bytes& whole, std::uint8_t bits) {
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    Bytes bytes = whole;
    bytes[at] ^= bits;
    try {
      (void)decode_image(bytes);
    } catch (const Error& error) {
      ++refused;
      EXPECT_TRUE(error.code() == ErrorCode::kImageUnreadable || error.code() == ErrorCode::kImageTooLarge)
          << at << ": " << error.what();
    }
  }
  return refused;
}

inline void expect_unreadable(const Bytes& bytes, const std::string& part) {
  const Error error = refusal(bytes);
  EXPECT_EQ(error.code(), ErrorCode::kImageUnreadable) << error.what();
  EXPECT_TRUE(contains(error, part));
}

/// Every test of these must stay cheap: under a second, and under 300 MB in all.
class Refusal : public testing::Test {
 protected:
  ~Refusal() override {
    const double seconds =
        static_cast<double>(std::clock() - start_) / CLOCKS_PER_SEC;  // of the processor, not of the wall
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
#if !SAMLET_SANITIZED
    EXPECT_LT(seconds, 1.0);
    EXPECT_LT(usage.ru_maxrss, 300L * 1024);  // KiB
#endif
    (void)seconds;
  }

 private:
  std::clock_t start_ = std::clock();
};

}  // namespace samlet::test
