#include "base/line.h"

#include <gtest/gtest.h>

namespace strop {
namespace {

TEST(OneLine, has_neither_line_ends_nor_escapes) {
    EXPECT_EQ(one_line("first\nsecond\r\n  third\tfourth\n"), "first second third fourth");
    EXPECT_EQ(one_line("\x1b[31mred\x1b[0m"), "?[31mred?[0m");
    EXPECT_EQ(one_line(""), "");
}

TEST(Shortened, keeps_whole_characters) {
    EXPECT_EQ(shortened("two\nwords", 9), "two words");
    EXPECT_EQ(shortened("two words", 8), "two word...");
    EXPECT_EQ(shortened("µµ", 3), "µ...");
    EXPECT_EQ(shortened("µ", 0), "...");
}

}  // namespace
}  // namespace strop
