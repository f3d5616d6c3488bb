#include "base/line.h"

#include <gtest/gtest.h>

namespace strop {
namespace {

TEST(OneLine, has_neither_line_ends_nor_escapes) {
    EXPECT_EQ(one_line("first\nsecond\r\n  third\tfourth\n"), "first second third fourth");
    EXPECT_EQ(one_line("\x1b[31mred\x1b[0m"), "?[31mred?[0m");
    EXPECT_EQ(one_line(""), "");
}

}  // namespace
}  // namespace strop
