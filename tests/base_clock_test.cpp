#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/error.h"

namespace strop {
namespace {

TEST(Duration, is_read_in_any_units) {
    EXPECT_DOUBLE_EQ(parse_duration("60s").count(), 60);
    EXPECT_DOUBLE_EQ(parse_duration("2m").count(), 120);
    EXPECT_DOUBLE_EQ(parse_duration("1h30m").count(), 5400);
    EXPECT_DOUBLE_EQ(parse_duration("1m30s").count(), 90);
    EXPECT_DOUBLE_EQ(parse_duration("500ms").count(), 0.5);
    EXPECT_DOUBLE_EQ(parse_duration("1s500ms").count(), 1.5);
    EXPECT_DOUBLE_EQ(parse_duration("90").count(), 90);
    EXPECT_DOUBLE_EQ(parse_duration("0.5s").count(), 0.5);
}

TEST(Duration, must_be_positive_and_nothing_else) {
    for (const char* text : {"", "soon", "0", "0ms", "-1s", "5x", "ms", "1e400s"})
        EXPECT_THROW(parse_duration(text), UsageError) << text;
}

}  // namespace
}  // namespace strop
