#include "judge/credit.h"

#include <gtest/gtest.h>

namespace strop::judge {
namespace {

TEST(Credit, IsAQuarterOfWhatTimingTakes) {
    Credit credit;
    EXPECT_FALSE(credit.left());
    credit.earn(4e6);
    EXPECT_TRUE(credit.left());
    credit.spend(Seconds(0.0009));
    EXPECT_TRUE(credit.left());
    credit.spend(Seconds(0.0001));
    EXPECT_FALSE(credit.left());
}

TEST(Credit, MayBeADebtThatIsPaidFirst) {
    Credit credit;
    credit.spend(Seconds(0.04));
    credit.earn(150e6);
    EXPECT_FALSE(credit.left());
    credit.earn(20e6);
    EXPECT_TRUE(credit.left());
}

TEST(Credit, OfALongWaitIsNotKept) {
    Credit credit;
    for (int i = 0; i < 100; ++i) credit.earn(100e6);
    credit.spend(Seconds(0.05));
    EXPECT_FALSE(credit.left());
}

}  // namespace
}  // namespace strop::judge
