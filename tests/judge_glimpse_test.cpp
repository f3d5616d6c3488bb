#include "judge/glimpse.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "stats/sample.h"

namespace strop::judge {
namespace {

// Of a process whose calls take so long each, begun just now. `skipped`: calls of the middle that take no
// time at all.
RunningBatch process(double call_ns, int64_t calls, int64_t skipped = 0) {
    const Clock::time_point start = Clock::now();
    auto returned = [=] {
        const int64_t worked = calls - skipped;
        const auto done =
            static_cast<int64_t>(static_cast<double>(Nanoseconds(Clock::now() - start).count()) / call_ns);
        return done < worked / 2 ? done : std::min(calls, done + skipped);
    };
    return {calls, call_ns, returned, [] { return int64_t{0}; }};
}

// Of so many looks most are not disturbed by whoever shares the core.
double usual_pace(double call_ns, int64_t calls, int64_t skipped = 0) {
    std::vector<double> paces;
    for (int look = 0; look < 31; ++look)
        if (const double seen = pace(process(call_ns, calls, skipped)).ns; seen > 0) paces.push_back(seen);
    return stats::median(paces);
}

TEST(Pace, IsWhatACallTakes) {
    EXPECT_NEAR(usual_pace(1500, 400), 1500, 400);
    EXPECT_NEAR(usual_pace(150, 4000), 150, 40);
    EXPECT_NEAR(usual_pace(120e3, 4), 120e3, 30e3);
}

TEST(Pace, OfCallsThatAreWorkedIsNotShortenedByThoseThatAreSkipped) {
    EXPECT_NEAR(usual_pace(1500, 400, 200), 1500, 400);
}

TEST(Pace, IsNotTakenWhileThreadsWaitForACore) {
    RunningBatch batch = process(1500, 400);
    int64_t waited = 0;
    batch.waited_ns = [&] { return waited += 1'000'000; };
    EXPECT_EQ(pace(batch).ns, 0);
}

// What they waited ended with them.
TEST(Pace, IsNotTakenWhileThreadsThatComeAndGoHaveNoCore) {
    RunningBatch batch = process(1500, 400);
    batch.ran_ns = [] { return int64_t{0}; };
    EXPECT_EQ(pace(batch).ns, 0);
    const Clock::time_point start = Clock::now();
    batch = process(1500, 4000);
    batch.ran_ns = [start] { return Nanoseconds(Clock::now() - start).count(); };
    EXPECT_GT(pace(batch).ns, 0);
}

// The work of a call is that of the calls which do some, however many are skipped, and whoever waits for a core.
TEST(Pace, TellsTheWorkOfACallWhileThreadsWait) {
    std::vector<double> works;
    for (int look = 0; look < 31; ++look) {
        RunningBatch batch = process(1500, 400, 200);
        const Clock::time_point start = Clock::now();
        batch.ran_ns = [start] { return 2 * Nanoseconds(Clock::now() - start).count(); };
        int64_t waited = 0;
        batch.waited_ns = [&] { return waited += 1'000'000; };
        const Pace seen = pace(batch);
        EXPECT_EQ(seen.ns, 0);
        if (seen.work_ns > 0) works.push_back(seen.work_ns);
    }
    EXPECT_NEAR(stats::median(works), 3000, 800);
}

TEST(Pace, IsNotWaitedForWhereACountHasNoEnd) {
    RunningBatch batch = process(1500, int64_t{1} << 50);
    int64_t waited = 0;
    batch.waited_ns = [&] { return waited += 1'000'000'000; };
    EXPECT_EQ(pace(batch).ns, 0);
}

TEST(Pace, IsUnknownWhenTheBatchIsOverOrNothingReturns) {
    auto waited = [] { return int64_t{0}; };
    EXPECT_EQ(pace({100, 1000, [] { return int64_t{100}; }, waited}).ns, 0);
    EXPECT_EQ(pace({100, 1000, [] { return int64_t{3}; }, waited}).ns, 0);
    EXPECT_EQ(pace({100, 1000, [] { return int64_t{0}; }, waited}).ns, 0);
}

}  // namespace
}  // namespace strop::judge
