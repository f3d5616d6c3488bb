#include "run/earlier.h"

#include <cmath>
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
                      measured("k", 2, Verdict::ok, {{"small", 1}}),  // left at the other shape
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
    EXPECT_DOUBLE_EQ(runs[0].costs[0], std::sqrt(2.0));  // twice the least at one shape, the least at the other
    EXPECT_EQ(runs[0].costs[1], 1);                      // of the shape where it was measured
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
        store_.save_run(with_winner("softmax-4", "// b", 8));  // later than the run that goes on
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

const Signature rows_signature{"a", {{"reduction max [-1]", 1}, {"reduction sum [-1]", 1}, {"pointwise exp", 1}}};
const Signature relative_signature{"b", {{"reduction max [-1]", 1}, {"reduction sum [-1]", 1}, {"pointwise log", 1}}};
const Signature strange_signature{"c", {{"contraction ab bc ac", 1}}};

// Of a run in which `k` won and `other` was beaten.
RunRecord relative(const std::string& run) {
    RunRecord made = record(run);
    made.problem = "logsumexp";
    made.problem_hash = "def";
    made.outcome = Outcome::improved;
    Strategy winner, loser;
    winner.id = "k+prefetch";
    winner.state = Strategy::State::winner;
    loser.id = "other";
    loser.state = Strategy::State::pruned;
    made.strategies = {winner, loser};
    Regime regime;
    regime.kernel = regime.strategy = "k+prefetch";
    regime.configuration = {{"U", int64_t{4}}, {"DISTANCE", int64_t{8}}};
    made.regimes = {regime};
    return made;
}

std::vector<Proposal> planned() {
    std::vector<Proposal> proposals(3);
    const char* ids[] = {"other", "k", "third"};
    for (size_t i = 0; i < 3; ++i) {
        proposals[i].strategy.id = proposals[i].kernel.id = proposals[i].kernel.strategy = ids[i];
        proposals[i].kernel.space.tunables = {{"U", {int64_t{1}, int64_t{4}}}, {"T", {int64_t{7}}}};
        proposals[i].kernel.initial = {{"U", int64_t{1}}, {"T", int64_t{7}}};
    }
    return proposals;
}

TEST_F(Earlier, LearnsFromRelatives) {
    store_.save_run(relative("logsumexp-1"));
    store_.save_signature("logsumexp-1", relative_signature, fakes::sample_machine());
    EarlierRuns earlier(store_, record("softmax-2"), rows_signature);
    EXPECT_EQ(earlier.of("k").size(), 1u);   // costs
    EXPECT_TRUE(earlier.winners().empty());  // another problem's kernels are not this one's
    const Experience experience = earlier.experience();
    ASSERT_EQ(experience.winners.size(), 1u);
    EXPECT_EQ(experience.winners[0].problem, "logsumexp");
    EXPECT_EQ(experience.winners[0].strategy, "k");
    EXPECT_EQ(experience.losers, std::vector<std::string>{"other"});
    store_.save_run(relative("logsumexp-3"));  // later than the run that goes on
    store_.save_signature("logsumexp-3", rows_signature, fakes::sample_machine());
    EXPECT_EQ(EarlierRuns(store_, record("softmax-2"), rows_signature).experience().winners.size(), 1u);
}

TEST_F(Earlier, LearnsNothingFromStrangersOtherInstructionSetsAndRunsUnderWay) {
    RunRecord under_way = relative("logsumexp-1");
    under_way.outcome = Outcome::running;
    Machine other = fakes::sample_machine();
    other.isa = "avx512";
    store_.save_run(under_way);
    store_.save_run(relative("logsumexp-2"));
    store_.save_run(relative("gemm-1"));
    store_.save_signature("logsumexp-1", rows_signature, fakes::sample_machine());
    store_.save_signature("logsumexp-2", rows_signature, other);
    store_.save_signature("gemm-1", strange_signature, fakes::sample_machine());
    EarlierRuns earlier(store_, record("softmax-2"), rows_signature);
    EXPECT_TRUE(earlier.of("k").empty());
    EXPECT_TRUE(earlier.experience().winners.empty());
    EXPECT_TRUE(earlier.experience().losers.empty());
}

