#include "libs/base/byte_reader.h"

#include <array>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace samlet {
namespace {

constexpr std::array<std::uint8_t, 8> kBytes{1, 2, 3, 4, 5, 6, 7, 8};

TEST(ByteReader, ReadsBothEndiannesses) {
  ByteReader r(kBytes);
  EXPECT_EQ(r.u16_le(), 0x0201);
  EXPECT_EQ(r.u16_be(), 0x0304);
  EXPECT_EQ(r.u32_be(), 0x05060708U);
  EXPECT_EQ(r.remaining(), 0U);
  ASSERT_TRUE(r.seek(0));
  EXPECT_EQ(r.u64_le(), 0x0807060504030201ULL);
}

TEST(ByteReader, RefusesToPassTheEndAndDoesNotMove) {
  ByteReader r(kBytes);
  ASSERT_TRUE(r.skip(6));
  EXPECT_FALSE(r.u32_le().has_value());
  EXPECT_EQ(r.position(), 6U);
  EXPECT_FALSE(r.skip(std::numeric_limits<std::size_t>::max()));
  EXPECT_FALSE(r.seek(9));
  EXPECT_FALSE(r.take(3).has_value());
  EXPECT_EQ(r.u16_le(), 0x0807);
  EXPECT_FALSE(r.u8().has_value());
}

}  // namespace
}  // namespace samlet
