#include <gtest/gtest.h>

#include "judge/count_watch.h"

namespace strop::judge {
namespace {

// What a count says at each reading, and then for ever.
CountWatch watch(std::vector<int64_t> readings, int64_t calls) {
    size_t next = 0;
    auto count = [&] { return readings[next + 1 < readings.size() ? next++ : next]; };
    int asked = 0;
    auto replied = [&] { return ++asked > 3; };
    return watch_count(count, replied, calls, Nanoseconds(1'000'000), Nanoseconds(1'000'000'000));
}

TEST(CountWatch, SeesStepsAndTheLargestLeap) {
    const CountWatch seen = watch({0, 0, 1, 2, 2, 5, 6, 100}, 100);
    EXPECT_EQ(seen.steps, 5);
    EXPECT_EQ(seen.largest_leap, 94);
    EXPECT_FALSE(seen.fell);
    EXPECT_GT(seen.late_ns, 0);
}

TEST(CountWatch, WhatWasThereWhenItBeganIsNoLeap) { EXPECT_EQ(watch({70, 71, 73, 73, 100}, 100).largest_leap, 27); }

TEST(CountWatch, EndsWhereNothingReturns) {
    const CountWatch seen = watch({0}, 100);
    EXPECT_EQ(seen.steps, 0);
    EXPECT_EQ(seen.late_ns, 0);
}

// A referee that loses the core between a reading and the clock.
TEST(CountWatch, ALeapIsGivenTheTimeBeforeTheReadingBeforeIt) {
    int asked = 0;
    auto count = [&]() -> int64_t {
        if (++asked == 3) {
            const Clock::time_point end = Clock::now() + std::chrono::milliseconds(2);
            while (Clock::now() < end) {
            }
        }
        return asked < 4 ? 0 : 100;
    };
    const CountWatch seen =
        watch_count(count, [] { return true; }, 100, Nanoseconds(1'000'000'000), Nanoseconds(1'000'000'000));
    EXPECT_GE(seen.leap_ns, 2e6);
}

TEST(CountWatch, ACountThatStaysAtZeroAndLeapsToTheEndContradictsWhatACallTakes) {
    CountWatch seen;
    seen.steps = 1;
    seen.largest_leap = 400;
    seen.leap_ns = 200;
    EXPECT_NE(contradiction(seen, 400, 2400, 0), "");
    seen.leap_ns = 900e3;  // the referee did not read meanwhile
    EXPECT_EQ(contradiction(seen, 400, 2400, 0), "");
    seen.leap_ns = 200;  // calls of 20 ns each: nothing tells
    EXPECT_EQ(contradiction(seen, 400, 20, 0), "");
}

TEST(CountWatch, OneThatIsCompleteLongBeforeTheEndContradictsTheBatch) {
    CountWatch seen;
    seen.largest_leap = 1;
    seen.late_ns = 900e3;
    EXPECT_NE(contradiction(seen, 400, 2400, 0), "");
    EXPECT_EQ(contradiction(seen, 400, 2400, 800e3), "");  // it had no core
    seen.late_ns = 10e3;
    EXPECT_EQ(contradiction(seen, 400, 2400, 0), "");
}

TEST(CountWatch, OneThatGoesBackIsRewritten) {
    EXPECT_NE(contradiction(watch({0, 1, 2, 1, 100}, 100), 100, 100, 0), "");
}

}  // namespace
}  // namespace strop::judge
