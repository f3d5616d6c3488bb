#include "judge/abandonment.h"

#include <gtest/gtest.h>

namespace strop::judge {
namespace {

constexpr double handshake = 2e4;
constexpr int64_t small = 1 << 16, large = int64_t{1} << 28;

TEST(Abandonment, NeedsABestTime) {
    Abandonment abandonment(0, handshake, small);
    EXPECT_FALSE(abandonment.after_first_call(1e12));
    EXPECT_FALSE(abandonment.after_warm_calls(1e12, 3));
    EXPECT_FALSE(abandonment.doubtful());
    EXPECT_FALSE(abandonment.after_sample(1e12));
}

TEST(Abandonment, OfALongCallThatIsManyTimesSlowerComesAtOnce) {
    Abandonment abandonment(10e6, handshake, small);
    EXPECT_FALSE(abandonment.after_first_call(20e6));  // so long a call may have been disturbed
    EXPECT_TRUE(abandonment.after_first_call(25e6));
}

TEST(Abandonment, AllowsForTheFirstTouchOfLargeTensors) {
    EXPECT_TRUE(Abandonment(10e6, handshake, small).after_first_call(40e6));
    EXPECT_FALSE(Abandonment(10e6, handshake, large).after_first_call(40e6));
}

// Three calls of 30 us whose threads sleep take some 250 us: that is no reason.
TEST(Abandonment, AllowsForThreadsThatWakeUp) {
    Abandonment abandonment(30e3, handshake, small);
    EXPECT_FALSE(abandonment.after_warm_calls(handshake + 250e3, 3));
    EXPECT_FALSE(abandonment.doubtful());
}

// Somebody else had a core for 4 ms, once.
TEST(Abandonment, AHiccupIsNoReason) {
    Abandonment abandonment(150e3, handshake, small);
    EXPECT_FALSE(abandonment.after_warm_calls(4e6, 3));
    EXPECT_TRUE(abandonment.doubtful());
    EXPECT_FALSE(abandonment.after_warm_calls(handshake + 450e3, 3));
    EXPECT_FALSE(abandonment.doubtful());
    EXPECT_FALSE(abandonment.after_sample(400e3));
    EXPECT_FALSE(abandonment.after_sample(150e3));
}

TEST(Abandonment, TwoBatchesThatAgreeAreEnough) {
    Abandonment abandonment(150e3, handshake, small);
    EXPECT_FALSE(abandonment.after_warm_calls(4e6, 3));
    EXPECT_TRUE(abandonment.after_warm_calls(4e6, 3));
}

TEST(Abandonment, OneBatchIsEnoughWhenNoHiccupLastsAsLong) {
    EXPECT_TRUE(Abandonment(150e3, handshake, small).after_warm_calls(7e6, 3));
}

TEST(Abandonment, ASampleIsEnoughWhenTheCallsBeforeItAgree) {
    Abandonment agreeing(1e6, handshake, small), alone(1e6, handshake, small);
    EXPECT_FALSE(agreeing.after_warm_calls(3 * 2e6, 3));
    EXPECT_TRUE(agreeing.after_sample(2e6));
    EXPECT_FALSE(alone.after_warm_calls(3 * 1e6, 3));
    EXPECT_FALSE(alone.after_sample(2e6));
    EXPECT_TRUE(alone.after_sample(2e6));
}

}  // namespace
}  // namespace strop::judge
