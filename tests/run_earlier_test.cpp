#include "run/earlier.h"

#include <limits>

#include <gtest/gtest.h>

#include "base/file.h"
#include "fakes/sample_record.h"

namespace strop {
namespace {

HistoryEntry measured(const std::string& kernel, int64_t u, Verdict verdict,
                      std::map<std::string, double> nanoseconds) {
    HistoryEntry entry;
    entry.kernel = kernel;
    entry.configuration = {{"U", u}};
    entry.verdict = verdict;
    entry.nanoseconds = std::move(nanoseconds);
    return entry;
}

RunRecord record(const std::string& run) {
    RunRecord record;
    record.run = run;
    record.started = "2026-01-31T12:00:00Z";
    record.problem = "softmax";
    record.problem_hash = "abc";
    record.machine = fakes::sample_machine();
    record.shapes.resize(2);
    record.history = {measured("k", 1, Verdict::ok, {{"small", 2}, {"large", 8}}),
                      measured("k", 2, Verdict::ok, {{"small", 1}}),  // given up at the other shape
                      measured("k", 4, Verdict::crashed, {}), measured("other", 1, Verdict::ok, {})};
    return record;
}

class Earlier : public testing::Test {
protected:
    TemporaryFolder folder_{"strop-earlier"};
    Store store_{folder_.path() / "strop.db"};
};

TEST_F(Earlier, GivesEachRunsMeasurementsOfAKernel) {
    store_.save_run(record("softmax-1"));
    RunRecord current = record("softmax-2");
    store_.save_run(current);
    std::vector<tune::EarlierRun> runs = EarlierRuns(store_, current).of("k");
    ASSERT_EQ(runs.size(), 1u);  // not the run itself
    ASSERT_EQ(runs[0].costs.size(), 3u);
    EXPECT_DOUBLE_EQ(runs[0].costs[0], 4);  // the geometric mean
    EXPECT_EQ(runs[0].costs[1], std::numeric_limits<double>::infinity());
    EXPECT_EQ(runs[0].costs[2], std::numeric_limits<double>::infinity());
    EXPECT_TRUE(EarlierRuns(store_, current).of("other").empty());  // too few to say anything
}

// As they were chosen, so that the next run begins where that one ended; not again from an older run.
TEST_F(Earlier, GivesTheWinnersWithTheirConfigurations) {
    auto with_winner = [](const std::string& run, const std::string& source, int64_t u) {
        RunRecord made = record(run);
        Strategy strategy;
        strategy.id = "k";
        strategy.hypothesis = "reads once";
        strategy.proposer = "fake/one";
        strategy.parent = "gone";
        strategy.state = Strategy::State::winner;
        Kernel kernel;
        kernel.id = kernel.strategy = "k";
        kernel.author = "fake/one";
        kernel.source = source;
        Regime regime;
        regime.kernel = regime.strategy = "k";
        regime.configuration = {{"U", u}};
        made.strategies = {strategy};
        made.kernels = {kernel};
        made.regimes = {regime};
        return made;
    };
    store_.save_run(with_winner("softmax-1", "// a", 2));
    store_.save_run(with_winner("softmax-2", "// a", 4));
    const RunRecord current = record("softmax-3");
    store_.save_run(current);
    for (int walk = 0; walk < 2; ++walk) {
        std::vector<Proposal> winners = EarlierRuns(store_, current).winners();
        ASSERT_EQ(winners.size(), 1u);
        EXPECT_TRUE(winners[0].proven);
        EXPECT_EQ(winners[0].kernel.source, "// a");
        EXPECT_EQ(winners[0].kernel.author, "fake/one");
        EXPECT_EQ(describe(winners[0].kernel.initial), "U=4");
        EXPECT_EQ(winners[0].strategy.hypothesis, "reads once");
        EXPECT_EQ(winners[0].strategy.parent, "");
        EXPECT_EQ(winners[0].strategy.state, Strategy::State::active);
        store_.save_run(with_winner("softmax-4", "// b", 8));   // later than the run that goes on
    }
}

TEST_F(Earlier, LeavesOutOtherMachinesAndChangedProblems) {
    RunRecord machine = record("softmax-1"), problem = record("softmax-2");
    machine.machine.fingerprint = "elsewhere";
    problem.problem_hash = "changed";
    store_.save_run(machine);
    store_.save_run(problem);
    EXPECT_TRUE(EarlierRuns(store_, record("softmax-3")).of("k").empty());
}

}  // namespace
}  // namespace strop
