#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "fakes/search_fixture.h"

namespace strop::search {
namespace {

TEST(Run, FindsTheWinnerOfEachRegimeAtItsBestConfiguration) {
    Fixture f;
    Result result = f.run();
    EXPECT_EQ(find(result, "serial").state, Strategy::State::winner);
    EXPECT_EQ(find(result, "serial").reason, "fastest at small");
    EXPECT_EQ(find(result, "parallel").reason, "fastest at large");
    std::map<std::string, std::string> best;
    for (const ShapePoint& point : points) {
        const Candidate* fastest = nullptr;
        for (const Candidate& candidate : result.finalists)
            if (!fastest || candidate.nanoseconds.at(point.label) < fastest->nanoseconds.at(point.label))
                fastest = &candidate;
        best[point.label] = fastest->kernel.id + " " + describe(fastest->configuration);
    }
    EXPECT_EQ(best["small"], "serial U=16");
    EXPECT_EQ(best["large"], "parallel U=16");
}

TEST(Run, PrunesOnlyWhatIsBeatenEverywhereAndSaysByWhom) {
    Fixture f;
    Result result = f.run();
    const Strategy& naive = find(result, "naive");
    EXPECT_EQ(naive.state, Strategy::State::pruned);
    EXPECT_EQ(naive.reason.find("beaten at every shape, closest at large: 5.99× slower than parallel"), 0u)
        << naive.reason;
}

// Of tensors that fill the last cache: "parallel" is ahead at "large" as long as they are there.
TEST(Run, TheSlowerOfWarmAndColdDecides) {
    Fixture f;
    f.evaluator.cold = [](const Kernel& kernel, const Configuration& configuration, const ShapePoint& point) {
        if (point.label == "small") return 0.0;
        return (kernel.id.starts_with("serial") ? 2 : 3) * model(kernel, configuration, point);
    };
    auto winner_at_large = [&] {
        const Result result = f.run();
        const Candidate* fastest = nullptr;
        for (const Candidate& candidate : result.finalists)
            if (!fastest || candidate.nanoseconds.at("large") < fastest->nanoseconds.at("large")) fastest = &candidate;
        return fastest->kernel.id;
    };
    EXPECT_EQ(winner_at_large(), "parallel");
    f.evaluator.cold = [](const Kernel& kernel, const Configuration& configuration, const ShapePoint& point) {
        if (point.label == "small") return 0.0;
        return (kernel.id.starts_with("serial") ? 2 : 5) * model(kernel, configuration, point);
    };
    EXPECT_EQ(winner_at_large(), "serial");
}

// "steady" leads nowhere and is the best one for both points.
TEST(Run, OneForAllShapesIsWhoIsBestOverAllOfThem) {
    auto compromise = [](const Kernel& kernel, const Configuration& configuration, const ShapePoint& point) {
        const bool small = point.label == "small";
        const double factor = kernel.id == "steady" ? 1.2 : (kernel.id == "serial") == small ? 1 : 3;
        return size_of(point) * unroll(configuration) * factor;
    };
    for (int winners : {1, 5}) {
        Fixture f;
        Proposal narrow = proposal("narrow", unrolls());
        narrow.kernel.condition = Expression::parse("N <= 64");
        f.proposer = FakeProposer(
            {proposal("serial", unrolls()), proposal("parallel", unrolls()), proposal("steady", unrolls()), narrow});
        f.evaluator = FakeEvaluator(compromise);
        f.settings.winners = winners;
        Result result = f.run();
        if (winners > 1) {
            EXPECT_EQ(find(result, "steady").state, Strategy::State::pruned);
            continue;
        }
        EXPECT_EQ(find(result, "steady").reason, "fastest at all shapes together");
        EXPECT_EQ(find(result, "serial").state, Strategy::State::pruned);
        EXPECT_EQ(find(result, "serial").reason.find("beaten over all shapes together: 1.44× slower than steady"), 0u)
            << find(result, "serial").reason;
        EXPECT_EQ(find(result, "narrow").reason,
                  "its condition, N <= 64, excludes shapes, and one kernel is to serve all");
        EXPECT_EQ(result.finalists.at(0).kernel.id, "steady");
        EXPECT_EQ(describe(result.finalists[0].configuration), "U=16");
        for (const EvaluationRequest& request : f.evaluator.requests) EXPECT_NE(request.kernel.id, "narrow");
    }
}

TEST(Run, JudgesAKernelNearItsOwnBestBeforeItIsPruned) {
    // Its first configuration is hopeless, its best one wins.
    FakeProposer proposer({proposal("steady"), proposal("late", {numbers("U", {1, 2, 3, 4, 5, 6, 7, 8})})});
    FakeEvaluator evaluator([](const Kernel& kernel, const Configuration& c, const ShapePoint& point) {
        if (kernel.id == "steady") return size_of(point);
        return size_of(point) * (std::get<int64_t>(c.at("U")) == 7 ? 0.5 : 20);
    });
    Recorder recorder;
    Result result = run(points, {&proposer}, evaluator, {}, {}, recorder);
    EXPECT_EQ(find(result, "late").state, Strategy::State::winner);
    EXPECT_EQ(find(result, "steady").state, Strategy::State::pruned);
}

TEST(Run, TunesWhereEarlierRunsEnded) {
    Fixture f;
    f.targets.earlier = [](const Kernel& kernel) {
        tune::EarlierRun run;
        for (int64_t u : {4, 8, 16, 32}) {
            run.configurations.push_back({{"U", u}});
            run.costs.push_back(kernel.id == "serial" ? unroll(run.configurations.back()) : 1);
        }
        return std::vector<tune::EarlierRun>{run};
    };
    f.run();
    std::vector<int64_t> tried;
    for (const EvaluationRequest& request : f.evaluator.requests)
        if (request.kernel.id == "serial") tried.push_back(std::get<int64_t>(request.configuration.at("U")));
    ASSERT_GE(tried.size(), 2u);
    EXPECT_EQ(tried[0], 1);  // its author's guess
    EXPECT_EQ(tried[1], 16);
}

TEST(Run, EarlierWinnersComeFirstAtWhatWon) {
    Fixture f;
    Proposal known = proposal("parallel", unrolls()), strange = proposal("serial_by_a_model", unrolls());
    known.proven = strange.proven = true;
    known.kernel.initial["U"] = strange.kernel.initial["U"] = int64_t{16};
    FakeProposer earlier({known, strange});
    search::run(points, {&f.proposer, &earlier}, f.evaluator, f.settings, f.targets, f.recorder);
    std::string first;
    for (size_t i = 0; i < 4; ++i)
        first += f.evaluator.requests[i].kernel.id + " " + describe(f.evaluator.requests[i].configuration) + " ";
    EXPECT_EQ(first, "parallel U=16 serial_by_a_model U=16 serial U=1 naive U=1 ");
    EXPECT_EQ(std::count(f.recorder.order.begin(), f.recorder.order.end(), "parallel"), 6);
}

TEST(Run, EvaluatesEveryInitialConfigurationFirstInSmallBatches) {
    Fixture f;
    f.run();
    std::vector<std::string> first(f.recorder.order.begin(), f.recorder.order.begin() + 3);
    EXPECT_EQ(first, (std::vector<std::string>{"serial", "parallel", "naive"}));
    for (size_t size : f.evaluator.batches) EXPECT_LE(size, 4u);
    for (size_t i = 0; i < 3; ++i) EXPECT_EQ(std::get<int64_t>(f.evaluator.requests[i].configuration.at("U")), 1);
    EXPECT_EQ(f.evaluator.requests[0].best_ns.size(), 2u);
    for (const auto& [label, nanoseconds] : f.evaluator.requests[0].best_ns)
        EXPECT_TRUE(std::isinf(nanoseconds)) << label;
    EXPECT_EQ(f.evaluator.requests.back().best_ns.size(), 2u);
}

TEST(Run, BatchesGrowWithTheWorkersThatShareThem) {
    Fixture f;
    f.settings.evaluations = 40;
    f.targets.workers = 3;
    f.run();
    EXPECT_EQ(f.evaluator.batches.front(), 12u);
    for (size_t size : f.evaluator.batches) EXPECT_LE(size, 24u);
}

// Configurations that differ in late tunables only share a library.
TEST(Run, ABatchFillsTheCoresWithCompilations) {
    Tunable late = numbers("CHUNK", {16, 32, 64, 128});
    late.kind = Tunable::Kind::late;
    Fixture f;
    f.proposer = FakeProposer({proposal("parallel", {unrolls()[0], late})});
    f.targets.cores = 2;
    f.run();
    std::set<Value> compiled;
    size_t at = 0, longer = 0;
    for (size_t b = 0; b < f.evaluator.batches.size(); ++b) {
        const size_t size = f.evaluator.batches[b], before = compiled.size();
        for (size_t i = 0; i < size; ++i) compiled.insert(f.evaluator.requests[at++].configuration.at("U"));
        ASSERT_LE(size, 8u);
        longer += size > 4;
        const bool last = b + 1 == f.evaluator.batches.size();
        EXPECT_TRUE(last || size == 8 || (compiled.size() - before) % 2 == 0) << "batch " << b;
        EXPECT_TRUE(last || size >= 4);
    }
    EXPECT_GT(longer, 0u);
}

TEST(Run, NeverAsksTwiceForTheSame) {
    Fixture f;
    f.run();
    std::set<std::string> seen;
    for (const EvaluationRequest& request : f.evaluator.requests)
        EXPECT_TRUE(seen.insert(request.kernel.id + describe(request.configuration)).second);
}

TEST(Run, EndsEarlyWhenEverythingIsExplored) {
    Fixture f;
    Result result = f.run();
    EXPECT_EQ(result.stopped_by, "exhausted");
    EXPECT_LE(result.evaluations, 18);
    EXPECT_EQ(result.evaluations, f.recorder.evaluations);
}

TEST(Run, WithoutProposalsIsExhausted) {
    Fixture f;
    f.proposer = FakeProposer({});
    Result result = f.run();
    EXPECT_EQ(result.stopped_by, "exhausted");
    EXPECT_TRUE(result.finalists.empty());
    EXPECT_EQ(result.evaluations, 0);
}

TEST(Run, GivesAFailureOtherConfigurationsAndThenPrunesItWithTheEvidence) {
    Fixture f;
    f.evaluator.judgement = [](const Kernel& kernel, const Configuration& c, const ShapePoint&) {
        if (kernel.id == "naive") return Verdict::wrong_output;
        bool first = kernel.id == "serial" && std::get<int64_t>(c.at("U")) == 1;
        return first ? Verdict::compile_failed : Verdict::ok;
    };
    Result result = f.run();
    EXPECT_EQ(find(result, "naive").state, Strategy::State::pruned);
    EXPECT_EQ(find(result, "naive").reason, "wrong_output: first line");
    EXPECT_EQ(std::count(f.recorder.order.begin(), f.recorder.order.end(), "naive"), 4);
    EXPECT_EQ(find(result, "serial").state, Strategy::State::winner);
    for (const Candidate& candidate : result.finalists) EXPECT_NE(candidate.kernel.id, "naive");
}

TEST(Run, AsksTheAuthorToMendWhatNeverWorkedOnceAKernel) {
    Fixture f;
    f.evaluator.judgement = [](const Kernel& kernel, const Configuration&, const ShapePoint&) {
        return kernel.id == "serial" || kernel.id == "naive" ? Verdict::compile_failed : Verdict::ok;
    };
    f.proposer.repaired["serial"] = proposal("serial+fix1", unrolls());
    Result result = f.run();
    EXPECT_EQ(f.proposer.broken, (std::vector<std::pair<std::string, Verdict>>{{"serial", Verdict::compile_failed},
                                                                               {"naive", Verdict::compile_failed}}));
    EXPECT_EQ(find(result, "serial").reason, "compile_failed: first line; mended as serial+fix1");
    EXPECT_EQ(find(result, "serial+fix1").state, Strategy::State::winner);
    EXPECT_EQ(find(result, "naive").reason, "compile_failed: first line");
    // Given up at its first batch, not after four configurations.
    EXPECT_LT(std::count(f.recorder.order.begin(), f.recorder.order.end(), "serial"), 4);
}

TEST(Run, AStandstillIsWidenedBeforeItIsTheEnd) {
    Fixture f;
    f.proposer.wider = {{proposal("serial_wide", unrolls())}, {}};
    Result result = f.run();
    EXPECT_EQ(result.stopped_by, "exhausted");
    EXPECT_TRUE(f.proposer.wider.empty());
    EXPECT_EQ(std::count(f.recorder.order.begin(), f.recorder.order.end(), "serial_wide"), 6);
}

TEST(Run, AnotherProposerMayDeepenWhatLeads) {
    Fixture f;
    FakeProposer adviser({});
    adviser.advises_others = true;
    adviser.deepened["parallel"] = {proposal("parallel+advice", unrolls())};
    adviser.opinions = {{"parallel", 1.0}, {"nobody", 0.0}};
    Result result = run(points, {&f.proposer, &adviser}, f.evaluator, f.settings, f.targets, f.recorder);
    EXPECT_EQ(find(result, "parallel+advice").parent, "parallel");
    EXPECT_EQ(std::count(f.recorder.order.begin(), f.recorder.order.end(), "parallel+advice"), 6);
}

TEST(Run, ConfigurationThatIsWrongSomewhereIsNoCandidateAnywhere) {
    Fixture f;
    f.evaluator.judgement = [](const Kernel&, const Configuration& c, const ShapePoint& point) {
        bool wrong = std::get<int64_t>(c.at("U")) == 16 && point.label == "large";
        return wrong ? Verdict::wrong_output : Verdict::ok;
    };
    for (const Candidate& candidate : f.run().finalists)
        EXPECT_NE(std::get<int64_t>(candidate.configuration.at("U")), 16);
}

TEST(Run, FinalistsAgreeOnACompiler) {
    Tunable compiler{"CXX", {std::string("clang"), std::string("g++")}, Tunable::Kind::compiler};
    FakeProposer proposer({proposal("serial", {compiler}), proposal("parallel", {compiler}), proposal("naive")});
    // g++ is better for "serial" at the small shape, clang for "parallel", and by more.
    FakeEvaluator evaluator([](const Kernel& kernel, const Configuration& c, const ShapePoint& point) {
        const bool gcc = c.count("CXX") && c.at("CXX") == Value("g++");
        if (kernel.id == "serial") return model(kernel, {}, point) * (gcc ? 0.8 : 1);
        return model(kernel, {}, point) * (kernel.id == "parallel" && gcc ? 3 : 1);
    });
    Recorder recorder;
    const Result result = run(points, {&proposer}, evaluator, {}, {}, recorder);
    std::map<std::string, std::string> asked;
    for (const Candidate& candidate : result.finalists)
        asked[candidate.kernel.id] = compiler_of(candidate.kernel.space, candidate.configuration);
    EXPECT_EQ(asked["serial"], "clang");
    EXPECT_EQ(asked["parallel"], "clang");
}

TEST(Run, AsksOnlyForPointsWhereTheConditionHolds) {
    Fixture f;
    Proposal narrow = proposal("serial_narrow", unrolls()), never = proposal("never");
    narrow.kernel.condition = Expression::parse("N <= 1000");
    never.kernel.condition = Expression::parse("N > 10000");
    f.proposer = FakeProposer({narrow, never, proposal("naive", unrolls())});
    Result result = f.run();
    for (const EvaluationRequest& request : f.evaluator.requests)
        if (request.kernel.id == "serial_narrow") {
            ASSERT_EQ(request.points.size(), 1u);
            EXPECT_EQ(request.points[0].label, "small");
        }
    EXPECT_EQ(find(result, "never").state, Strategy::State::pruned);
    EXPECT_EQ(find(result, "never").reason, "its condition holds at no shape: N > 10000");
    EXPECT_EQ(find(result, "naive").reason, "fastest at large");
}

TEST(Run, LeavesSlowShapesToThoseThatMayWinThere) {
    Fixture f;
    std::vector<int64_t> all(40);
    std::iota(all.begin(), all.end(), 1);
    f.proposer = FakeProposer({proposal("serial", {numbers("U", all)}), proposal("parallel", {numbers("U", all)})});
    Result result = f.run();
    std::map<std::string, std::set<size_t>> asked;  // numbers of points, once both are judged
    std::map<std::string, int> seen;
    for (const EvaluationRequest& request : f.evaluator.requests)
        if (++seen[request.kernel.id] > 16) asked[request.kernel.id].insert(request.points.size());
    EXPECT_EQ(asked["serial"], std::set<size_t>{1});  // half as fast as the other at the large one
    EXPECT_EQ(asked["parallel"], std::set<size_t>{2});
    for (const char* id : {"serial", "parallel"})
        EXPECT_TRUE(std::any_of(result.finalists.begin(), result.finalists.end(), [&](const Candidate& candidate) {
            return candidate.kernel.id == id && describe(candidate.configuration) == "U=16";
        })) << id;
    f.settings.winners = 1;
    f.evaluator.requests.clear();
    f.run();
    for (const EvaluationRequest& request : f.evaluator.requests) EXPECT_EQ(request.points.size(), 2u);
}

TEST(Run, LetsTheCallerDecideWhereAKernelMayBeCalled) {
    Fixture f;
    Proposal padded = proposal("serial_padded");
    padded.kernel.condition = Expression::parse("pad == 1");  // an integer parameter
    f.proposer = FakeProposer({padded, proposal("naive")});
    f.targets.callable = [](const Kernel&, const ShapePoint& point) { return point.label == "large"; };
    f.run();
    ASSERT_EQ(f.evaluator.requests[0].kernel.id, "serial_padded");
    EXPECT_EQ(f.evaluator.requests[0].points[0].label, "large");
}

TEST(Run, KeepsAFinalistWithoutACondition) {
    Fixture f;
    Proposal fast = proposal("serial");
    fast.kernel.condition = Expression::parse("N > 0");
    f.proposer = FakeProposer({fast, proposal("naive")});
    Result result = f.run();
    EXPECT_EQ(find(result, "naive").state, Strategy::State::pruned);
    EXPECT_TRUE(std::any_of(result.finalists.begin(), result.finalists.end(),
                            [](const Candidate& candidate) { return !candidate.kernel.condition; }));
}

TEST(Run, DeepensTheBestAndInheritsItsConfiguration) {
    Fixture f;
    Proposal deeper = proposal("parallel+prefetch", {numbers("U", {1, 2, 4, 8, 16, 32}), numbers("D", {0, 8})});
    f.proposer.deepened["parallel"] = {deeper};
    Result result = f.run();
    EXPECT_EQ(find(result, "parallel+prefetch").parent, "parallel");
    auto first = std::find_if(f.evaluator.requests.begin(), f.evaluator.requests.end(),
                              [](const EvaluationRequest& r) { return r.kernel.id == "parallel+prefetch"; });
    ASSERT_NE(first, f.evaluator.requests.end());
    EXPECT_EQ(describe(first->configuration), "D=0 U=16");
    EXPECT_EQ(first->kernel.parent, "parallel");
    auto again = std::find(f.proposer.asked.begin(), f.proposer.asked.end(), "parallel+prefetch");
    ASSERT_NE(again, f.proposer.asked.end());
    EXPECT_EQ(f.proposer.tried[static_cast<size_t>(again - f.proposer.asked.begin())],
              (std::vector<std::string>{"parallel", "parallel+prefetch"}));
    EXPECT_EQ(std::count(f.proposer.asked.begin(), f.proposer.asked.end(), "naive"), 0);
}

TEST(Run, DeepensNoMoreThanTheBeam) {
    Fixture f;
    f.settings.beam = 1;
    f.settings.rounds = 2;
    f.run();
    EXPECT_EQ(f.proposer.asked.size(), 1u);
}

TEST(Run, ALastRoundAsksForNothing) {
    Fixture f;
    f.proposer.repaired["naive"] = proposal("naive+fix1", unrolls());
    f.evaluator.judgement = [](const Kernel& kernel, const Configuration&, const ShapePoint&) {
        return kernel.id == "naive" ? Verdict::compile_failed : Verdict::ok;
    };
    f.settings.rounds = 1;
    EXPECT_EQ(f.run().stopped_by, "rounds");
    EXPECT_TRUE(f.proposer.asked.empty() && f.proposer.scored == 0);
    EXPECT_GE(std::count(f.recorder.order.begin(), f.recorder.order.end(), "naive+fix1"), 1);  // repaired and measured
}

// Every evaluation that is left belongs to a kernel that waits for its first.
TEST(Run, NothingIsBoughtThatCouldNotBeMeasured) {
    for (int evaluations : {4, 5}) {  // four are in the first batch
        Fixture f;
        f.proposer.repaired["serial"] = proposal("serial+fix1", unrolls());
        f.evaluator.judgement = [](const Kernel& kernel, const Configuration&, const ShapePoint&) {
            return kernel.id == "serial" ? Verdict::compile_failed : Verdict::ok;
        };
        f.settings.evaluations = evaluations;
        f.run();
        EXPECT_EQ(f.proposer.broken.size(), evaluations == 4 ? 0u : 1u);
        EXPECT_EQ(std::count(f.recorder.order.begin(), f.recorder.order.end(), "serial+fix1"),
                  evaluations == 4 ? 0 : 1);
    }
}

TEST(Run, WhatWasPaidForIsMeasuredBeforeOthersEndTheSearch) {
    for (bool paid : {false, true}) {
        Fixture f;
        f.settings.target_speedup = 1.01;
        for (const ShapePoint& point : points) f.targets.baseline_ns[point.label] = 1e9;
        std::vector<Proposal> nine;
        for (char c : std::string("123456789")) nine.push_back(proposal(std::string("serial") + c));
        f.proposer = FakeProposer(nine);
        f.proposer.costs = paid;
        Result result = f.run();
        EXPECT_EQ(result.stopped_by, "target");
        EXPECT_EQ(result.evaluations, paid ? 9 : 4);
        EXPECT_EQ(find(result, "serial9").reason == "not measured: the search ended first (target)", !paid);
    }
}

TEST(Run, IgnoresAProposalThatItKnowsAndRenamesAnotherOfTheSameName) {
    Fixture f;
    Proposal other = proposal("serial");
    other.kernel.source = "// another text";
    FakeProposer second({proposal("serial"), other});
    Result result = search::run(points, {&f.proposer, &second}, f.evaluator, f.settings, f.targets, f.recorder);
    EXPECT_EQ(result.strategies.size(), 4u);
    find(result, "serial_2");
}

TEST(Run, StopsAtLimits) {
    Fixture limited;
    limited.settings.evaluations = 7;
    Result result = limited.run();
    EXPECT_EQ(result.stopped_by, "evaluations");
    EXPECT_EQ(result.evaluations, 7);
    Fixture out_of_time;
    out_of_time.recorder.seconds = 1;
    out_of_time.recorder.seconds_an_evaluation = 0.2;
    result = out_of_time.run();
    EXPECT_EQ(result.stopped_by, "budget");
    EXPECT_LE(result.evaluations, 8);
    Fixture interrupted;
    interrupted.recorder.stop_after = 4;
    EXPECT_EQ(interrupted.run().stopped_by, "interrupted");
    Fixture one_round;
    one_round.settings.rounds = 1;
    one_round.proposer.deepened["parallel"] = {proposal("parallel+x")};
    EXPECT_EQ(one_round.run().stopped_by, "rounds");
}

TEST(Run, DoesNotPruneWhatThereWasNoTimeToJudge) {
    Fixture f;
    f.settings.evaluations = 3;
    Result result = f.run();
    EXPECT_EQ(find(result, "naive").state, Strategy::State::active);
    EXPECT_EQ(find(result, "naive").reason, "not judged to its end: the search stopped after 1 of 6 configurations");
}

TEST(Run, StopsAtTheTargetAndAtTheRoofline) {
    Fixture fast;
    fast.settings.target_speedup = 1.5;
    for (const ShapePoint& point : points)
        fast.targets.baseline_ns[point.label] = 1.6 * std::min(100 + size_of(point), 20000 + size_of(point) / 2);
    EXPECT_EQ(fast.run().stopped_by, "target");
    Fixture missed;
    missed.settings.target_speedup = 2;
    missed.targets = fast.targets;
    EXPECT_EQ(missed.run().stopped_by, "exhausted");
    Fixture roof;
    roof.targets.roofline_ns = {{"small", 0.96 * (100 + size_of(points[0]))},
                                {"large", 0.96 * (20000 + size_of(points[1]) / 2)}};
    EXPECT_EQ(roof.run().stopped_by, "roofline");
    Fixture beaten;  // at one shape
    beaten.targets.roofline_ns = {{"small", 1.5 * (100 + size_of(points[0]))},
                                  {"large", roof.targets.roofline_ns["large"]}};
    EXPECT_EQ(beaten.run().stopped_by, "exhausted");
    Fixture unknown;
    unknown.targets.roofline_ns = {{"small", 0}};
    EXPECT_EQ(unknown.run().stopped_by, "exhausted");
}

// ---- a large search --------------------------------------------------------------------------------------

std::vector<Tunable> large_space() {
    std::vector<int64_t> values = {1, 2, 4, 8, 16, 32, 64, 128};
    return {numbers("A", values), numbers("B", values), numbers("C", values), numbers("D", values)};
}

double rugged(const Kernel& kernel, const Configuration& c, const ShapePoint& point) {
    double log_time = 0;
    for (const auto& [name, value] : c) {
        double best = name == "A" ? 5 : name == "B" ? 2 : 4;
        log_time += 0.15 * std::fabs(std::log2(to_double(value)) - best);
    }
    double own = kernel.id == "good" ? 1 : kernel.id == "fair" ? 1.3 : 8;
    return size_of(point) * own * std::exp(log_time);
}

struct LargeFixture : Fixture {
    LargeFixture() {
        proposer = FakeProposer(
            {proposal("bad", large_space()), proposal("fair", large_space()), proposal("good", large_space())});
        evaluator = FakeEvaluator(rugged);
        settings.evaluations = 300;
    }
    size_t count(const std::string& id) {
        return static_cast<size_t>(std::count(recorder.order.begin(), recorder.order.end(), id));
    }
};

TEST(Run, SpendsTheBudgetWhereItPromises) {
    LargeFixture f;
    Result result = f.run();
    EXPECT_LE(f.count("bad"), 12u);
    EXPECT_GE(f.count("bad"), 6u);
    EXPECT_GT(f.count("good"), f.count("fair"));
    EXPECT_GT(result.evaluations, 60);
    double best = 1e300;
    for (const Candidate& candidate : result.finalists) best = std::min(best, candidate.nanoseconds.at("small"));
    EXPECT_LE(best, 1.01 * size_of(points[0]));
}

TEST(Run, IsRepeatable) {
    LargeFixture a, b;
    a.evaluator.noise = b.evaluator.noise = 0.02;
    a.run();
    b.run();
    ASSERT_EQ(a.evaluator.requests.size(), b.evaluator.requests.size());
    for (size_t i = 0; i < a.evaluator.requests.size(); ++i) {
        EXPECT_EQ(a.evaluator.requests[i].kernel.id, b.evaluator.requests[i].kernel.id);
        EXPECT_EQ(a.evaluator.requests[i].configuration, b.evaluator.requests[i].configuration);
    }
}

TEST(Run, ConvergesWithoutSeeingTheWholeSpace) {
    LargeFixture f;
    f.settings.evaluations = 0;
    f.settings.rounds = 0;
    Result result = f.run();
    EXPECT_EQ(result.stopped_by, "plateau");
    EXPECT_LT(result.evaluations, 1500);
    EXPECT_GT(result.evaluations, 50);
}

TEST(Run, SeesTheWholeSpaceWhereThatIsAsked) {
    Fixture f;
    std::vector<Tunable> space = large_space();
    space.pop_back();
    f.proposer = FakeProposer({proposal("good", space)});
    f.evaluator = FakeEvaluator(rugged);
    f.settings.exhaustive = true;
    f.settings.rounds = 0;
    f.settings.min_improvement = 0;
    f.targets.roofline_ns = {{"small", 1e9}, {"large", 1e9}};  // reached at once
    Result result = f.run();
    EXPECT_EQ(result.evaluations, 8 * 8 * 8);
    EXPECT_EQ(result.stopped_by, "exhausted");
}

TEST(Run, TellsEveryChange) {
    Fixture f;
    Result result = f.run();
    ASSERT_FALSE(f.recorder.strategies.empty());
    EXPECT_EQ(f.recorder.strategies.front().size(), 3u);
    EXPECT_EQ(f.recorder.rounds.front(), 0);
    EXPECT_EQ(f.recorder.rounds.back(), result.rounds);
    EXPECT_EQ(f.recorder.strategies.back().back().state, find(result, "naive").state);
}

TEST(Run, RefusesAProposalWhoseTunablesCannotBeEvaluatedAndGoesOn) {
    Fixture f;
    Proposal broken = proposal("broken", unrolls());
    broken.kernel.space.constraints.push_back(Expression::parse("U < W"));
    Proposal impossible = proposal("impossible", unrolls());
    impossible.kernel.space.constraints.push_back(Expression::parse("U > 99"));
    f.proposer = FakeProposer({broken, impossible, proposal("serial", unrolls())});
    Result result = f.run();
    EXPECT_EQ(find(result, "broken").state, Strategy::State::pruned);
    EXPECT_NE(find(result, "broken").reason.find("'W' is no tunable"), std::string::npos);
    EXPECT_EQ(find(result, "impossible").reason, "no configuration of its tunables is valid");
    EXPECT_EQ(find(result, "serial").state, Strategy::State::winner);
}

}  // namespace
}  // namespace strop::search
