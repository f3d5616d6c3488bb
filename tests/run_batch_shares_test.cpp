// One budget for several runs.
#include "run/batch_shares.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/budget.h"

namespace strop {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

RunRecord waiting(double late_factor) {
    RunRecord record;
    record.outcome = Outcome::interrupted;
    record.stopped_by = "budget";
    record.settings.budget_seconds = 40;
    record.seconds.reference = 3;
    for (const auto& [seconds, time] : {std::pair{5.0, 400.0}, {8.0, 200.0}, {15.0, 200.0 / late_factor}}) {
        HistoryEntry& entry = record.history.emplace_back();
        entry.seconds = seconds;
        entry.nanoseconds = {{"small", time}};
    }
    return record;
}

TEST(BatchStake, IsWhatTheSecondHalfOfTheSearchGained) {
    const Stake stake = stake_of(waiting(1.05), true);
    EXPECT_NEAR(stake.gain - stake_of(waiting(1.0), true).gain, std::log(1.05), 1e-12);
    EXPECT_DOUBLE_EQ(stake_of(waiting(1.5), true).gain, stake_of(waiting(3), true).gain) << "a leap is made once";
    EXPECT_GT(stake_of(waiting(1.0), true).gain, 0);
    EXPECT_DOUBLE_EQ(stake.searched, 10);
    EXPECT_DOUBLE_EQ(stake.after, 3 + 1.5 + Budget(40, 0).after_search());
    EXPECT_DOUBLE_EQ(stake_of(waiting(1.05), false).after, 1.5 + Budget(40, 0).after_search());
}

TEST(BatchStake, ASearchThatSawLittleMayGainMore) {
    RunRecord seen = waiting(1.0);
    const double before = stake_of(seen, true).gain;
    for (int i = 0; i < 100; ++i) seen.history.push_back(seen.history.back());
    EXPECT_LT(stake_of(seen, true).gain, before);
    // References that took all of the first part have left none to see.
    seen.history.clear();
    EXPECT_GT(stake_of(seen, true).gain, before);
}

TEST(BatchStake, KernelsThatFailedAndTimesOfZeroSayNothing) {
    RunRecord record = waiting(1.0);
    const double late = stake_of(record, true).gain - 1.5 / 3;
    HistoryEntry wrong = record.history.back();
    wrong.nanoseconds = {{"small", 1.0}};
    wrong.verdict = Verdict::wrong_output;
    record.history.push_back(wrong);
    wrong.verdict = Verdict::ok;
    wrong.nanoseconds = {{"small", 0.0}};
    record.history.push_back(wrong);
    EXPECT_NEAR(stake_of(record, true).gain - 1.5 / 5, late, 1e-12);
}

TEST(BatchStake, OnlyASearchThatTheBudgetEndedGoesOn) {
    RunRecord record = waiting(1.5);
    EXPECT_TRUE(waits(record));
    record.outcome = Outcome::improved;
    EXPECT_FALSE(waits(record));
    record.outcome = Outcome::running;
    for (const char* why : {"", "plateau", "roofline", "target", "evaluations", "rounds"}) {
        record.stopped_by = why;
        EXPECT_FALSE(waits(record)) << why;
    }
}

TEST(BatchShares, FillUpToALevel) {
    // Gains of 1 and 3 for each doubling, after 10 s each: level 20, so that 10 + 10 = 20 and 50 + 10 = 60.
    EXPECT_THAT(shares_of({{1, 10, 0}, {3, 10, 0}}, 60), ElementsAre(DoubleNear(10, 1e-9), DoubleNear(50, 1e-9)));
    EXPECT_THAT(shares_of({{1, 10, 5}, {3, 10, 5}}, 70), ElementsAre(DoubleNear(10, 1e-9), DoubleNear(50, 1e-9)));
    EXPECT_THAT(shares_of({{1, 10, 0}, {1, 30, 0}}, 60), ElementsAre(DoubleNear(40, 1e-9), DoubleNear(20, 1e-9)));
}

TEST(BatchShares, WhoWouldGetTooLittleGetsNothingAndTheOthersShareIt) {
    EXPECT_THAT(shares_of({{0.1, 10, 0}, {3, 10, 0}}, 20), ElementsAre(0, DoubleNear(20, 1e-9)));
    EXPECT_THAT(shares_of({{1, 10, 0}, {1, 10, 0}}, 1.5), ElementsAre(0, DoubleNear(1.5, 1e-9)));
    EXPECT_THAT(shares_of({{0, 10, 0}, {1, 10, 0}}, 10), ElementsAre(0, DoubleNear(10, 1e-9)));
}

TEST(BatchShares, NothingToShare) {
    EXPECT_THAT(shares_of({{1, 10, 4}, {1, 10, 4}}, 8), ElementsAre(0, 0));
    EXPECT_THAT(shares_of({{1, 10, 0}, {1, 10, 0}}, -5), ElementsAre(0, 0));
    EXPECT_THAT(shares_of({{0, 10, 0}, {0, 10, 0}}, 100), ElementsAre(0, 0));
    EXPECT_TRUE(shares_of({}, 100).empty());
}

}  // namespace
}  // namespace strop