// What was measured here goes first, and what lost elsewhere alone does not come last here.
TEST_F(Earlier, TrustsWhatWasImportedLess) {
    RunRecord imported = relative("logsumexp-9");
    imported.started = "2026-03-01T00:00:00Z";
    imported.origin = "theirs";
    imported.regimes[0].strategy = "other";
    imported.strategies[0].id = "other";
    imported.strategies[1].id = "k";
    store_.save_run(imported);
    store_.save_signature("logsumexp-9", relative_signature, fakes::sample_machine());
    {
        EarlierRuns earlier(store_, record("softmax-2"), rows_signature);
        const Experience experience = earlier.experience();
        ASSERT_EQ(experience.winners.size(), 1u);
        EXPECT_TRUE(experience.winners[0].imported);
        EXPECT_TRUE(experience.losers.empty());
        EXPECT_EQ(beginning_of(experience, planned()).says, "began with 1 winner of logsumexp (imported)");
    }
    store_.save_run(relative("logsumexp-1"));
    store_.save_signature("logsumexp-1", relative_signature, fakes::sample_machine());
    const Experience experience = EarlierRuns(store_, record("softmax-3"), rows_signature).experience();
    ASSERT_EQ(experience.winners.size(), 2u);
    EXPECT_FALSE(experience.winners[0].imported);
    EXPECT_TRUE(EarlierRuns(store_, record("softmax-3"), rows_signature).experience().winners[1].imported)
        << "as it is kept";
}

// Also of the same problem; and not when the run is resumed either.
TEST_F(Earlier, LearnsNothingWhereItMayNot) {
    store_.save_run(record("softmax-1"));
    store_.save_run(relative("logsumexp-1"));
    store_.save_signature("logsumexp-1", relative_signature, fakes::sample_machine());
    for (bool allowed : {false, true}) {
        EarlierRuns earlier(store_, record("softmax-2"), rows_signature, allowed);
        EXPECT_FALSE(earlier.allowed());
        EXPECT_TRUE(earlier.of("k").empty());
        EXPECT_TRUE(earlier.experience().winners.empty());
    }
}

// A winner elsewhere that came off worse here is no loser.
TEST_F(Earlier, WhatWonOnceIsNoLoser) {
    RunRecord other = relative("logsumexp-1");
    other.strategies[1].state = Strategy::State::winner;
    store_.save_run(relative("logsumexp-2"));
    store_.save_run(other);
    for (const char* run : {"logsumexp-1", "logsumexp-2"})
        store_.save_signature(run, rows_signature, fakes::sample_machine());
    EXPECT_TRUE(EarlierRuns(store_, record("softmax-2"), rows_signature).experience().losers.empty());
}

TEST(Beginning, PutsWinnersFirstAndLosersLast) {
    Experience experience;
    experience.winners = {{"logsumexp", "k", {{"U", int64_t{4}}, {"T", int64_t{9}}, {"DISTANCE", int64_t{8}}}},
                          {"logsumexp", "gone", {}}};
    experience.losers = {"other", "gone too"};
    const Beginning beginning = beginning_of(experience, planned());
    ASSERT_EQ(beginning.proven.size(), 1u);
    EXPECT_TRUE(beginning.proven[0].proven);
    EXPECT_EQ(describe(beginning.proven[0].kernel.initial), "T=7 U=4");  // what the space does not hold is left out
    EXPECT_EQ(beginning.ranks, (std::map<std::string, int>{{"k", -1}, {"other", 1}}));
    EXPECT_EQ(beginning.says, "began with 1 winner of logsumexp; 1 strategy that lost in runs of relatives comes last");
}

TEST(Beginning, LeavesOutConfigurationsThatAreNotValidHere) {
    std::vector<Proposal> proposals = planned();
    proposals[1].kernel.space.constraints = {Expression::parse("U < 2")};
    Experience experience;
    experience.winners = {{"logsumexp", "k", {{"U", int64_t{4}}}}};
    const Beginning beginning = beginning_of(experience, proposals);
    EXPECT_TRUE(beginning.proven.empty());
    EXPECT_TRUE(beginning.ranks.empty());
    EXPECT_EQ(beginning.says, "");
}

}  // namespace
}  // namespace strop
