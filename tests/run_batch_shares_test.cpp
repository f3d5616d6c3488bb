// One budget for several runs.
#include "run/batch_shares.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace strop {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

RunRecord ended(double roofline_share, double late_factor) {
    RunRecord record;
    record.outcome = Outcome::improved;
    record.stopped_by = "budget";
    record.shapes.resize(1);
    record.shapes[0].roofline_share = roofline_share;
    for (const auto& [seconds, time] : {std::pair{0.0, 400.0}, {4.0, 200.0}, {10.0, 200.0 / late_factor}}) {
        HistoryEntry& entry = record.history.emplace_back();
        entry.seconds = seconds;
        entry.nanoseconds = {{"small", time}};
    }
    return record;
}

TEST(BatchPromise, IsWhatIsLeftAndStillMoving) {
    EXPECT_GT(promise_of(ended(0.1, 1.5)), promise_of(ended(0.1, 1.0)));
    EXPECT_GT(promise_of(ended(0.1, 1.5)), promise_of(ended(0.8, 1.5)));
    EXPECT_GT(promise_of(ended(0.1, 1.0)), 0);
    EXPECT_EQ(promise_of(ended(1.2, 1.5)), 0);
    EXPECT_NEAR(promise_of(ended(0.1, 1.5)), -std::log(0.1) * (0.05 + std::log(1.5)), 1e-12);
}

TEST(BatchPromise, WhoEndedByItselfHasNone) {
    for (const char* why : {"plateau", "roofline", "target", "evaluations", "rounds"}) {
        RunRecord record = ended(0.1, 1.5);
        record.stopped_by = why;
        EXPECT_EQ(promise_of(record), 0) << why;
    }
    RunRecord failed = ended(0.1, 1.5);
    failed.outcome = Outcome::failed;
    EXPECT_EQ(promise_of(failed), 0);
}

TEST(BatchPromise, KernelsThatFailedAndTimesOfZeroSayNothing) {
    RunRecord record = ended(0.1, 1.0);
    const double before = promise_of(record);
    HistoryEntry wrong = record.history.back();
    wrong.nanoseconds = {{"small", 1.0}};
    wrong.verdict = Verdict::wrong_output;
    record.history.push_back(wrong);
    wrong.verdict = Verdict::ok;
    wrong.nanoseconds = {{"small", 0.0}};
    record.history.push_back(wrong);
    EXPECT_EQ(promise_of(record), before);
}

TEST(BatchShares, AreInProportion) {
    EXPECT_THAT(shares_of({1, 3}, 40), ElementsAre(DoubleNear(10, 1e-9), DoubleNear(30, 1e-9)));
}

TEST(BatchShares, WhoWouldGetTooLittleGetsNothingAndTheOthersShareIt) {
    EXPECT_THAT(shares_of({0.001, 1, 0, 3}, 40), ElementsAre(0, DoubleNear(10, 1e-9), 0, DoubleNear(30, 1e-9)));
    EXPECT_THAT(shares_of({1, 1, 1}, 4), ElementsAre(0, DoubleNear(2, 1e-9), DoubleNear(2, 1e-9)));
}

TEST(BatchShares, NothingToShare) {
    EXPECT_THAT(shares_of({1, 1}, 1), ElementsAre(0, 0));
    EXPECT_THAT(shares_of({1, 1}, -5), ElementsAre(0, 0));
    EXPECT_THAT(shares_of({0, 0}, 100), ElementsAre(0, 0));
    EXPECT_TRUE(shares_of({}, 100).empty());
}

}  // namespace
}  // namespace strop
