#include "judge/glimpse.h"

#include <gtest/gtest.h>

#include "base/clock.h"

namespace strop::judge {
namespace {

// A process whose calls take so long each, in a batch that began just now. `skipped`: calls of the middle that take no
// time at all.
Progress process(double call_ns, int64_t calls, int64_t skipped = 0) {
    return [=, start = Clock::now()] {
        const int64_t worked = calls - skipped;
        const auto done = static_cast<int64_t>(static_cast<double>(Nanoseconds(Clock::now() - start).count()) / call_ns);
        return done < worked / 2 ? done : std::min(calls, done + skipped);
    };
}

// Of so many looks one at least is not disturbed by whoever shares the core.
double least_pace(double call_ns, int64_t calls, int64_t skipped = 0) {
    double least = 1e300;
    for (int look = 0; look < 30; ++look) {
        const double seen = pace_ns(process(call_ns, calls, skipped), calls, call_ns);
        if (seen > 0) least = std::min(least, seen);
    }
    return least;
}

TEST(Pace, IsWhatACallTakes) {
    EXPECT_NEAR(least_pace(1500, 400), 1500, 400);
    EXPECT_NEAR(least_pace(150, 4000), 150, 40);
    EXPECT_NEAR(least_pace(120e3, 4), 120e3, 30e3);
}

TEST(Pace, OfCallsThatAreWorkedIsNotShortenedByThoseThatAreSkipped) {
    EXPECT_NEAR(least_pace(1500, 400, 200), 1500, 400);
}

TEST(Pace, IsUnknownWhenTheBatchIsOverOrNothingReturns) {
    EXPECT_EQ(pace_ns([] { return int64_t{100}; }, 100, 1000), 0);
    EXPECT_EQ(pace_ns([] { return int64_t{3}; }, 100, 1000), 0);
    EXPECT_EQ(pace_ns([] { return int64_t{0}; }, 100, 1000), 0);
}

}  // namespace
}  // namespace strop::judge
