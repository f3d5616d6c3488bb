#include "base/strings.h"

#include <gtest/gtest.h>

#include "base/citation.h"

namespace strop {
namespace {

TEST(Printable, LeavesTextAndTakesAwayWhatCommands) {
    EXPECT_EQ(printable("a\tb\nÉ 世 ×"), "a\tb\nÉ 世 ×");
    EXPECT_EQ(printable("\x1b[2J\r\x07\x7f"), "?[2J???");
    EXPECT_EQ(printable("\xc2\x9b"
                        "31m"),
              "??31m");                                                           // a control character of two bytes
    EXPECT_EQ(printable("\xe2\x80\xae ko"), "??? ko");                            // turns the direction of writing
    EXPECT_EQ(printable("a\xe2\x80\x8b\xe2\x80\xa8\xef\xbb\xbf"), "a?????????");  // cannot be seen
}

TEST(Printable, LeavesNoBytesThatAreNoText) {
    EXPECT_EQ(printable("\xff\xc3"), "??");
    EXPECT_EQ(printable("\xed\xa0\x80|\xc0\xaf|\xf5\x80\x80\x80|\xe4\xb8"), "???|??|????|??");
}

TEST(Cited, LooksLikeNoLineOfOurs) {
    EXPECT_EQ(cited("error\nverdict: ok\n"), "  | error\n  | verdict: ok");
    EXPECT_EQ(cited("a\rverdict: ok"), "  | a?verdict: ok");
}

}  // namespace
}  // namespace strop
